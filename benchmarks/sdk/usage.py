"""CPU time and memory of this process and its descendants, on Linux."""

from __future__ import annotations

import ctypes
import os
import resource
import time
from contextlib import suppress
from pathlib import Path

_OURS = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
PR_SET_CHILD_SUBREAPER = 36
# Fields of /proc/<id>/stat after the name: CPU time of ended children.
CHILDREN_TICKS = slice(13, 15)
QUIET_SECONDS = 0.3
MAX_QUIET_SECONDS = 15.0
# A process below this share of a core counts as idle.
QUIET_SHARE = 0.02


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that they are counted."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def processor_seconds() -> float:
    """Return the CPU time so far, including ended processes."""
    used = [resource.getrusage(who) for who in _OURS]
    total = sum(one.ru_utime + one.ru_stime for one in used)
    return total + sum(map(_processor_seconds, descendants(os.getpid())))


def resident_bytes() -> int:
    everyone = [os.getpid(), *descendants(os.getpid())]
    return sum(map(_resident_bytes, everyone))


def wait_until_quiet() -> bool:
    """Wait for background work; return whether it ended."""
    deadline = time.monotonic() + MAX_QUIET_SECONDS
    before = processor_seconds()
    while time.monotonic() < deadline:
        time.sleep(QUIET_SECONDS)
        spent = processor_seconds()
        if spent - before < QUIET_SHARE * QUIET_SECONDS:
            return True
        before = spent
    return False


def descendants(process_id: int) -> list[int]:
    """Return the ids of all processes below this one."""
    found: list[int] = []
    # They may end meanwhile.
    with suppress(OSError):
        for task in Path(f"/proc/{process_id}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *descendants(int(child))]
    return found


def _processor_seconds(process_id: int) -> float:
    try:
        # The CPU clock is exact; /proc has a resolution of 10 ms. The clock's ID is
        # that of clock_getcpuclockid(3): the inverted PID, and 2 for scheduler time.
        own = time.clock_gettime((~process_id << 3) | 2)
        stat = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    ticks = sum(map(int, stat[CHILDREN_TICKS]))
    return own + ticks / os.sysconf("SC_CLK_TCK")


def _resident_bytes(process_id: int) -> int:
    try:
        pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")

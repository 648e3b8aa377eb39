"""What this process and all below it take of processors and memory, as Linux tells."""

from __future__ import annotations

import ctypes
import os
import resource
import time
from contextlib import suppress
from pathlib import Path

_OURS = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
PR_SET_CHILD_SUBREAPER = 36
# Of /proc/<id>/stat, behind the name: what children took that were waited for.
CHILDREN_TICKS = slice(13, 15)
QUIET_SECONDS = 0.3
MAX_QUIET_SECONDS = 15.0
# A process that takes less than this share of a core does nothing more for us.
QUIET_SHARE = 0.02


def adopt_orphans() -> None:
    """Become the parent of what children leave behind, so that it is counted."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def processor_seconds() -> float:
    """Return what was taken so far, with all that has ended."""
    used = [resource.getrusage(who) for who in _OURS]
    total = sum(one.ru_utime + one.ru_stime for one in used)
    return total + sum(map(_processor_seconds, descendants(os.getpid())))


def resident_bytes() -> int:
    everyone = [os.getpid(), *descendants(os.getpid())]
    return sum(map(_resident_bytes, everyone))


def wait_until_quiet() -> bool:
    """Wait for what is done in the background; return whether it came to an end."""
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
        # Its clock is exact, where /proc counts in hundredths of a second. The number
        # is what clock_getcpuclockid(3) makes of a process: its id inverted, and 2
        # for a clock that counts time of the scheduler.
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

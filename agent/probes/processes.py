"""One process at one moment: from /proc, or from psutil where there is none."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from seamark.probes.files import read_at_once, read_briefly, read_text

_PROC = Path("/proc")
_IS_PROC = (_PROC / "self/stat").exists()
_TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK") if _IS_PROC else 0.01
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_NANOSECOND = 1e-9
_KIBIBYTE = 1024
WAITING_FOR_DISK = "D"
ENDED = "Z"
# What runs beside a training and loads nothing, by what its command line has.
_COMPILE_WORKER = "torch/_inductor/compile_worker"
# Of somebody else's process, whose command line only its owner may read.
_UNREADABLE = "?"
# The agent's own git, which says once what differs from the commit, by its first settings.
_OUR_GIT = "-c core.fsmonitor=false -c core.hooksPath="
_HELPERS = ("multiprocessing.resource_tracker", _COMPILE_WORKER, _OUR_GIT)
_FORK_SERVER, _SPAWNED = "multiprocessing.forkserver", "multiprocessing.spawn"


class ProcessGone(Exception):
    """The process has ended, or may not be looked at."""


class ProcessState(NamedTuple):
    """What the kernel says of a process; None is what it does not say."""

    state: str  # R runs or could, S sleeps, D waits for a disk, Z has ended
    cpu_seconds: float
    reaped_seconds: float  # CPU time of children that have ended
    resident_bytes: int
    threads: int | None
    major_faults: int | None
    started: float  # tells it from a later process of the same number
    seconds_waiting_for_disk: float | None


class Traffic(NamedTuple):
    """Bytes that a process has read and written."""

    read_bytes: float  # from storage
    write_bytes: float  # to storage
    requested_bytes: float | None  # read by any system call, cached ones included


def now_as_started() -> float:
    """Return the time as `ProcessState.started` tells it, rounded as that is."""
    if not _IS_PROC:
        return time.time()
    return time.clock_gettime(time.CLOCK_BOOTTIME) // _TICK_SECONDS


def read_state(pid: int) -> ProcessState:
    if not _IS_PROC:
        return _portable_state(pid)
    try:
        return parse_state(_read_of(pid, "stat"))
    except (OSError, ValueError, IndexError) as error:
        raise ProcessGone from error


def _read_of(pid: int, name: str) -> bytes:
    # While another process begins a program, and while it ends, the kernel may have those
    # wait who look at it.
    read = read_at_once if pid == os.getpid() else read_briefly
    return read(f"/proc/{pid}/{name}")


def parse_state(line: bytes) -> ProcessState:
    # A name may hold anything, brackets and spaces too.
    fields = line[line.rindex(b")") + 2 :].split()
    blocked = int(fields[39]) if len(fields) > 39 else None  # noqa: PLR2004 - proc(5)
    return ProcessState(
        state=fields[0].decode("ascii", "replace"),
        cpu_seconds=(int(fields[11]) + int(fields[12])) * _TICK_SECONDS,
        reaped_seconds=(int(fields[13]) + int(fields[14])) * _TICK_SECONDS,
        resident_bytes=int(fields[21]) * _PAGE_BYTES,
        threads=int(fields[17]),
        major_faults=int(fields[9]),
        started=float(fields[19]),
        seconds_waiting_for_disk=None if blocked is None else blocked * _TICK_SECONDS,
    )


def read_traffic(pid: int) -> Traffic | None:
    """Return None if this is not ours to see, or not offered by this system."""
    try:
        if not _IS_PROC:
            return _portable_traffic(pid)
        fields = _read_of(pid, "io").split()
    except (OSError, psutil.Error, AttributeError):
        return None
    numbers = dict(zip(fields[::2], fields[1::2], strict=False))
    try:
        return Traffic(
            float(numbers[b"read_bytes:"]),
            float(numbers[b"write_bytes:"]),
            float(numbers[b"rchar:"]),
        )
    except (KeyError, ValueError):
        return None


def read_proportional(pid: int) -> int | None:
    """Return memory with what is shared divided; dear: the kernel looks at each page."""
    try:
        return parse_proportional(read_briefly(f"/proc/{pid}/smaps_rollup"))
    except OSError:
        return None


def parse_proportional(text: bytes) -> int | None:
    _, is_there, rest = text.partition(b"\nPss:")
    numbers = rest.split(None, 1)
    if not is_there or not numbers or not numbers[0].isdigit():
        return None
    return int(numbers[0]) * _KIBIBYTE


def counts_disk_waits() -> bool:
    """Whether the kernel says that it counts how long processes wait for storage."""
    return read_text(_PROC / "sys/kernel/task_delayacct") == "1"


def read_scheduling(pid: int) -> tuple[float, float] | None:
    """Return how long the main thread ran, and how long it waited for a core."""
    try:
        ran, waited, _ = read_at_once(f"/proc/{pid}/schedstat").split()
    except (OSError, ValueError):
        return None
    return int(ran) * _NANOSECOND, int(waited) * _NANOSECOND


def count_open_files(pid: int) -> int | None:
    folder = f"/proc/{pid}/fd"
    try:
        # The size says it since Linux 6.2, without a look at each of them.
        return os.stat(folder).st_size or len(os.listdir(folder))  # noqa: PTH116, PTH208
    except OSError:
        return None


def is_worker(pid: int) -> bool:
    """Whether a child may load data, rather than help us, multiprocessing or a compiler."""
    line = _command_line(pid)
    if not line:
        # Its program is just beginning, or it has ended.
        return False
    if any(helper in line for helper in _HELPERS):
        return False
    if _FORK_SERVER in line:
        # The server itself loads nothing; what it forks has its command line, too.
        return _FORK_SERVER in _command_line(_parent_of(pid))
    if _SPAWNED in line:
        # Of whoever starts processes so, the compiler's are no workers either.
        return _COMPILE_WORKER not in _command_line(_parent_of(pid))
    return True


def _command_line(pid: int | None) -> str:
    try:
        return "" if pid is None else " ".join(psutil.Process(pid).cmdline())
    except psutil.AccessDenied:
        return _UNREADABLE
    except psutil.Error:
        return ""


def _parent_of(pid: int) -> int | None:
    try:
        return psutil.Process(pid).ppid()
    except psutil.Error:
        return None


def _portable_state(pid: int) -> ProcessState:
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            times = process.cpu_times()
            return ProcessState(
                state="S",
                cpu_seconds=times.user + times.system,
                reaped_seconds=getattr(times, "children_user", 0.0)
                + getattr(times, "children_system", 0.0),
                resident_bytes=process.memory_info().rss,
                threads=None,
                major_faults=None,
                started=process.create_time(),
                seconds_waiting_for_disk=None,
            )
    except psutil.Error as error:
        raise ProcessGone from error


def _portable_traffic(pid: int) -> Traffic | None:
    counters = psutil.Process(pid).io_counters()
    return Traffic(float(counters.read_bytes), float(counters.write_bytes), None)

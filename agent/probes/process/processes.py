"""Reads the state of a process from /proc, or from psutil on other systems."""

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
# Helper processes of a training that load no data, by their command line.
_COMPILE_WORKER = "torch/_inductor/compile_worker"
# Stands for another user's command line, which only its owner may read.
_UNREADABLE = "?"
# The agent's own git command, by its first settings.
_OUR_GIT = "-c core.fsmonitor=false -c core.hooksPath="
_HELPERS = ("multiprocessing.resource_tracker", _COMPILE_WORKER, _OUR_GIT)
_FORK_SERVER, _SPAWNED = "multiprocessing.forkserver", "multiprocessing.spawn"


class ProcessGone(Exception):
    """The process has ended or is not accessible."""


class ProcessState(NamedTuple):
    """The kernel's data on a process; None if it is not available."""

    state: str  # R running or runnable, S sleeping, D waiting for a disk, Z zombie
    cpu_seconds: float
    reaped_seconds: float  # CPU time of children that have ended
    resident_bytes: int
    threads: int | None
    major_faults: int | None
    started: float  # distinguishes it from a later process with the same PID
    seconds_waiting_for_disk: float | None


class Traffic(NamedTuple):
    """Bytes that a process has read and written."""

    read_bytes: float  # from storage
    write_bytes: float  # to storage
    requested_bytes: float | None  # read by any system call, including cached reads


def now_as_started() -> float:
    """Return the current time in the clock and precision of `ProcessState.started`."""
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
    # While another process executes a program or ends, the kernel may block readers.
    read = read_at_once if pid == os.getpid() else read_briefly
    return read(f"/proc/{pid}/{name}")


def parse_state(line: bytes) -> ProcessState:
    # The program name may contain brackets and spaces.
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
    """Return the I/O counters; None if they are inaccessible or unsupported."""
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
    """Return the proportional memory (PSS) in bytes; expensive for the kernel."""
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
    """Return whether the kernel counts how long processes wait for storage."""
    return read_text(_PROC / "sys/kernel/task_delayacct") == "1"


def read_scheduling(pid: int) -> tuple[float, float] | None:
    """Return the seconds that the main thread ran and waited for a core."""
    try:
        ran, waited, _ = read_at_once(f"/proc/{pid}/schedstat").split()
    except (OSError, ValueError):
        return None
    return int(ran) * _NANOSECOND, int(waited) * _NANOSECOND


def count_open_files(pid: int) -> int | None:
    folder = f"/proc/{pid}/fd"
    try:
        # Since Linux 6.2 the folder's size is the number of files.
        return os.stat(folder).st_size or len(os.listdir(folder))  # noqa: PTH116, PTH208
    except OSError:
        return None


def is_worker(pid: int) -> bool:
    """Return whether a child may load data, and is not a helper process."""
    line = _command_line(pid)
    if not line:
        # It is executing its program just now, or has ended.
        return False
    if any(helper in line for helper in _HELPERS):
        return False
    if _FORK_SERVER in line:
        # The fork server loads nothing; its children have its command line too.
        return _FORK_SERVER in _command_line(_parent_of(pid))
    if _SPAWNED in line:
        # Children of a compile worker are not loader workers either.
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

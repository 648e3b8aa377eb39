"""Kernel files are read without releasing the GIL."""

import ctypes
import os
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from subprocess import PIPE

import pytest

from seamark.probes import files
from seamark.probes.files import KernelFile, read_at_once, read_briefly
from seamark.probes.process import gil_reads
from seamark.probes.process.gil_reads import (
    Quickness,
    devices_of,
    is_kernels_own,
    read_at,
)
from seamark.probes.process.processes import (
    count_open_files,
    parse_state,
    read_state,
    read_traffic,
)

pytestmark = pytest.mark.skipif(
    not gil_reads.is_proc_kernels_own(), reason="no /proc of the kernel's own"
)

MOUNTS = b"""\
22 61 0:21 / /proc rw,nosuid - proc proc rw
30 22 0:45 /proc/meminfo /proc/meminfo rw - fuse.lxcfs lxcfs rw
31 61 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw
32 61 259:1 / / rw - ext4 /dev/root rw
nonsense
33 61 x:y / /odd rw - proc proc rw
"""


@pytest.fixture(autouse=True)
def quickness(monkeypatch):
    """Reset the measured durations of process files."""
    monkeypatch.setattr(files, "_quickness", defaultdict(Quickness))


@pytest.fixture
def freed(monkeypatch):
    """Count the calls of this thread that free the interpreter."""
    counted = []
    thread = threading.get_ident()

    def counting(function):
        def called(*arguments):
            if threading.get_ident() == thread:
                counted.append(function.__name__)
            return function(*arguments)

        return called

    for name in ("open", "read", "pread", "close"):
        monkeypatch.setattr(os, name, counting(getattr(os, name)))
    return counted


def clock(monkeypatch, *seconds):
    """Set the durations of consecutive reads."""
    times = iter([time for each in seconds for time in (0.0, each)])
    monkeypatch.setattr(gil_reads, "perf_counter", lambda: next(times))


def test_only_file_systems_that_are_the_kernels_own_count():
    found = devices_of(MOUNTS, ("proc", "cgroup2"))

    assert found == {os.makedev(0, 21), os.makedev(0, 26)}


def test_a_file_elsewhere_is_not_the_kernels_own(tmp_path):
    (tmp_path / "file").touch()
    with (tmp_path / "file").open() as elsewhere, Path("/proc/self/stat").open() as own:
        assert is_kernels_own(own.fileno())
        assert not is_kernels_own(elsewhere.fileno())


@pytest.mark.parametrize(("never_blocks", "calls"), [(True, []), (False, ["pread"])])
def test_what_waits_for_nobody_is_read_without_freeing_the_interpreter(
    freed, monkeypatch, never_blocks, calls
):
    # A busy machine must not make a read look slow.
    clock(monkeypatch, *[1e-6] * 4)
    file = KernelFile(Path("/proc/self/stat"), never_blocks=never_blocks)
    file.read()
    freed.clear()

    assert file.read().startswith(f"{os.getpid()} ")
    assert freed == calls


def test_what_lies_elsewhere_is_read_as_ever_whatever_is_said_of_it(freed, tmp_path):
    (tmp_path / "file").write_text("on a disk")
    file = KernelFile(tmp_path / "file", never_blocks=True)

    assert file.read() == "on a disk"
    assert freed == ["open", "pread"]


def test_what_is_kept_open_says_what_is_new():
    file = KernelFile(Path("/proc/self/stat"), never_blocks=True)
    before = file.read()
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass

    assert file.read() != before


def test_this_process_is_looked_at_without_freeing_the_interpreter(freed):
    state = read_state(os.getpid())

    assert freed == []
    assert state.threads == parse_state(read_briefly("/proc/self/stat")).threads


def test_another_process_may_keep_whoever_looks_at_it_waiting(freed):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=PIPE) as other:
        freed.clear()
        read_state(other.pid)
        read_traffic(other.pid)
        assert freed == 2 * ["open", "read", "close"]
        other.communicate()


def test_more_than_fits_a_page_is_read_whole():
    whole = read_briefly("/proc/self/smaps")

    assert len(whole) > 1 << 16
    assert read_at_once("/proc/self/smaps").count(b"\nRss:") > 0.9 * whole.count(
        b"\nRss:"
    )


@pytest.mark.parametrize("path", ["/proc/0/stat", "/proc/self/not there"])
def test_what_is_not_there_is_said_as_ever(path):
    with pytest.raises(FileNotFoundError, match=re.escape(path)):
        read_at_once(path)


def test_what_cannot_be_read_is_said_as_ever():
    number = os.open("/proc/self/stat", os.O_RDONLY)
    os.close(number)

    with pytest.raises(OSError, match="Bad file descriptor"):
        read_at(number, 0)


def test_no_file_stays_open():
    before = count_open_files(os.getpid())
    for _ in range(100):
        read_at_once("/proc/self/stat")
        with pytest.raises(FileNotFoundError):
            read_at_once("/proc/0/stat")

    assert count_open_files(os.getpid()) == before


def test_threads_do_not_read_into_each_others_buffers():
    beginnings = defaultdict(set)

    def read(path):
        for _ in range(500):
            beginnings[path].add(read_at_once(path)[:5])

    paths = ["/proc/self/limits", "/proc/self/statm", "/proc/self/mountinfo"]
    threads = [threading.Thread(target=read, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert beginnings["/proc/self/limits"] == {b"Limit"}
    assert all(first[:1].isdigit() for path in paths[1:] for first in beginnings[path])


@pytest.mark.parametrize("seconds", [[0.001, 0.001, 0.001], [0.4]])
def test_what_was_slow_is_read_as_any_other_for_a_while(monkeypatch, seconds):
    quickness = Quickness()
    clock(monkeypatch, *seconds, 0.0001)

    for _ in seconds:
        assert quickness.is_trusted()
        quickness.timed(bytes)
    trusted = [quickness.is_trusted() for _ in range(600)]

    assert trusted == 599 * [False] + [True]
    quickness.timed(bytes)
    assert quickness.is_trusted()


def test_a_slow_read_now_and_then_is_forgiven(monkeypatch):
    quickness = Quickness()
    clock(monkeypatch, *(100 * [0.001, 0.001, 0.0001]))

    for _ in range(300):
        assert quickness.is_trusted()
        quickness.timed(bytes)


def test_what_is_slow_is_read_as_any_other(freed, monkeypatch):
    clock(monkeypatch, 0.4)
    read_at_once("/proc/self/stat")
    assert freed == []

    read_at_once("/proc/self/stat")

    assert freed == ["open", "read", "close"]


def test_where_libraries_cannot_be_called_all_is_read_as_ever(freed, monkeypatch):
    monkeypatch.setattr(gil_reads, "_library", lambda: None)
    gil_reads.is_proc_kernels_own.cache_clear()
    try:
        assert read_at_once("/proc/self/stat")
        assert KernelFile(Path("/proc/meminfo"), never_blocks=True).read()
    finally:
        gil_reads.is_proc_kernels_own.cache_clear()
    assert {"open", "read", "pread"} <= {*freed}


def test_the_library_is_called_with_the_interpreter_held():
    assert type(gil_reads._library()) is ctypes.PyDLL

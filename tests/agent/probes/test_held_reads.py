"""What the kernel says is read without a moment in which the training may go on."""

import ctypes
import os
import time
from pathlib import Path

import pytest

from agent.probes import files, held_reads
from agent.probes.files import KernelFile, read_at_once, read_briefly
from agent.probes.held_reads import Quickness, devices_of, is_kernels_own, read_at
from agent.probes.processes import count_open_files

pytestmark = pytest.mark.skipif(
    not held_reads.is_proc_kernels_own(), reason="no /proc of the kernel's own"
)

MOUNTS = """\
22 61 0:21 / /proc rw,nosuid - proc proc rw
30 22 0:45 /proc/meminfo /proc/meminfo rw - fuse.lxcfs lxcfs rw
31 61 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw
32 61 259:1 / / rw - ext4 /dev/root rw
nonsense
33 61 x:y / /odd rw - proc proc rw
"""


@pytest.fixture
def freed(monkeypatch):
    """Count the reads that free the interpreter."""
    counted = []

    def counting(function):
        def called(*arguments):
            counted.append(function.__name__)
            return function(*arguments)

        return called

    for name in ("open", "read", "pread", "close"):
        monkeypatch.setattr(os, name, counting(getattr(os, name)))
    return counted


def test_only_file_systems_that_are_the_kernels_own_count():
    found = devices_of(MOUNTS, ("proc", "cgroup2"))

    assert found == {os.makedev(0, 21), os.makedev(0, 26)}


def test_a_file_elsewhere_is_not_the_kernels_own(tmp_path):
    (tmp_path / "file").touch()
    with (tmp_path / "file").open() as elsewhere, Path("/proc/self/stat").open() as own:
        assert is_kernels_own(own.fileno())
        assert not is_kernels_own(elsewhere.fileno())


def test_what_is_kept_open_is_read_without_freeing_the_interpreter(freed, tmp_path):
    file = KernelFile("/proc/meminfo")
    file.read()
    freed.clear()

    assert file.read().startswith("MemTotal:")
    assert freed == []

    (tmp_path / "file").write_text("on a disk")
    elsewhere = KernelFile(tmp_path / "file")

    assert elsewhere.read() == "on a disk"
    assert "pread" in freed


def test_what_is_kept_open_says_what_is_new():
    file = KernelFile("/proc/self/stat")
    before = file.read()
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass

    assert file.read() != before


def test_a_process_is_looked_at_without_freeing_the_interpreter(freed):
    read_at_once("/proc/self/stat")
    freed.clear()

    said = read_at_once(f"/proc/{os.getpid()}/stat")

    assert freed == []
    assert said.split()[0] == str(os.getpid()).encode()
    assert said.split()[:2] == read_briefly("/proc/self/stat").split()[:2]


def test_more_than_fits_a_page_is_read_whole():
    whole = read_briefly("/proc/self/smaps")

    assert len(whole) > 1 << 16
    assert read_at_once("/proc/self/smaps").count(b"\nRss:") > 0.9 * whole.count(
        b"\nRss:"
    )


@pytest.mark.parametrize("path", ["/proc/0/stat", "/proc/self/not there"])
def test_what_is_not_there_is_said_as_ever(path):
    with pytest.raises(FileNotFoundError):
        read_at_once(path)


def test_what_cannot_be_read_is_said_as_ever():
    number = os.open("/proc/self/stat", os.O_RDONLY)
    os.close(number)

    with pytest.raises(OSError, match="Bad file descriptor"):
        read_at(number, 100, 0)


def test_no_file_stays_open():
    before = count_open_files(os.getpid())
    for _ in range(100):
        read_at_once("/proc/self/stat")
        with pytest.raises(FileNotFoundError):
            read_at_once("/proc/0/stat")

    assert count_open_files(os.getpid()) == before


def test_what_was_slow_three_times_is_read_as_any_other(freed, monkeypatch):
    monkeypatch.setattr(files, "_quickness", {"stat": Quickness()})
    slow = iter([0.0, 0.0001, 0.0, 0.4, 0.0, 0.4, 0.0, 0.4, 0.0, 0.4])
    monkeypatch.setattr(held_reads, "perf_counter", lambda: next(slow))
    freed.clear()

    for _ in range(4):
        read_at_once("/proc/self/stat")
    assert freed == []

    read_at_once("/proc/self/stat")
    assert freed == ["open", "read", "close"]


def test_where_libraries_cannot_be_called_all_is_read_as_ever(freed, monkeypatch):
    monkeypatch.setattr(held_reads, "_library", lambda: None)
    held_reads.is_proc_kernels_own.cache_clear()
    try:
        assert read_at_once("/proc/self/stat")
        assert KernelFile("/proc/meminfo").read()
    finally:
        held_reads.is_proc_kernels_own.cache_clear()
    assert {"open", "read", "pread"} <= {*freed}


def test_the_library_is_called_with_the_interpreter_held():
    assert type(held_reads._library()) is ctypes.PyDLL

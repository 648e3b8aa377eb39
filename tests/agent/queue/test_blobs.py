"""The contents that wait in a spool's folder."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from seamark.queue import blobs as module
from seamark.queue.blobs import Blobs, Changed
from tests.agent.conftest import wait_until


class Counted(Blobs):
    """Counts how often all of the folder is looked through, and each file in it."""

    listings = 0
    looks = 0

    def pending(self):
        self.listings += 1
        return super().pending()

    def _entries(self):
        for entry in super()._entries():
            self.looks += 1
            yield entry


def is_taken(blobs, data):
    try:
        blobs.keep(data)
    except OSError:
        return False
    return True


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Have writes end there as at a quota: short first, and then refused."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_is_taken_in_part_only_is_refused_and_not_kept(tmp_path):
    blobs = Blobs(tmp_path)
    with files_of_at_most(1000), pytest.raises(OSError, match="File too large"):
        blobs.keep(b"x" * 3000)

    assert not [*blobs.folder.iterdir()]


def test_the_folder_is_looked_through_once_and_not_for_each_file(tmp_path):
    blobs = Counted(tmp_path)
    for number in range(100):
        blobs.keep(b"%d" % number)

    assert blobs.listings == 1


def test_a_full_folder_is_not_looked_through_for_each_file(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_RESTS", 1_000_000_000)
    blobs = Counted(tmp_path, most_bytes=1)
    for number in range(100):
        assert not is_taken(blobs, b"%03d" % number)

    assert blobs.listings == 1


def test_what_an_earlier_process_left_counts(tmp_path):
    Blobs(tmp_path).keep(b"123456")

    assert not is_taken(Blobs(tmp_path, most_bytes=10), b"abcdef")
    assert is_taken(Blobs(tmp_path, most_bytes=12), b"abcdef")


def test_what_is_delivered_makes_room(tmp_path):
    blobs = Blobs(tmp_path, most_bytes=10)
    first = blobs.keep(b"123456")
    assert not is_taken(blobs, b"abcdef")
    Blobs(tmp_path).remove(first)

    wait_until(lambda: is_taken(blobs, b"abcdef"))
    assert not is_taken(blobs, b"ghijkl")


def test_another_folder_has_room_of_its_own(tmp_path):
    blobs = Blobs(tmp_path / "a", most_bytes=10)
    blobs.keep(b"123456")
    blobs.go_on_in(tmp_path / "b")

    assert is_taken(blobs, b"abcdef")
    assert not is_taken(blobs, b"ghijkl")


def test_of_a_file_that_grows_while_it_is_copied_no_more_is_than_it_had(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(module, "_clone", lambda *_: False)
    monkeypatch.setattr(module, "_READ_BYTES", 1024)
    path = tmp_path / "log"
    path.write_bytes(bytes(1024))
    copied = []

    def grow():
        copied.append(1024)
        # Or it would never end, should it not hold.
        if len(copied) < 1000:
            with path.open("ab") as growing:
                growing.write(bytes(2048))

    blobs = Blobs(tmp_path / "spool", progress=grow)
    with path.open("rb") as file, pytest.raises(Changed):
        blobs.keep_file(file.fileno())

    assert len(copied) < 100
    assert not [*blobs.folder.iterdir()]


def test_a_file_of_the_kernel_that_says_it_is_empty_is_kept(tmp_path):
    blobs = Blobs(tmp_path)
    with Path("/proc/version").open("rb") as file:
        blob = blobs.keep_file(file.fileno())

    content = Path("/proc/version").read_bytes()
    assert blob.size == len(content) > 0
    assert blobs.read(blob, 0, 10_000) == content


def test_a_content_is_on_the_disk_before_it_has_its_name(tmp_path, synced):
    blobs = Blobs(tmp_path)
    blob = blobs.keep(b"weights")
    assert [Path(name).suffix for name in synced] == [".new"]

    with (blobs.folder / blob.digest).open("rb") as file:
        blobs.keep_file(file.fileno())
    assert [Path(name).suffix for name in synced] == [".new", ".new"]


def test_the_names_of_many_contents_are_synced_at_once(tmp_path, synced):
    blobs = Blobs(tmp_path)
    for number in range(100):
        blobs.keep(b"%d" % number)
    synced.clear()

    blobs.sync()
    assert synced == [str(blobs.folder), str(tmp_path)]

    blobs.sync()
    blobs.keep(b"another")
    blobs.sync()
    assert synced[2:][1:] == [str(blobs.folder)]


def test_a_large_content_is_synced_in_parts(tmp_path, synced, monkeypatch):
    monkeypatch.setattr(module, "_clone", lambda *_: False)
    monkeypatch.setattr(module, "_READ_BYTES", 1000)
    monkeypatch.setattr(module, "_SYNC_BYTES", 4000)
    path = tmp_path / "checkpoint"
    path.write_bytes(bytes(10_500))

    with path.open("rb") as file:
        Blobs(tmp_path).keep_file(file.fileno())
    assert len(synced) == 3

    Blobs(tmp_path).keep(bytes(10_500))
    assert len(synced) == 6


def test_one_that_is_in_a_hurry_syncs_nothing(tmp_path, synced):
    is_hurried = True
    blobs = Blobs(tmp_path, is_hurried=lambda: is_hurried)
    blobs.keep(b"weights")
    blobs.sync()
    assert synced == []

    is_hurried = False
    blobs.sync()
    assert synced == [str(blobs.folder), str(tmp_path)]


def test_what_cannot_be_synced_is_refused_and_not_kept(tmp_path, monkeypatch):
    def fail(_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    blobs = Blobs(tmp_path)

    with pytest.raises(OSError, match="Input/output"):
        blobs.keep(b"weights")

    assert not [*blobs.folder.iterdir()]

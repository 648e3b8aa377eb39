"""The disk of a queue fails permanently; the run continues in another folder."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import threading
import time

import pytest

import agent
from seamark import messages
from seamark.commands import main
from seamark.hints import command_line
from seamark.lifecycle import opening as opening_of_session
from seamark.queue import (
    blobs,
    folders,
    own_files,
    recent_frames,
    segments,
    spool,
    writer,
)
from seamark.queue.spool_reader import SpoolReader
from tests.agent.conftest import wait_until
from tests.agent.failing_disk import FailingDisk
from tests.agent.queue.test_spool import ORIGIN
from tests.agent.tracker_double import TrackerDouble

POINT = messages.payload([messages.points(["a"], [0.0], [0], [[1.0]])])

LOST = [
    pytest.param((errno.EIO, True), id="EIO"),
    pytest.param((errno.EROFS, False), id="EROFS"),
    pytest.param((errno.EDQUOT, False), id="EDQUOT"),
]


@pytest.fixture
def other(tmp_path, monkeypatch):
    """The folder where temporary ones are made."""
    folder = tmp_path / "other"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def disk_of(monkeypatch, spool_root, other):
    """Put the spools on a disk that can fail, with a short timeout."""

    def put(error, *, fails_reading, patience=0.3, opening=60):
        disk = FailingDisk(spool_root, error, fails_reading=fails_reading)
        for module in (spool, own_files, segments, blobs):
            monkeypatch.setattr(module, "os", disk)
        monkeypatch.setattr(writer, "_PATIENCE_SECONDS", patience)
        monkeypatch.setattr(opening_of_session, "OPEN_SECONDS", opening)
        return disk

    return put


def log(run, numbers):
    for number in numbers:
        run["a"].append(float(number), step=number)


def dropped(tracker):
    return sum(message["points"] for message in tracker.of_kind("drop"))


@pytest.mark.parametrize("failure", LOST)
def test_nothing_is_lost_while_the_server_is_there(
    tracker, disk_of, other, caplog, failure
):
    error, fails_reading = failure
    disk = disk_of(error, fails_reading=fails_reading)
    run = agent.init("r", monitor=False)
    log(run, range(100))
    wait_until(lambda: len(tracker.values("a")) == 100)

    disk.is_broken = True
    log(run, range(100, 200))
    wait_until(lambda: len(tracker.values("a")) == 200)
    # Without waiting, and for a file too.
    log(run, range(200, 300))
    run["model"].upload(b"its weights", name="weights")
    run.finish(timeout=30)

    assert tracker.values("a") == [float(number) for number in range(300)]
    assert dropped(tracker) == 0
    assert tracker.states() == ["finished"]
    assert list(tracker.stored.values()) == [b"its weights"]
    # The tracker has one process, with consecutive records.
    assert len(tracker.frames) == 1
    assert caplog.text.count("writing to the offline queue") == 1
    assert not [*other.glob("*/*")]


def test_a_failure_that_passes_moves_nothing(tracker, disk_of, other):
    disk = disk_of(errno.EIO, fails_reading=True, patience=60)
    run = agent.init("r", monitor=False)
    log(run, range(100))

    disk.is_broken = True
    log(run, range(100, 200))
    wait_until(lambda: disk.refused > 3)
    disk.is_broken = False
    log(run, range(200, 300))
    run.finish(timeout=30)

    assert tracker.values("a") == [float(number) for number in range(300)]
    assert not [*other.iterdir()]


def logged_over_a_failing_disk(disk, port, caplog):
    """Log twenty points, twenty more once the disk fails, and deliver to a late server."""
    run = agent.init("r", monitor=False)
    for number in range(20):
        log(run, [number])
        run._session._writer.flush()

    disk.is_broken = True
    log(run, range(20, 40))
    wait_until(lambda: "writing to the offline queue" in caplog.text)
    tracker = TrackerDouble(port)
    try:
        run.finish(timeout=30)
    finally:
        tracker.stop()
    return tracker


@pytest.fixture
def late_port(absent_server, monkeypatch):
    """Without a server; only one waiting frame is in memory."""
    monkeypatch.setattr(
        spool, "RecentFrames", lambda: recent_frames.RecentFrames(most_bytes=1)
    )
    return absent_server


def test_what_is_lost_with_the_disk_is_counted(disk_of, late_port, caplog, other):
    disk = disk_of(errno.EIO, fails_reading=True)

    tracker = logged_over_a_failing_disk(disk, late_port, caplog)

    assert len(tracker.values("a")) + dropped(tracker) == 40
    assert tracker.values("a")[-20:] == [float(number) for number in range(20, 40)]
    assert dropped(tracker) == 19
    assert "19 points in it cannot be read" in caplog.text


def test_what_only_cannot_be_written_is_delivered_from_there(
    disk_of, late_port, caplog
):
    disk = disk_of(errno.EROFS, fails_reading=False)

    tracker = logged_over_a_failing_disk(disk, late_port, caplog)

    assert tracker.values("a") == [float(number) for number in range(40)]
    assert dropped(tracker) == 0


def test_our_own_limits_hold_in_every_folder(tracker, disk_of, monkeypatch, other):
    disk_of(errno.EIO, fails_reading=True, patience=0)
    run = agent.init("r", monitor=False)
    log(run, range(10))
    wait_until(lambda: len(tracker.values("a")) == 10)
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 1)
    monkeypatch.setattr(spool, "LARGEST_SPOOL_BYTES", 0)

    log(run, range(10, 20))
    wait_until(lambda: run._session._writer._unwritten)
    run._session._writer.flush()

    assert not [*other.iterdir()]
    monkeypatch.undo()


def test_the_end_does_not_wait_for_a_disk_that_fails(tracker, disk_of):
    disk = disk_of(errno.EIO, fails_reading=True, patience=60)
    run = agent.init("r", monitor=False)
    log(run, range(100))
    wait_until(lambda: len(tracker.values("a")) == 100)

    disk.is_broken = True
    log(run, range(100, 200))
    run.finish(timeout=30)

    assert tracker.values("a") == [float(number) for number in range(200)]
    assert tracker.states() == ["finished"]


def test_what_is_not_delivered_is_named_with_its_folder(
    disk_of, monkeypatch, capfd, other, spool_root
):
    monkeypatch.setenv("SEAMARK_MODE", "offline")
    disk = disk_of(errno.EROFS, fails_reading=False)
    run = agent.init("r", monitor=False)
    log(run, range(10))
    run._session._writer.flush()
    disk.is_broken = True
    log(run, range(10, 20))

    run.finish(timeout=5)

    [root] = other.iterdir()
    assert command_line(f"sync --spool {root}") in capfd.readouterr().err
    disk.is_broken = False
    tracker = TrackerDouble()
    monkeypatch.setenv("SEAMARK_URL", tracker.url)
    monkeypatch.setenv("SEAMARK_TOKEN", tracker.token)
    try:
        assert main(["sync", "--spool", str(root)]) == 0
        assert main(["sync", "--spool", str(spool_root)]) == 0
    finally:
        tracker.stop()
    assert sorted(set(tracker.values("a"))) == [float(number) for number in range(20)]
    assert len(tracker.values("a")) == 20


def test_memory_is_a_place_only_where_much_is_free(monkeypatch, tmp_path):
    monkeypatch.setattr(folders, "SHARED_MEMORY", tmp_path)
    monkeypatch.setattr(folders, "file_system_of", lambda _: "tmpfs")
    *_, memory = folders.places(tmp_path)
    space = os.statvfs(tmp_path)
    free = space.f_bavail * space.f_frsize

    monkeypatch.setattr(folders, "_MEMORY_BYTES", free // 32)
    assert memory.root().parent == tmp_path
    monkeypatch.setattr(folders, "_MEMORY_BYTES", free)
    with pytest.raises(OSError, match="No space"):
        memory.root()


def test_a_folder_that_hangs_keeps_init_waiting_for_a_moment(
    tracker, disk_of, other, caplog, spool_root
):
    disk = disk_of(errno.EIO, fails_reading=True, opening=0.3)
    goes_on = threading.Event()
    disk.before_opening = goes_on.wait
    began = time.monotonic()

    run = agent.init("r", monitor=False)

    assert time.monotonic() - began < 30
    assert run._session.folder.parent.parent == other
    assert "no answer within 0.3 s" in caplog.text
    log(run, range(10))
    run.finish(timeout=30)
    assert tracker.values("a") == [float(number) for number in range(10)]
    # A spool created too late is removed, so that it is not taken for a run's.
    goes_on.set()
    wait_until(lambda: not any(spool_root.iterdir()))


def test_a_file_with_the_token_that_hangs_keeps_no_run_from_its_spool(
    tracker, other, monkeypatch, tmp_path
):
    # Opening a FIFO blocks until a writer opens it.
    os.mkfifo(tmp_path / "token")
    monkeypatch.delenv("SEAMARK_TOKEN")
    monkeypatch.setenv("SEAMARK_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setattr(opening_of_session, "OPEN_SECONDS", 0.3)

    run = agent.init("r", monitor=False)
    opened = run._session
    log(run, range(10))
    run.finish(timeout=0.5)

    assert opened.is_all_written
    assert opened.folder.parent.parent == other
    # Unblock the thread that created the first spool and the sender.
    with contextlib.suppress(OSError):
        while True:
            os.close(os.open(tmp_path / "token", os.O_WRONLY | os.O_NONBLOCK))


def test_what_cannot_be_read_when_a_run_ends_is_left_to_others(
    late_port, monkeypatch, spool_root
):
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 1)
    run = agent.init("r", monitor=False)
    for number in range(20):
        log(run, [number])
        run._session._writer.flush()
    disk = FailingDisk(
        run._session.folder / f"{2:020}.frames", errno.EIO, fails_reading=True
    )
    monkeypatch.setattr(own_files, "os", disk)
    disk.is_broken = True
    tracker = TrackerDouble(late_port)
    began = time.monotonic()
    try:
        run.finish(timeout=2)
        assert time.monotonic() - began < 30
        assert disk.refused

        disk.is_broken = False
        assert main(["sync"]) == 0
    finally:
        tracker.stop()
    assert tracker.values("a") == [float(number) for number in range(20)]
    assert dropped(tracker) == 0
    assert not [*spool_root.glob("*/*.frames")]


@pytest.fixture
def reader_of_two_folders(tmp_path, monkeypatch):
    """Return the reader of a spool that has left a folder with frames, and that folder."""
    monkeypatch.setattr(
        spool, "RecentFrames", lambda: recent_frames.RecentFrames(most_bytes=1)
    )
    opened = spool.create_spool(tmp_path / "before", ORIGIN, url=None)
    left, reader = opened.folder, SpoolReader(opened.folder, opened)
    for _ in range(3):
        opened.write(POINT)
    opened.go_on_in(opened.make_refuge(folders.Place(lambda: tmp_path / "after")))
    opened.write(POINT)
    assert reader.follow()
    yield reader, left
    opened.close()


def test_a_disk_that_was_left_and_is_lost_for_good_keeps_the_rest_from_nobody(
    reader_of_two_folders, monkeypatch
):
    reader, left = reader_of_two_folders
    disk = FailingDisk(left, errno.EIO, fails_reading=True)
    disk.is_broken = True
    monkeypatch.setattr(own_files, "os", disk)
    monkeypatch.setattr(segments, "os", disk)

    frames = reader.frames_from(1, most_bytes=2**30)

    assert [frame.number for frame in frames] == [1, 2, 3, 4, 5]
    assert [frame.payload == POINT for frame in frames] == [False] * 3 + [True] * 2
    assert reader.lost == 2
    assert not reader.obstacle


@pytest.mark.parametrize("module", [own_files, segments])
def test_where_only_the_process_lacks_descriptors_nothing_is_given_up(
    reader_of_two_folders, monkeypatch, module
):
    reader, left = reader_of_two_folders
    disk = FailingDisk(left, errno.EMFILE, fails_reading=True)
    disk.is_broken = True
    monkeypatch.setattr(module, "os", disk)
    assert reader.frames_from(1, most_bytes=2**30) == []
    assert "Too many open files" in reader.obstacle

    disk.is_broken = False
    frames = reader.frames_from(1, most_bytes=2**30)

    assert [frame.payload == POINT for frame in frames] == [False] + [True] * 4
    assert reader.lost == 0

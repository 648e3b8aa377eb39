"""Delivery for processes that are gone, and the report of their end."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
import uuid
from functools import partial
from pathlib import Path

import pytest

from seamark import messages
from seamark.lifecycle.machine import host_name
from seamark.queue import blobs, locks, own_files, segments, spool
from seamark.queue.blobs import Blobs
from seamark.queue.ring import boot_id
from seamark.queue.spool import COMPLETE_FILE, DESCRIPTION_FILE, create_spool
from seamark.queue.spool_reader import SpoolReader
from seamark.servers import Server
from seamark.upload import orphans
from seamark.upload.orphans import Leftovers, is_meant_for, may_live_elsewhere
from seamark.upload.transport import HttpTransport
from seamark.user_warnings import Notices
from tests.agent.conftest import wait_until
from tests.agent.failing_disk import FailingDisk, broken_disk
from tests.agent.queue.test_spool import ORIGIN
from tests.agent.tracker_double import TOKEN, Scripted


@pytest.fixture
def root(tmp_path):
    return tmp_path / "spools"


@pytest.fixture
def abandoned(root):
    """Write a spool whose process was killed."""
    opened = create_spool(root, ORIGIN, url=None)
    opened.write(messages.payload([messages.points(["a"], [0.0], [0], [[1.0]])]))
    opened.close()
    return opened.folder


@pytest.fixture
def server(tracker):
    """The server, and the way to it."""
    known = Server(tracker.url, TOKEN)
    transport = HttpTransport(known)
    yield known, transport
    transport.close()


@pytest.fixture
def deliver(root, server):

    def run():
        sending = Leftovers(root, Notices())
        for _ in range(20):
            if sending.send_some(*server).is_done:
                return
        pytest.fail("it never comes to an end")

    return run


def test_a_killed_process_has_crashed_when_it_last_wrote(abandoned, deliver, tracker):
    (segment,) = abandoned.glob("*.frames")
    written = segment.stat().st_mtime_ns // 1000

    deliver()

    assert tracker.values("a") == [1.0]
    assert tracker.states() == ["crashed"]
    assert tracker.gone == {abandoned.name: written}
    assert not abandoned.exists()


def test_that_a_process_is_gone_is_said_once_the_server_listens(
    abandoned, server, tracker
):
    tracker.gone_script += [Scripted(503), Scripted(0, stores=True, cuts=True)]
    # A connection that was kept may have been closed meanwhile: once more at once.
    tracker.gone_script.append(Scripted(0, cuts=True))
    deliver_all = Leftovers(abandoned.parent, Notices())

    waits = [deliver_all.send_some(*server).wait_seconds for _ in range(5)]

    assert [wait > 0 for wait in waits] == [False, True, True, False, False]
    assert tracker.states() == ["crashed"]
    assert not abandoned.exists()


@pytest.mark.parametrize("status", [404, 401, 302, 400, 500])
def test_that_a_process_is_gone_keeps_nothing_else_from_being_delivered(
    abandoned, deliver, tracker, status, caplog
):
    # Temporary errors are retried. A 404 may come from another program.
    tries = 4 if status in (400, 500) else 1
    tracker.gone_script.extend([Scripted(status)] * tries)
    blob = Blobs(abandoned).keep(b"weights")
    (another,) = left_behind(abandoned.parent, 1)

    deliver()

    assert tracker.values("a") == [1.0]
    assert tracker.stored == {blob.digest: b"weights"}
    assert abandoned.exists()
    assert not another.exists()
    assert "reporting the end of their process failed" in caplog.text

    assert not tracker.gone_script
    deliver()
    assert tracker.gone[abandoned.name]
    assert not abandoned.exists()


def test_of_a_run_that_is_gone_or_in_the_trash_nothing_is_kept(
    abandoned, deliver, tracker, caplog
):
    not_found = b'{"error": {"code": "not_found", "message": "There is no such run."}}'
    tracker.gone_script.append(Scripted(404, not_found))
    blob = Blobs(abandoned).keep(b"weights")

    deliver()

    assert tracker.stored == {blob.digest: b"weights"}
    assert not abandoned.exists()
    assert "There is no such run" in caplog.text


def test_a_process_that_logged_nothing_lately_lived_when_it_last_said_so(
    abandoned, deliver, tracker
):
    (segment,) = abandoned.glob("*.frames")
    os.utime(segment, (1_700_000_000, 1_700_000_000))
    os.utime(abandoned / locks.LOCK_FILE, (1_700_003_600, 1_700_003_600))

    deliver()

    assert tracker.gone == {abandoned.name: 1_700_003_600_000_000}


@pytest.mark.parametrize("seconds", [-86_400, 2**33])
def test_a_time_that_cannot_be_is_not_said(abandoned, deliver, tracker, seconds):
    for path in (*abandoned.glob("*.frames"), abandoned / locks.LOCK_FILE):
        os.utime(path, (seconds, seconds))

    deliver()

    (reported,) = tracker.gone.values()
    assert 0 <= reported <= time.time_ns() // 1_000


@pytest.fixture
def of_four_files(root, monkeypatch):
    """Write a spool with a file for each of its frames: the opening, and three steps."""
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 1)
    opened = create_spool(root, ORIGIN, url=None)
    for step in (0.0, 1.0, 2.0):
        opened.write(messages.payload([messages.points(["a"], [step], [0], [[step]])]))
    opened.close()
    return opened.folder


@pytest.fixture
def break_disk(monkeypatch):
    return partial(broken_disk, monkeypatch, own_files)


@pytest.mark.parametrize(
    "failure",
    [(3, errno.EIO), (3, errno.EMFILE), (3, errno.ESTALE), (4, errno.EIO)],
    ids=str,
)
def test_what_a_disk_does_not_give_back_now_is_neither_passed_over_nor_deleted(
    of_four_files, deliver, tracker, break_disk, failure
):
    broken, error = failure
    disk = break_disk(of_four_files / f"{broken:020}.frames", error)
    deliver()
    assert tracker.values("a") == [0.0, 1.0][: broken - 2]
    assert not tracker.states()

    disk.is_broken = False
    deliver()
    assert tracker.values("a") == [0.0, 1.0, 2.0]
    assert tracker.states() == ["crashed"]
    assert not of_four_files.exists()


def test_what_fails_for_ever_keeps_no_other_from_being_delivered(
    of_four_files, abandoned, deliver, break_disk, caplog
):
    break_disk(of_four_files / f"{1:020}.frames", errno.EIO)

    for _ in range(3):
        deliver()

    assert not abandoned.exists()
    assert of_four_files.exists()
    assert f"{of_four_files} cannot be read now" in caplog.text


def test_it_is_tried_again_after_a_minute(
    of_four_files, server, tracker, break_disk, monkeypatch
):
    monkeypatch.setattr(orphans, "HOLD_SECONDS", 0.3)
    disk = break_disk(of_four_files / f"{3:020}.frames", errno.EIO)
    sending = Leftovers(of_four_files.parent, Notices())

    def send_all():
        sending.search_again()
        while not sending.send_some(*server).is_done:
            pass
        return tracker.values("a")

    assert send_all() == [0.0]
    disk.is_broken = False
    wait_until(lambda: send_all() == [0.0, 1.0, 2.0])


@pytest.mark.parametrize("times", [1, 2, 1_000])
def test_a_folder_that_cannot_be_listed_now_is_not_taken_for_an_empty_one(
    of_four_files, deliver, tracker, monkeypatch, times
):
    (of_four_files / "acknowledged").write_text(f"{2:020}")
    disk = FailingDisk(of_four_files, errno.ESTALE, fails_reading=True)
    disk.is_broken, disk.fails_at_most = True, times
    monkeypatch.setattr(segments, "os", disk)
    deliver()
    assert of_four_files.exists()
    assert not tracker.states()

    disk.is_broken = False
    deliver()
    assert tracker.values("a") == [0.0, 1.0, 2.0]
    assert tracker.states() == ["crashed"]


def test_files_that_cannot_be_listed_now_are_not_deleted_with_their_spool(
    abandoned, deliver, tracker, monkeypatch
):
    blob = Blobs(abandoned).keep(b"weights")
    disk = FailingDisk(abandoned / "blobs", errno.ESTALE, fails_reading=True)
    disk.is_broken = True
    monkeypatch.setattr(blobs, "os", disk)
    deliver()
    assert tracker.states() == ["crashed"]
    assert abandoned.exists()

    disk.is_broken = False
    deliver()
    assert tracker.stored == {blob.digest: b"weights"}
    assert not abandoned.exists()


@pytest.mark.parametrize("name", [DESCRIPTION_FILE, "renewal.json"])
def test_without_knowing_for_which_server_and_as_what_nothing_is_sent(
    abandoned, deliver, tracker, break_disk, name
):
    description = json.loads((abandoned / DESCRIPTION_FILE).read_text())
    description["url"] = None if name == "renewal.json" else "http://elsewhere.example"
    (abandoned / DESCRIPTION_FILE).write_text(json.dumps(description))
    (abandoned / COMPLETE_FILE).touch()
    break_disk(abandoned / name, errno.EMFILE)

    deliver()

    assert tracker.requests == []
    assert abandoned.exists()


@pytest.mark.parametrize(
    ("url", "token", "is_so"),
    [
        ("http://127.0.0.1:8713", "one", True),
        ("http://127.0.0.1:8713/", "another", True),
        ("http://localhost:9999", "one", True),
        ("http://localhost:9999", "another", False),
        ("http://tracker.example:8713", "one", False),
        ("no address", "one", False),
    ],
)
def test_a_server_that_came_back_elsewhere_is_known_by_the_token(
    root, url, token, is_so
):
    meant = Server("http://127.0.0.1:8713", "one")
    opened = create_spool(root, ORIGIN, url=meant.url, token_digest=meant.token_digest)
    opened.close()

    assert is_meant_for(SpoolReader(opened.folder), Server(url, token)) is is_so
    assert meant.token not in (opened.folder / DESCRIPTION_FILE).read_text()


def test_another_server_of_this_machine_gets_nothing_without_a_token_of_its_own(root):
    opened = create_spool(root, ORIGIN, url="http://127.0.0.1:8713")
    opened.close()
    found = SpoolReader(opened.folder)

    assert not is_meant_for(found, Server("http://127.0.0.1:9999", "one"))
    assert is_meant_for(found, Server("http://127.0.0.1:8713", "one"))


def test_a_process_that_said_how_it_ended_is_believed(root, deliver, tracker):
    opened = create_spool(root, ORIGIN, url=None)
    opened.write(messages.payload([messages.close(failure=None, time=0)]))
    opened.close()

    deliver()

    assert tracker.states() == ["finished"]


# Earlier agents sent it as a third record, which is not on the disk.
@pytest.mark.parametrize("acknowledged", [2, 3])
def test_the_end_is_said_again_where_its_deliverer_was_killed(
    abandoned, deliver, tracker, tmp_path, acknowledged
):
    shutil.copytree(abandoned, tmp_path / "copy")
    deliver()
    reported = dict(tracker.gone)
    shutil.copytree(tmp_path / "copy", abandoned)
    (abandoned / "acknowledged").write_text(f"{acknowledged:020}")
    requests = len(tracker.requests)

    deliver()

    assert len(tracker.requests) == requests + (acknowledged == 2)
    assert tracker.gone == reported
    assert not abandoned.exists()


def test_what_another_looked_at_for_a_moment_is_found_when_searched_again(
    abandoned, root, tracker, server
):
    sending = Leftovers(root, Notices())
    lock = locks.acquire(abandoned)
    assert sending.send_some(*server).is_done
    locks.release(lock)
    assert sending.send_some(*server).is_done
    assert tracker.values("a") == []

    sending.search_again()
    while not sending.send_some(*server).is_done:
        pass

    assert tracker.values("a") == [1.0]
    assert not abandoned.exists()


def left_behind(root, count, url=None):
    """Write spools whose processes were killed, and return their folders."""
    folders = []
    for _ in range(count):
        opened = create_spool(root, ORIGIN, url=url)
        opened.close()
        folders.append(opened.folder)
    return folders


def test_many_are_searched_for_once_and_not_for_each_that_is_delivered(
    root, deliver, monkeypatch
):
    folders = left_behind(root, 5)
    searches, readers = [], []
    search, read = orphans.spool_folders, orphans.SpoolReader

    def searched(folder):
        # A thread of an earlier test may still search its own folder.
        searches.extend({folder} & {root})
        return search(folder)

    def opened(folder):
        readers.append(folder)
        return read(folder)

    monkeypatch.setattr(orphans, "spool_folders", searched)
    monkeypatch.setattr(orphans, "SpoolReader", opened)
    deliver()

    assert not any(folder.exists() for folder in folders)
    assert len(searches) == 1
    assert len(readers) == 2 * len(folders)


def test_what_was_found_goes_only_where_it_may_by_the_settings_of_then(
    root, server, tracker
):
    left_behind(root, 2, url=tracker.url)
    known, transport = server
    sending = Leftovers(root, Notices())
    while len([*root.iterdir()]) == 2:
        assert not sending.send_some(known, transport).is_done

    elsewhere = Server("http://elsewhere.example", TOKEN)
    assert sending.send_some(elsewhere, transport).is_done

    assert len(tracker.frames) == 1


def say_of(folder, *, host="node-7", boot="another"):
    """Have a spool be that of another machine."""
    file = folder / DESCRIPTION_FILE
    description = json.loads(file.read_text())
    description["boot"] = boot
    description["origin"]["host"] = host
    file.write_text(json.dumps(description))


def test_a_spool_of_another_machine_is_left_alone_while_its_process_may_live(
    abandoned, deliver, tracker
):
    # Like on a shared file system whose locks work within one machine only.
    say_of(abandoned)
    deliver()
    assert tracker.values("a") == []
    assert abandoned.exists()

    for file in abandoned.iterdir():
        os.utime(file, (0, time.time() - 3700))
    deliver()

    assert tracker.values("a") == [1.0]
    assert not abandoned.exists()


def test_what_its_process_deletes_meanwhile_says_nothing_of_its_end(abandoned):
    say_of(abandoned)
    # As in the listing of a shared folder: delivered, and deleted since.
    (abandoned / "delivered").symlink_to(abandoned / "gone")

    assert may_live_elsewhere(SpoolReader(abandoned))


def test_a_description_that_cannot_be_read_says_nothing_of_its_machine(abandoned):
    say_of(abandoned)
    file = abandoned / DESCRIPTION_FILE
    file.unlink()
    file.mkdir()

    assert may_live_elsewhere(SpoolReader(abandoned))


def test_one_that_may_not_be_looked_into_keeps_no_other_from_being_delivered(
    abandoned, root, deliver, tracker, monkeypatch
):
    # As that of another user is.
    other = root / str(uuid.uuid4())
    (other / DESCRIPTION_FILE).mkdir(parents=True)
    really_stat = Path.stat

    def stat(path, **options):
        if path.parent == other:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return really_stat(path, **options)

    monkeypatch.setattr(Path, "stat", stat)
    deliver()

    assert tracker.values("a") == [1.0]
    assert other.exists()


@pytest.mark.parametrize("name", ["host", "boot"])
def test_one_of_this_machine_is_delivered_at_once(abandoned, deliver, tracker, name):
    # Containers change their names, and machines that are started again their boots.
    say_of(abandoned, **{name: host_name() if name == "host" else boot_id()})
    deliver()

    assert tracker.values("a") == [1.0]


def test_one_that_its_process_completed_is_delivered_at_once(root, deliver, tracker):
    opened = create_spool(root, ORIGIN, url=None)
    opened.write(messages.payload([messages.points(["a"], [0.0], [0], [[1.0]])]))
    opened.write(messages.payload([messages.close(failure=None, time=0)]))
    opened.close(is_complete=True)
    say_of(opened.folder)
    deliver()

    assert tracker.values("a") == [1.0]
    assert not opened.folder.exists()


def test_a_living_process_that_is_quiet_says_that_it_lives(root):
    opened = create_spool(root, ORIGIN, url=None)
    for file in opened.folder.iterdir():
        os.utime(file, (0, time.time() - 7200))
    say_of(opened.folder)
    os.utime(opened.folder / DESCRIPTION_FILE, (0, 0))
    assert not may_live_elsewhere(SpoolReader(opened.folder))

    opened.show_life()

    assert may_live_elsewhere(SpoolReader(opened.folder))
    opened.close()

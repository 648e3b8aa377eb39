"""What is delivered of processes that are gone, and what is said about them."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
import uuid
from pathlib import Path

import msgspec
import pytest

from agent import locks, messages, own_files, spool
from agent.leftovers import Leftovers, is_meant_for, may_live_elsewhere
from agent.machine import host_name
from agent.notices import Notices
from agent.ring import boot_id
from agent.servers import Server
from agent.spool import DESCRIPTION_FILE, create_spool
from agent.spool_reader import SpoolReader
from agent.transport import HttpTransport
from tests.agent.failing_disk import FailingDisk
from tests.agent.test_spool import ORIGIN
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
def deliver(root, tracker):
    server = Server(tracker.url, TOKEN)
    transport = HttpTransport(server)

    def run():
        leftovers = Leftovers(root, Notices())
        for _ in range(20):
            if leftovers.send_some(server, transport).is_done:
                return
        pytest.fail("it never comes to an end")

    yield run
    transport.close()


def states(tracker):
    return [message["state"] for message in tracker.of_kind("close")]


def test_a_killed_process_has_crashed_when_it_last_wrote(abandoned, deliver, tracker):
    (segment,) = abandoned.glob("*.frames")
    written = segment.stat().st_mtime_ns // 1000

    deliver()

    assert tracker.values("a") == [1.0]
    assert states(tracker) == ["crashed"]
    assert tracker.of_kind("close")[0]["time"] == written
    assert not abandoned.exists()


def test_what_a_disk_does_not_give_back_now_is_not_deleted(
    root, deliver, tracker, monkeypatch
):
    monkeypatch.setattr(spool, "SEGMENT_BYTES", 1)
    opened = create_spool(root, ORIGIN, url=None)
    for step in (0.0, 1.0):
        opened.write(messages.payload([messages.points(["a"], [step], [0], [[step]])]))
    opened.close()
    last = max(opened.folder.glob("*.frames"))
    disk = FailingDisk(last, errno.EIO, fails_reading=True)
    disk.is_broken = True
    monkeypatch.setattr(own_files, "os", disk)

    deliver()
    assert tracker.values("a") == [0.0]
    assert not states(tracker)

    disk.is_broken = False
    deliver()
    assert tracker.values("a") == [0.0, 1.0]
    assert states(tracker) == ["crashed"]
    assert not opened.folder.exists()


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

    assert states(tracker) == ["finished"]


def test_the_end_is_said_once_however_often_it_is_delivered(
    abandoned, deliver, tracker, tmp_path
):
    shutil.copytree(abandoned, tmp_path / "copy")
    deliver()
    # As if its deliverer had been killed before it could delete the spool.
    shutil.copytree(tmp_path / "copy", abandoned)
    (abandoned / "acknowledged").write_text(f"{3:020}")
    requests = len(tracker.requests)

    deliver()

    assert len(tracker.requests) == requests
    assert not abandoned.exists()


def test_a_lost_answer_repeats_the_end(abandoned, deliver, tracker):
    everything = msgspec.json.encode({"stored": 2})
    tracker.script.append(Scripted(200, everything, stores=True))
    tracker.script.extend([Scripted(0, stores=True, cuts=True)] * 2)

    deliver()

    assert states(tracker) == ["crashed"]
    assert not abandoned.exists()


def test_what_another_looked_at_for_a_moment_is_found_when_searched_again(
    abandoned, root, tracker
):
    server = Server(tracker.url, TOKEN)
    transport = HttpTransport(server)
    leftovers = Leftovers(root, Notices())
    lock = locks.acquire(abandoned)
    assert leftovers.send_some(server, transport).is_done
    locks.release(lock)
    assert leftovers.send_some(server, transport).is_done
    assert tracker.values("a") == []

    leftovers.search_again()
    while not leftovers.send_some(server, transport).is_done:
        pass
    transport.close()

    assert tracker.values("a") == [1.0]
    assert not abandoned.exists()


def say_of(folder, *, host="node-7", boot="another"):
    """Have a spool be that of another machine."""
    file = folder / DESCRIPTION_FILE
    said = json.loads(file.read_text())
    said["boot"] = boot
    said["origin"]["host"] = host
    file.write_text(json.dumps(said))


def test_a_spool_of_another_machine_is_left_alone_while_its_process_may_live(
    abandoned, deliver, tracker
):
    # As on a shared file system whose locks hold within one machine.
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

"""The delivery of contents, without a server."""

from __future__ import annotations

import errno
import os
from functools import partial

import pytest

from seamark.errors import NoAnswer
from seamark.queue import blobs as blobs_module
from seamark.upload import files as uploads_module
from seamark.upload.files import Uploads
from seamark.upload.request_limits import RequestLimits
from seamark.upload.responses import Reply
from seamark.user_warnings import Notices
from tests.agent.failing_disk import broken_disk
from tests.agent.queue.test_blobs import Counted


class Storing:
    """A transport to a tracker that takes all contents at once."""

    def __init__(self):
        self.stored = []

    def send_part(self, digest, size, offset, part):
        self.stored.append(digest)
        return Reply(200, None, b'{"is_stored": true}')


def kept(folder, *contents):
    """Return a folder with contents, of which the last is the oldest."""
    blobs = Counted(folder)
    digests = [blobs.keep(content).digest for content in contents]
    for age, digest in enumerate(reversed(digests)):
        os.utime(blobs.folder / digest, ns=(age, age))
    blobs.listings = 0
    return blobs, digests


def test_all_that_waits_is_listed_once_and_not_for_each_file(tmp_path):
    blobs, _ = kept(tmp_path, *(b"%d" % number for number in range(100)))
    uploads, transport = Uploads(blobs, Notices()), Storing()
    while not uploads.is_done:
        uploads.send_some(transport)

    assert len(transport.stored) == 100
    assert blobs.listings == 1


def test_the_oldest_goes_first_and_what_comes_meanwhile_last(tmp_path):
    blobs, digests = kept(tmp_path, b"new", b"old")
    uploads, transport = Uploads(blobs, Notices()), Storing()
    uploads.send_some(transport)
    newest = blobs.keep(b"newest").digest
    while not uploads.is_done:
        uploads.send_some(transport)

    assert transport.stored == [*reversed(digests), newest]
    assert uploads.send_some(transport).is_done


def test_whether_all_is_done_is_told_by_the_first_file(tmp_path):
    blobs, _ = kept(tmp_path, *(b"%d" % number for number in range(100)))

    assert not Uploads(blobs, Notices()).is_done
    assert blobs.looks == 1


class Answering:
    """A transport to a server with a fixed answer."""

    def __init__(self, status, body=b"{}", retry_after=None):
        self.reply = Reply(status, retry_after, body)
        self.asked = 0

    def send_part(self, digest, size, offset, part):
        self.asked += 1
        return self.reply


@pytest.mark.parametrize(
    "answer",
    [
        Answering(429, retry_after="0"),
        Answering(503, retry_after="Thu, 01 Jan 1970 00:00:00 GMT"),
        Answering(409, b'{"error": {"expected": 0}}'),
        Answering(409, b'{"error": {"expected": 1000000}}'),
        Answering(200, b'{"received": 0, "is_stored": false}'),
    ],
    ids=["0", "past", "again", "beyond the end", "nothing stored"],
)
def test_a_server_that_takes_nothing_is_asked_ever_less_and_costs_no_file(
    tmp_path, answer
):
    blobs, [digest] = kept(tmp_path, b"content")
    uploads = Uploads(blobs, Notices())

    waits = [uploads.send_some(answer).wait_seconds for _ in range(12)]

    # The first request may have asked for the received size.
    assert all(wait > 0 for wait in waits[1:])
    assert waits[-1] >= 30
    assert [*blobs.digests()] == [digest]


def test_a_busy_server_says_how_long_to_wait(tmp_path):
    blobs, _ = kept(tmp_path, b"content")
    uploads = Uploads(blobs, Notices())

    assert uploads.send_some(Answering(429, retry_after="7")).wait_seconds == 7


def test_of_each_folder_it_is_said_once_that_files_are_held(tmp_path, caplog):
    """The own spool's progress is no news of one that others left behind."""
    notices, taking, refusing = Notices(), Storing(), Answering(403)
    ours, theirs = (
        Uploads(kept(tmp_path / name, b"1", b"2", b"3")[0], notices)
        for name in ("ours", "theirs")
    )
    for _ in range(3):
        ours.send_some(taking)
        assert theirs.send_some(refusing).is_deferred

    assert caplog.text.count("does not accept files") == 1
    assert str(tmp_path / "theirs") in caplog.text


class Taking:
    """A transport to a tracker that takes contents part by part."""

    def __init__(self):
        self.arrived = {}

    def send_part(self, digest, size, offset, part):
        there = self.arrived.setdefault(digest, bytearray())
        assert not part or offset == len(there)
        there += part
        is_stored = "true" if len(there) == size else "false"
        answer = f'{{"received": {len(there)}, "is_stored": {is_stored}}}'
        return Reply(200, None, answer.encode())


class Clock:
    """Replaces `time`; the test advances it."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    time = monotonic


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(uploads_module, "time", clock)
    return clock


@pytest.fixture
def break_disk(monkeypatch):
    return partial(broken_disk, monkeypatch, blobs_module)


def until_held(uploads, transport, clock):
    """Send until it is not worth waiting any longer; return how long was waited."""
    waits = []
    for _ in range(30):
        outcome = uploads.send_some(transport)
        assert not outcome.is_done
        if outcome.is_deferred:
            return waits
        waits.append(outcome.wait_seconds)
        clock.now += outcome.wait_seconds
    pytest.fail("it never comes to an end")


def send_all(uploads, transport, clock):
    for _ in range(30):
        outcome = uploads.send_some(transport)
        clock.now += outcome.wait_seconds
        if outcome.is_done:
            return
    pytest.fail("it never comes to an end")


@pytest.mark.parametrize("error", [errno.EMFILE, errno.EIO, errno.ESTALE])
def test_a_file_that_cannot_be_read_now_is_kept_and_the_others_are_sent(
    tmp_path, clock, break_disk, error, caplog
):
    blobs, [good, bad] = kept(tmp_path, b"good", b"bad")
    disk = break_disk(blobs.folder / bad, error)
    uploads, transport = Uploads(blobs, Notices()), Taking()

    waits = until_held(uploads, transport, clock)

    # Tried a few times, and not at once.
    assert 2 < disk.refused < 10
    assert sum(wait > 0 for wait in waits) >= 2
    assert transport.arrived == {good: b"good", bad: b""}
    assert [*blobs.digests()] == [bad]
    assert not uploads.is_done
    assert caplog.text.count("cannot be read now") == 1

    disk.is_broken = False
    clock.now += 60
    send_all(uploads, transport, clock)
    assert transport.arrived[bad] == b"bad"
    assert uploads.is_done


def test_files_that_cannot_be_listed_now_are_not_taken_for_none(
    tmp_path, clock, break_disk
):
    blobs, [digest] = kept(tmp_path, b"content")
    disk = break_disk(blobs.folder, errno.EMFILE)
    uploads, transport = Uploads(blobs, Notices()), Taking()

    assert not uploads.is_done
    assert until_held(uploads, transport, clock)

    disk.is_broken = False
    clock.now += 60
    send_all(uploads, transport, clock)
    assert transport.arrived == {digest: b"content"}


def test_of_a_folder_that_was_left_with_its_disk_nothing_more_is_expected(
    tmp_path, break_disk
):
    blobs, _ = kept(tmp_path, b"content")
    uploads = Uploads(blobs, Notices())
    uploads.is_left = True
    assert not uploads.is_done

    break_disk(blobs.folder, errno.EIO)
    assert uploads.is_done
    # The error is not one of the disk.
    break_disk(blobs.folder, errno.EMFILE)
    assert not uploads.is_done


@pytest.mark.parametrize("loss", [lambda path: os.truncate(path, 0), os.unlink])
def test_what_was_cut_off_or_deleted_is_not_waited_for(tmp_path, clock, loss, caplog):
    blobs, [digest] = kept(tmp_path, b"content")
    uploads, transport = Uploads(blobs, Notices()), Taking()
    uploads.send_some(transport)
    loss(blobs.folder / digest)

    send_all(uploads, transport, clock)

    assert uploads.is_done
    assert "a queued file is" in caplog.text


def test_an_intact_file_that_something_on_the_way_changes_is_kept(
    tmp_path, clock, caplog
):
    blobs, digests = kept(tmp_path, b"one", b"another")
    uploads, differs = Uploads(blobs, Notices()), Answering(422)

    until_held(uploads, differs, clock)

    assert differs.asked == 6
    assert {*blobs.digests()} == {*digests}
    assert caplog.text.count("checksum of an uploaded file differs") == 2
    clock.now += 600
    send_all(uploads, Taking(), clock)
    assert uploads.is_done


def test_what_cannot_be_compared_now_is_not_taken_for_damaged(
    tmp_path, clock, break_disk
):
    blobs, [digest] = kept(tmp_path, b"content")
    disk = break_disk(blobs.folder / digest, errno.EIO)
    uploads = Uploads(blobs, Notices())

    until_held(uploads, Answering(422), clock)

    assert disk.refused > 2
    assert [*blobs.digests()] == [digest]


class Losing(Taking):
    """A transport on which questions are answered and parts are lost."""

    def send_part(self, digest, size, offset, part):
        if part:
            raise NoAnswer("timed out")
        return super().send_part(digest, size, offset, part)


def test_parts_that_are_lost_are_sent_again_ever_later(tmp_path):
    blobs, _ = kept(tmp_path, b"content")
    uploads, transport = Uploads(blobs, Notices()), Losing()

    waits = [uploads.send_some(transport).wait_seconds for _ in range(20)]

    assert waits[-1] >= 30


class Proxy(Taking):
    """A transport through a proxy that refuses larger requests."""

    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.refused = []

    def send_part(self, digest, size, offset, part):
        if len(part) > self.limit:
            self.refused.append(len(part))
            return Reply(413, None, b"<html>413 Request Entity Too Large</html>")
        return super().send_part(digest, size, offset, part)


MIB = 1024 * 1024


def test_a_size_that_a_proxy_refused_is_not_sent_again(tmp_path, clock):
    contents = [bytes([number]) * 6 * MIB for number in (1, 2)]
    blobs, _ = kept(tmp_path, *contents)
    uploads, proxy = Uploads(blobs, Notices()), Proxy(MIB)

    send_all(uploads, proxy, clock)

    assert {bytes(content) for content in proxy.arrived.values()} == {*contents}
    assert proxy.refused == [2 * MIB]


def test_what_one_spool_learned_of_a_proxy_is_known_to_the_next(tmp_path, clock):
    limits, proxy = RequestLimits(), Proxy(MIB // 2)
    for name in ("first", "second"):
        blobs, _ = kept(tmp_path / name, name.encode() * MIB)
        send_all(Uploads(blobs, Notices(), limits), proxy, clock)

    assert proxy.refused == [MIB]


def test_a_proxy_that_refuses_every_part_is_left_alone_with_one_warning(
    tmp_path, clock, caplog
):
    blobs, [digest] = kept(tmp_path, bytes(6 * MIB))
    uploads, proxy = Uploads(blobs, Notices()), Proxy(1000)

    for _ in range(3):
        until_held(uploads, proxy, clock)

    assert uploads.send_some(proxy).wait_seconds == 0
    assert uploads.send_some(proxy).wait_seconds == 600
    assert sorted(set(proxy.refused)) == [MIB // 16, MIB // 8, MIB // 4, MIB // 2, MIB]
    assert proxy.refused.count(MIB // 16) == 4
    assert [*blobs.digests()] == [digest]
    assert caplog.text.count("client_max_body_size") == 1
    assert "65,536 bytes" in caplog.text

"""The delivery of contents, without a server."""

from __future__ import annotations

import os

import pytest

from agent.answers import Reply
from agent.notices import Notices
from agent.uploads import Uploads
from tests.agent.test_blobs import Counted


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
    """A transport to a server that always says the same."""

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

    # The first may have asked how much is there.
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
        assert theirs.send_some(refusing).is_held

    assert caplog.text.count("does not accept files") == 1
    assert str(tmp_path / "theirs") in caplog.text

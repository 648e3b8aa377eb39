"""The delivery of contents, without a server."""

from __future__ import annotations

import os

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

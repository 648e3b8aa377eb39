from __future__ import annotations

import msgspec
import pytest

from seamark.queue.spool_reader import find_spools
from tests.agent.commands.site import Site

MOST = 2**26  # bytes


@pytest.fixture
def sites():
    """Return a function that starts a site; all are stopped in the end."""
    started = []

    def start(certificate=None):
        started.append(Site(certificate))
        return started[-1]

    yield start
    for site in started:
        site.stop()


@pytest.fixture
def site(sites):
    return sites()


@pytest.fixture
def agent_file(tmp_path):
    return tmp_path / "config" / "seamark" / "agent.json"


@pytest.fixture
def messages(spool_root):
    """Return a function that reads all messages of all spools."""

    def read():
        return [
            message
            for spool in find_spools(spool_root)
            for frame in spool.frames_from(1, most_bytes=MOST)
            for message in msgspec.msgpack.decode(frame.payload)
        ]

    return read

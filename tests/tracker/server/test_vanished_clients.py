"""Connections are monitored to detect clients that have disconnected."""

from __future__ import annotations

import fcntl
import socket
import subprocess
import sys
from contextlib import ExitStack

import pytest

from tracker.server.vanished_clients import (
    IDLE_SECONDS,
    NoticingVanished,
    look_after_connections,
)


@pytest.fixture
def kept():
    with ExitStack() as sockets:
        yield sockets.enter_context


def is_looked_after(connection):
    return connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0


def test_connections_of_a_listening_socket_are_looked_after(kept):
    listening = kept(socket.create_server(("127.0.0.1", 0)))
    early = kept(socket.create_connection(listening.getsockname()))
    accepted_early = kept(listening.accept()[0])
    assert not is_looked_after(accepted_early)

    look_after_connections()

    late = kept(socket.create_connection(listening.getsockname()))
    accepted_late = kept(listening.accept()[0])
    for connection in (early, accepted_early, accepted_late):
        assert is_looked_after(connection)
        seconds = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
        assert seconds == IDLE_SECONDS
    assert not is_looked_after(late)


def test_files_and_socket_pairs_are_left_alone(kept, tmp_path):
    pair = [kept(end) for end in socket.socketpair()]
    kept((tmp_path / "file").open("w"))

    look_after_connections()

    assert not any(is_looked_after(end) for end in pair)


HOLD = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit("locked")
"""


def test_locks_of_files_outlive_it(tmp_path):
    path = tmp_path / "database"
    path.write_bytes(b"x")
    with path.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)

        look_after_connections()

        other = subprocess.run(
            [sys.executable, "-c", HOLD, path],
            capture_output=True,
            text=True,
            check=False,
        )
    assert other.stderr == "locked\n"


def test_a_server_looks_once_and_answers_as_ever(kept):
    application = NoticingVanished(lambda environ, _start: [environ["PATH_INFO"]])
    listening = kept(socket.create_server(("127.0.0.1", 0)))

    assert application({"PATH_INFO": "/a"}, None) == ["/a"]
    assert is_looked_after(listening)
    later = kept(socket.create_server(("127.0.0.1", 0)))
    assert application({"PATH_INFO": "/b"}, None) == ["/b"]
    assert not is_looked_after(later)

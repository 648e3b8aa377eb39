"""A server that cannot start fails at once, and a slow one is given time."""

from __future__ import annotations

import socket

import pytest

from tracker.embedded import child
from tracker.embedded.child import Program
from tracker.embedded.refusal import Refusal
from tracker.embedded.server import EmbeddedServer


@pytest.mark.processes
def test_a_web_server_that_keeps_ending_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(child, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(
        EmbeddedServer, "_programs", lambda _: [Program("web", ("-c", "1/0"), {})]
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    with (
        pytest.raises(Refusal, match=r"cannot start; see .*web\.log"),
        EmbeddedServer(tmp_path / "data", port),
    ):
        pass

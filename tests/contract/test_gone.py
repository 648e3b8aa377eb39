"""The agent delivers the queue of a killed process to a real server over HTTP."""

from __future__ import annotations

from dataclasses import replace
from time import time_ns

import pytest

from seamark import messages
from seamark.queue.spool import create_spool
from seamark.servers import Server
from seamark.upload.orphans import Leftovers
from seamark.upload.transport import HttpTransport
from seamark.user_warnings import Notices
from tests.agent.queue.test_spool import ORIGIN
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.ingest.opening import from_microseconds
from tracker.models import Run, State
from tracker.queries.series.series import read_points


@pytest.mark.django_db(transaction=True)
@pytest.mark.database
def test_a_killed_process_has_crashed_when_it_last_wrote(live_server, member, tmp_path):
    token = make_token(member, "agent", Scope.LOG)
    origin = replace(ORIGIN, time=time_ns() // 1_000)
    killed = create_spool(tmp_path / "spools", origin, url=None)
    point = messages.points(["a"], [0.0], [origin.time], [[1.0]])
    killed.write(messages.payload([point]))
    killed.close()
    (segment,) = killed.folder.glob("*.frames")
    written = segment.stat().st_mtime_ns // 1_000
    server = Server(live_server.url, token)
    transport = HttpTransport(server)

    sending = Leftovers(tmp_path / "spools", Notices())
    while not sending.send_some(server, transport).is_done:
        continue
    transport.close()

    run = Run.objects.get()
    assert (run.state, run.ended_at) == (State.CRASHED, from_microseconds(written))
    assert read_points(run, "a").values.tolist() == [1.0]
    assert not killed.folder.exists()

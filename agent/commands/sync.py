"""Delivers what processes left behind that have ended.

Nobody has to: the next process that logs does it too, and so does a server on this
machine. It helps where neither will be, or to know that everything is delivered.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path

from agent import locks
from agent.commands.output import Refusal, clean, say, say_json
from agent.delivery import Outcome
from agent.leftovers import Leftovers, is_meant_for
from agent.notices import Notices
from agent.settings import Server, find_server, spool_root
from agent.spool_reader import SpoolReader, find_spools
from agent.transport import HttpTransport

HELP = "deliver what ended processes left behind"
EXAMPLES = ("seamark sync", "seamark sync --spool /mnt/job-17/spool --any-server")

_FOLLOW_SECONDS = 2.0
_NO_SERVER = (
    "No server is known; say `seamark login`, or set SEAMARK_URL and SEAMARK_TOKEN."
)


@dataclass(frozen=True)
class Left:
    """A spool that is not delivered, and why."""

    id: str
    run: str
    reason: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--spool", type=Path, help="the folder with the spools")
    parser.add_argument("--follow", action="store_true", help="go on until Ctrl-C")
    parser.add_argument(
        "--any-server",
        action="store_true",
        help="deliver also what was meant for another server",
    )


def perform(chosen: argparse.Namespace) -> int:
    root = chosen.spool or spool_root(os.environ)
    left = deliver(root, follow=chosen.follow, any_server=chosen.any_server)
    if chosen.json:
        spools = [{"id": s.id, "run": s.run, "reason": s.reason} for s in left]
        say_json({"folder": str(root), "left": spools})
    else:
        for spool in left:
            say(
                f"{spool.id} is not delivered: {spool.reason} (run '{clean(spool.run)}')"
            )
        if not left:
            say("Everything is delivered.")
    return 1 if left else 0


def deliver(root: Path, *, follow: bool, any_server: bool) -> list[Left]:
    """Deliver abandoned spools, and return those that are left."""
    server = find_server(os.environ)
    if server is None and not follow:
        raise Refusal("no_server", _NO_SERVER)
    notices = Notices()
    leftovers = Leftovers(root, notices, any_server=any_server)
    transport: HttpTransport | None = None
    while True:
        outcome = Outcome(is_done=True)
        if server is not None:
            transport = transport or HttpTransport(server)
            leftovers.search_again()
            outcome = leftovers.send_some(server, transport)
        if not follow and (outcome.is_done or not outcome.is_answered):
            leftovers.let_go()
            if transport is not None:
                transport.close()
            return _left(root, server, any_server=any_server)
        if follow and outcome.is_done:
            time.sleep(_FOLLOW_SECONDS)
            known, server = server, find_server(os.environ)
            if transport is not None and server != known:
                transport.close()
                transport = None
        time.sleep(outcome.wait_seconds)


def _left(root: Path, server: Server | None, *, any_server: bool) -> list[Left]:
    return [
        Left(spool.id, str(spool.run), _why_left(spool, server, any_server=any_server))
        for spool in find_spools(root)
        if not locks.is_held(spool.folder)
    ]


def _why_left(spool: SpoolReader, server: Server | None, *, any_server: bool) -> str:
    if server is not None and not any_server and not is_meant_for(spool, server):
        return f"it is meant for {spool.url}; --any-server sends it to {server.url}"
    return "the server did not take it, and `seamark doctor` may know why"

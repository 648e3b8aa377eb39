"""Delivers what processes left behind that have ended."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from agent import locks
from agent.delivery import Outcome
from agent.leftovers import Leftovers, is_meant_for
from agent.notices import Notices
from agent.settings import Server, find_server, spool_root
from agent.spool_reader import SpoolReader, find_spools
from agent.transport import HttpTransport

HELP = "deliver what ended processes left behind"

_FOLLOW_SECONDS = 2.0
_NO_SERVER = "seamark: no server is known; set SEAMARK_URL and SEAMARK_TOKEN"


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
    try:
        return deliver(root, follow=chosen.follow, any_server=chosen.any_server)
    except KeyboardInterrupt:
        return 130


def deliver(root: Path, *, follow: bool, any_server: bool) -> int:
    """Deliver abandoned spools; 0 if nothing of them is left."""
    server = find_server(os.environ)
    if server is None and not follow:
        sys.stderr.write(f"{_NO_SERVER}\n")
        return 1
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
            return _conclude(root, server, any_server=any_server)
        if follow and outcome.is_done:
            time.sleep(_FOLLOW_SECONDS)
            known, server = server, find_server(os.environ)
            if transport is not None and server != known:
                transport.close()
                transport = None
        time.sleep(outcome.wait_seconds)


def _conclude(root: Path, server: Server | None, *, any_server: bool) -> int:
    code = 0
    for spool in find_spools(root):
        if locks.is_held(spool.folder):
            continue
        code = 1
        why = _why_left(spool, server, any_server=any_server)
        _say(f"{spool.id} is not delivered: {why} (run {spool.run!a})")
    if code == 0:
        _say("Everything is delivered.")
    return code


def _why_left(spool: SpoolReader, server: Server | None, *, any_server: bool) -> str:
    if server is not None and not any_server and not is_meant_for(spool, server):
        return f"it is meant for {spool.url}; --any-server sends it to {server.url}"
    return "the server did not take it"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")

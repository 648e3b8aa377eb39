"""`python -m agent`: looks after spools when no training does."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from agent import locks
from agent.delivery import Outcome
from agent.leftovers import Leftovers, is_meant_for
from agent.notices import Notices
from agent.settings import Server, find_server, spool_root
from agent.spool_reader import SpoolReader, find_spools
from agent.transport import HttpTransport

_FOLLOW_SECONDS = 2.0
_NO_SERVER = "seamark: no server is known; set SEAMARK_URL and SEAMARK_TOKEN"


def main(arguments: Sequence[str]) -> int:
    """Run a command and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m agent", description="Look after what agents have not delivered."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    sync = commands.add_parser("sync", help="deliver what ended processes left behind")
    sync.add_argument("--follow", action="store_true", help="go on until Ctrl-C")
    sync.add_argument(
        "--any-server",
        action="store_true",
        help="deliver also what was meant for another server",
    )
    status = commands.add_parser("status", help="list what is not delivered")
    for command in (sync, status):
        command.add_argument("--spool", type=Path, help="the folder with the spools")

    chosen = parser.parse_args(arguments)
    root = chosen.spool or spool_root(os.environ)
    if chosen.command == "status":
        return show_status(root)
    try:
        return deliver(root, follow=chosen.follow, any_server=chosen.any_server)
    except KeyboardInterrupt:
        return 130


def show_status(root: Path) -> int:
    """List the spools and how much of each is not delivered."""
    spools = find_spools(root)
    if not spools:
        _say(f"Everything is delivered; {root} holds no spools.")
    for spool in spools:
        state = "in use" if locks.is_held(spool.folder) else "left behind"
        pending = f"{spool.pending_bytes():,} bytes"
        _say(f"{spool.id}  {state:<11}  {pending:>20}  run {spool.run!a}")
    return 0


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

"""The output of `seamark` without a command: status, first steps, commands."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

from seamark.commands.output import (
    aligned,
    broken,
    counted,
    painted,
    print_json_rows,
    say,
    terminal_width,
)
from seamark.commands.parsing import GENERAL, Command
from seamark.commands.status import Waiting, find_waiting
from seamark.servers import find_server, find_url, spool_root
from seamark.version import VERSION

_FIRST = (
    ("seamark up", "start a server here, or"),
    ("seamark login", "sign in to yours with an API key from its API keys page;"),
    ("seamark doctor", "check that data arrives;"),
    ("seamark run -- python train.py", "monitor an unmodified program."),
)
_MORE = "See `seamark COMMAND --help` and docs/commands.md."


def perform(chosen: argparse.Namespace, commands: Mapping[str, Command]) -> int:
    """Print it, without a request to the server."""
    if chosen.version and not chosen.json:
        say(f"seamark {VERSION}")
        return 0
    waiting = find_waiting(spool_root(os.environ))
    url, server = find_url(os.environ), find_server(os.environ)
    if chosen.json:
        print_json_rows(
            {
                "version": VERSION,
                "server": url,
                "has_token": server is not None,
                "spools": len(waiting),
                "commands": list(commands),
            }
        )
        return 0
    say(f"{painted('Seamark', 'bold')} {VERSION}: why your GPUs are idle.")
    say()
    for line in aligned(
        [
            ("Server", _server(url, has_token=server is not None)),
            ("Queue", _left(waiting)),
        ]
    ):
        say(line)
    _section("First steps", _FIRST)
    _section("Commands", [(name, command.HELP) for name, command in commands.items()])
    _section("Options", list(GENERAL.items()))
    say()
    for line in broken(_MORE, terminal_width()):
        say(line)
    return 0


def _section(
    title: str, rows: list[tuple[str, str]] | tuple[tuple[str, str], ...]
) -> None:
    say()
    say(painted(f"{title}:", "bold"))
    for line in aligned(rows, indent="    "):
        say(line)


def _server(url: str | None, *, has_token: bool) -> str:
    if url is None:
        return "not configured: run `seamark up` or `seamark login`"
    return url if has_token else f"{url}, without an API key: run `seamark login`"


def _left(waiting: list[Waiting]) -> str:
    abandoned = [spool for spool in waiting if not spool.is_in_use]
    if not abandoned:
        return "all data is delivered"
    size = sum(spool.pending_bytes for spool in abandoned)
    return (
        f"{counted(len(abandoned), 'queue')} of ended processes not delivered "
        f"({size:,} bytes): run `seamark sync`"
    )

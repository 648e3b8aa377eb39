"""Starts the selected database of a benchmark before Django reads its settings."""

from __future__ import annotations

import argparse
import atexit
import os

from benchmarks.kills.case import POSTGRESQL, SQLITE
from benchmarks.kills.services import DurablePostgreSQL

VARIABLE = "SEAMARK_DATABASE_URL"


def add_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--database",
        choices=(SQLITE, POSTGRESQL),
        help=f"start a new one; without it, SQLite or what {VARIABLE} names",
    )


def start() -> None:
    """Start the selected database; a server started here ends with this process."""
    parser = argparse.ArgumentParser(add_help=False)
    add_option(parser)
    wanted = parser.parse_known_args()[0].database
    if wanted == SQLITE:
        os.environ.pop(VARIABLE, None)
    elif wanted == POSTGRESQL:
        server = DurablePostgreSQL()
        server.__enter__()
        atexit.register(server.stop)
        os.environ[VARIABLE] = server.url

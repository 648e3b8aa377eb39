"""Says what is not delivered yet."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from agent import locks
from agent.recovery import points_left
from agent.settings import spool_root
from agent.spool_reader import find_spools

HELP = "list what is not delivered"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--spool", type=Path, help="the folder with the spools")


def perform(chosen: argparse.Namespace) -> int:
    """List the spools and how much of each is not delivered."""
    root = chosen.spool or spool_root(os.environ)
    spools = find_spools(root)
    if not spools:
        _say(f"Everything is delivered; {root} holds no spools.")
    for spool in spools:
        state = "in use" if locks.is_held(spool.folder) else "left behind"
        pending = f"{spool.pending_bytes():,} bytes"
        # Of a process that lives they are on their way.
        points = 0 if state == "in use" else points_left(spool.folder)
        more = f"  and {points:,} points in memory" if points else ""
        _say(f"{spool.id}  {state:<11}  {pending:>20}  run {spool.run!a}{more}")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")

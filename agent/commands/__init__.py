"""`seamark`, or `python -m agent`: what can be done without changing a script."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Protocol

from agent.commands import run, status, sync, watch


class Command(Protocol):
    """What each module of this package offers."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Say what can be chosen."""

    def perform(self, chosen: argparse.Namespace) -> int:
        """Do it, and return the exit code."""


# A new command is one file and one entry here.
COMMANDS: dict[str, Command] = {
    "run": run,
    "watch": watch,
    "sync": sync,
    "status": status,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="seamark",
        description="Measure programs that nobody may change, and look after what "
        "agents have not delivered.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.add_arguments(
            commands.add_parser(name, help=command.HELP, description=command.__doc__)
        )
    chosen = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    if chosen.command is None:
        parser.print_help()
        return 0
    return COMMANDS[chosen.command].perform(chosen)

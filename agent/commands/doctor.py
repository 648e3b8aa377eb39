"""Find problems that keep data from arriving, and suggest fixes.

It changes nothing. The exit code is 1 if there is a problem; notes do not count.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict

from seamark.commands.checks.imports import look_at_import
from seamark.commands.checks.machine import look_at_machine
from seamark.commands.checks.queues import look_at_spools
from seamark.commands.checks.results import Finding, State
from seamark.commands.checks.server import look_at_server
from seamark.commands.output import (
    broken,
    clean,
    counted,
    painted,
    print_json_rows,
    say,
    terminal_width,
)
from seamark.servers import Environment

HELP = "find problems that prevent data delivery"
EXAMPLES = ("seamark doctor", "seamark doctor --json")

_CHECKS: tuple[Callable[[Environment], Iterator[Finding]], ...] = (
    look_at_server,
    look_at_spools,
    look_at_machine,
    look_at_import,
)
_MARKS = {
    State.FINE: ("ok", "green"),
    State.NOTE: ("note", "yellow"),
    State.PROBLEM: ("problem", "red"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: there are no options."""
    del parser


def perform(chosen: argparse.Namespace) -> int:
    findings = [found for check in _CHECKS for found in check(os.environ)]
    problems = sum(found.state is State.PROBLEM for found in findings)
    if chosen.json:
        checks = [{**asdict(found), "state": found.state.value} for found in findings]
        print_json_rows({"ok": not problems, "checks": checks})
    else:
        for found in findings:
            _show(found)
        say()
        say(_conclusion(problems))
    return 1 if problems else 0


def _show(found: Finding) -> None:
    mark, colour = _MARKS[found.state]
    room = terminal_width() - 10
    for number, line in enumerate(broken(clean(found.text), room)):
        shown = painted(f"{mark:<8}", colour) if number == 0 else " " * 8
        say(f"{shown}  {line}")
    for number, line in enumerate(broken(clean(found.advice), room - 3)):
        say(f"{' ' * 8}  {'   ' if number else '-> '}{line}")


def _conclusion(problems: int) -> str:
    if not problems:
        return "No problems found."
    return f"{counted(problems, 'problem')} found: data is not delivered."

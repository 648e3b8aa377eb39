"""Compares Seamark with the floor and with peers: `python -m benchmarks.peers`.

Prints a page of Markdown for each part.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.faults.case import commit
from benchmarks.peers.entrants import ENTRANTS, Driver, Entrant
from benchmarks.peers.measures import PARTS, Plan, systems

FOLDER = Path.home() / ".cache/seamark-peers"
KEYS = [entrant.key for entrant in ENTRANTS]


def main(arguments: Sequence[str]) -> None:
    options = parse(arguments)
    # So that SIGTERM stops all started processes.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    plan = Plan.quick() if options.quick else Plan()
    plan = plan.changed(
        rounds=options.rounds, seconds=options.seconds, metrics=options.metrics
    )
    with ExitStack() as stack:
        scratch = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="peers-"))
        )
        # PostgreSQL has a user of its own when we are root.
        scratch.chmod(0o755)
        drivers = []
        for entrant in chosen(options.systems):
            driver = Driver(entrant, scratch, options.folder)
            stack.callback(driver.stop)
            drivers.append(driver)
        for part in options.part or PARTS:
            for line in page(part, drivers, plan):
                print(line, flush=True)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "systems", nargs="*", metavar="SYSTEM", help=f"of {', '.join(KEYS)}; or all"
    )
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="may be repeated; or all"
    )
    parser.add_argument("--rounds", type=int, help="how often each figure is taken")
    parser.add_argument(
        "--seconds", type=float, help="about how long each system logs for a figure"
    )
    parser.add_argument(
        "--metrics", type=int, help="log only with so many a step (20 or 1000)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="short and noisy: does everything work?"
    )
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="where peers' environments lie"
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.systems) - set(KEYS):
        parser.error(f"no such system: {', '.join(sorted(unknown))}")
    return options


def chosen(keys: Sequence[str]) -> list[Entrant]:
    return [entrant for entrant in ENTRANTS if not keys or entrant.key in keys]


def page(part: str, drivers: Sequence[Driver], plan: Plan) -> Iterator[str]:
    yield f"# Seamark beside others: {part}"
    yield ""
    yield f"Printed by `python -m benchmarks.peers --part {part}`."
    yield f"{datetime.now(UTC):%-d %B %Y}, {machine()}, commit {commit()}."
    yield f"Rounds: {plan.rounds}; each system logs for about {plan.seconds:g} s a figure."
    who, measured = PARTS[part]
    yield from systems(who(drivers))
    yield from measured(who(drivers), plan)


def machine() -> str:
    python = platform.python_version()
    return f"{os.cpu_count()} cores, {platform.system()}, Python {python}"


if __name__ == "__main__":
    main(sys.argv[1:])

"""Measures points per second from the SDK until readable: `python -m benchmarks.ingest`.

Each system logs through its own SDK, from one process or several. A rate counts from
the first call until all points can be read back over the system's API. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.ingest.entrants import ENTRANTS, Answer, Driver
from benchmarks.ingest.environments import PEERS_FOLDER
from benchmarks.ingest.tables import Rate, rates_table, safe, table
from benchmarks.kills.case import commit

OURS = "Seamark, SQLite"
KEYS = [entrant.key for entrant in ENTRANTS]
# Clients, metrics a step, steps in a block.
CELLS = ((1, 20, 100), (4, 20, 100), (1, 1_000, 10), (4, 1_000, 10))


def main(arguments: Sequence[str]) -> None:
    options = parse(arguments)
    # So that SIGTERM stops all started processes.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        scratch = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="ingest-"))
        )
        # PostgreSQL runs as a separate user if the caller is root.
        scratch.chmod(0o755)
        drivers = []
        for entrant in ENTRANTS:
            if options.systems and entrant.key not in options.systems:
                continue
            driver = Driver(entrant, scratch, options.folder)
            stack.callback(driver.stop)
            drivers.append(driver)
        for line in page(drivers, options):
            print(line, flush=True)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ingest", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "systems", nargs="*", metavar="SYSTEM", help=f"of {', '.join(KEYS)}; or all"
    )
    parser.add_argument("--rounds", type=int, default=3, help="of each figure")
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="of logging for a figure, about"
    )
    parser.add_argument("--metrics", type=int, help="only with 20 or 1000 a step")
    parser.add_argument("--clients", type=int, help="only with 1 or 4 processes")
    parser.add_argument("--most-points", type=int, default=12_000_000)
    parser.add_argument(
        "--folder", type=Path, default=PEERS_FOLDER, help="where peers are installed"
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.systems) - set(KEYS):
        parser.error(f"no such system: {', '.join(sorted(unknown))}")
    return options


def page(drivers: Sequence[Driver], options: argparse.Namespace) -> Iterator[str]:
    python = f"Python {platform.python_version()}"
    yield "# Points per second, until all can be read"
    yield ""
    yield f"{datetime.now(UTC):%-d %B %Y}, {os.cpu_count()} cores, {platform.system()},"
    yield f"{python}, commit {commit()}. Rounds: {options.rounds}."
    yield ""
    yield systems_table(drivers)
    for clients, metrics, steps in CELLS:
        if options.metrics not in (None, metrics):
            continue
        if options.clients not in (None, clients):
            continue
        yield f"\n## {clients} client{'s' * (clients > 1)}, {metrics:,} metrics a step\n"
        asked = {
            "clients": clients,
            "metrics": metrics,
            "steps": steps,
            "seconds": options.seconds,
            "most_points": options.most_points,
        }
        yield rates_table(measured(drivers, options.rounds, asked), ours=OURS)


def systems_table(drivers: Sequence[Driver]) -> str:
    rows = []
    for driver in drivers:
        answer = ask(driver, "describe")
        if "error" in answer:
            rows.append([driver.entrant.label, f"not measured: {answer['error']}"])
            continue
        cells = (answer[key] for key in ("release", "writing", "reading"))
        rows.append([driver.entrant.label, *cells])
    return table(["system", "version", "written by", "read by"], rows, rule="---")


def measured(
    drivers: Sequence[Driver], rounds: int, asked: dict[str, object]
) -> list[Rate]:
    """Alternate the systems in each round, so that disturbances affect all of them."""
    outcomes: dict[Driver, list[Answer]] = defaultdict(list)
    for _ in range(rounds):
        for driver in drivers:
            if not any("error" in outcome for outcome in outcomes[driver]):
                outcomes[driver].append(ask(driver, "ingest", **asked))
    return [_rate(driver.entrant.label, found) for driver, found in outcomes.items()]


def ask(driver: Driver, job: str, **arguments: object) -> Answer:
    print(f"{driver.entrant.key}: {job} {arguments or ''}", file=sys.stderr, flush=True)
    answer = driver.ask(job, **arguments)
    if "error" in answer:
        print(f"{driver.entrant.key}: {answer['error']}", file=sys.stderr, flush=True)
    return answer


def _rate(label: str, outcomes: Sequence[Answer]) -> Rate:
    for outcome in outcomes:
        if "error" in outcome:
            return Rate(label, error=safe(outcome["error"]))
    speeds = [outcome["points"] / outcome["seconds"] for outcome in outcomes]
    return Rate(label, speeds, outcomes[-1]["points"])


if __name__ == "__main__":
    main(sys.argv[1:])

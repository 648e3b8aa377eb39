"""Measures the tracker under the load of many clients: `python -m benchmarks.load`.

Prints one Markdown table; docs/benchmarks.md has the results.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from benchmarks.faults.case import POSTGRESQL, SQLITE, commit
from benchmarks.load import backlog, steady
from benchmarks.load.case import Size
from benchmarks.load.table import Bound, Row, rows_table
from benchmarks.load.tracker import Tracker, running

BOTH = (SQLITE, POSTGRESQL)


@dataclass(frozen=True, slots=True)
class Case:
    title: str
    databases: Sequence[str]
    size: Size
    measure: Callable[[str, Tracker, Size, str], list[Row]]


CASES = {
    "LD-01": Case(
        "embedded mode, at a steady rate",
        (SQLITE,),
        Size(clients=200, rate=20_000),
        steady.at_a_rate,
    ),
    "LD-02": Case(
        "PostgreSQL and several web processes, at a steady rate",
        (POSTGRESQL,),
        Size(clients=200, rate=100_000),
        steady.at_a_rate,
    ),
    "LD-03": Case(
        "very many clients with little each",
        BOTH,
        Size(clients=1_000, rate=20_000, every_seconds=5.0),
        steady.of_many,
    ),
    "LD-04": Case(
        "all clients come back at once with what they could not send",
        BOTH,
        Size(clients=1_000, rate=160_000, metrics=40),
        backlog.come_back,
    ),
}


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    # So that SIGTERM stops all started processes.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rows = []
    for name in options.cases or CASES:
        for database in CASES[name].databases:
            if options.database in (None, database):
                print(f"{name} on {database} …", file=sys.stderr, flush=True)
                rows += perform(name, database, options)
    print(f"{os.cpu_count()} cores, {platform.system()}, commit {commit()}.\n")
    print(rows_table(rows))
    return 1 if any(row.holds is False for row in rows) else 0


def perform(name: str, database: str, options: argparse.Namespace) -> list[Row]:
    case = CASES[name]
    size = changed(case.size, options)
    with tempfile.TemporaryDirectory(prefix="seamark-load-") as folder:
        try:
            processes = 1 if database == SQLITE else size.web_processes
            with running(database, Path(folder), web_processes=processes) as tracker:
                return case.measure(name, tracker, size, database)
        except Exception as error:  # noqa: BLE001 - one that ends so has failed; the others go on
            traceback.print_exc()
            ended = Bound(f"ended with {type(error).__name__}", holds=False)
            return [Row(name, database, case.title, [], [ended])]


def changed(size: Size, options: argparse.Namespace) -> Size:
    """Return the case's size with the given options applied."""
    asked = {
        field.name: value
        for field in fields(Size)
        if (value := getattr(options, field.name, None)) is not None
    }
    return replace(size, **asked)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.load",
        description=(__doc__ or "").splitlines()[0],
        epilog="Without an option, each case has its own size.",
    )
    titles = "; ".join(f"{name}: {case.title}" for name, case in CASES.items())
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"{titles}; or all")
    parser.add_argument("--database", choices=BOTH)
    for name, kind, words in (
        ("clients", int, "how many"),
        ("rate", float, "points a second that all clients log together"),
        ("metrics", int, "of each client"),
        ("every-seconds", float, "each client sends a batch"),
        ("seconds", float, "of LD-01 to LD-03"),
        ("backlog-minutes", float, "of LD-04, that each client has to make up for"),
        ("most-seconds", float, "of LD-04, after which it is given up"),
        ("quiet-seconds", float, "of LD-04, before all come back"),
        ("live-clients", int, "of LD-04, which log as on any other day"),
        ("viewers", int, "of LD-04, who look at pages"),
        ("web-processes", int, "of PostgreSQL; SQLite has one"),
    ):
        parser.add_argument(f"--{name}", type=kind, help=words, metavar="N")
    parser.add_argument(
        "--worker-stays",
        action="store_true",
        default=None,
        help="of LD-04: it is not away until the server refuses",
    )
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.cases) - set(CASES)):
        parser.error(f"there is no case {', '.join(unknown)}")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

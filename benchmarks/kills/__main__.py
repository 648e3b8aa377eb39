"""Shows that no acknowledged point is lost or doubled, with processes that are killed.

.venv/bin/python -m benchmarks.kills [case …] [--rounds N]

A case is called by its name or by its number, such as SF-01. Prints a Markdown table;
ends with 1 if one does not hold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from benchmarks.kills import cases, report, scripts
from benchmarks.kills.case import (
    POSTGRESQL,
    SEED,
    SQLITE,
    Case,
    Result,
    Size,
    commit,
)

BOTH = (SQLITE, POSTGRESQL)

CASES = {
    "web-killed": Case(
        "kill -9 of a random web process during ingest",
        cases.web_killed,
        BOTH,
        100,
        number="SF-01",
        in_full="500 kills",
        clients=16,
    ),
    "worker-killed": Case(
        "kill -9 of the worker during compaction", cases.worker_killed, BOTH, 200
    ),
    "tree-killed": Case(
        "kill -9 of the supervisor and all it started, during ingest and compaction",
        cases.tree_killed,
        (SQLITE,),
        100,
        number="SF-03",
        in_full="500 kills",
    ),
    "script-killed": Case(
        "kill -9 of a training script, whose rest is then delivered",
        scripts.script_killed,
        BOTH,
        200,
    ),
    "database-stopped": Case(
        "PostgreSQL stopped at once during ingest",
        cases.database_stopped,
        (POSTGRESQL,),
        50,
        number="SF-02",
    ),
    "everything-fails": Case(
        "kills, stopped processes and restarts at random, while all is read",
        cases.everything_fails,
        BOTH,
        180,
        unit="seconds",
    ),
}
NUMBERS = {case.number: name for name, case in CASES.items() if case.number}


def main() -> int:
    options = read_options()
    print(f"seed {options.seed}, commit {commit()}\n\n{report.head()}", flush=True)
    passed = True
    for name in options.cases or CASES:
        case = CASES[name]
        for database in case.databases:
            if options.database in (None, database):
                passed &= perform(name, case, database, options)
    print(report.EXPLANATION, end="")
    return 0 if passed else 1


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.kills", description=__doc__)
    known = ", ".join(
        f"{name} ({case.number})" if case.number else name
        for name, case in CASES.items()
    )
    parser.add_argument("cases", nargs="*", metavar="case", help=known)
    parser.add_argument(
        "--rounds", type=int, help="instead of each case's own; seconds or times too"
    )
    parser.add_argument(
        "--clients", type=int, help="that log at once, instead of each case's own"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--database", choices=BOTH)
    options = parser.parse_args()
    options.cases = [NUMBERS.get(case, case) for case in options.cases]
    if unknown := sorted(set(options.cases) - set(CASES)):
        parser.error(f"there is no case {', '.join(unknown)}")
    return options


def perform(name: str, case: Case, database: str, options: argparse.Namespace) -> bool:
    """Run a case in a separate folder and print its result."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="seamark-kills-") as folder:
        size = Size(
            folder=Path(folder),
            rounds=options.rounds or case.rounds,
            clients=options.clients or case.clients,
            seed=options.seed,
        )
        try:
            result = case.run(size, database)
        except Exception:  # noqa: BLE001 - a case that ends so has failed; the others go on
            traceback.print_exc()
            result = Result({"ended": "with an error"}, {"ended": "as it should"})
    seconds = time.monotonic() - started
    print(report.row(name, case, database, size, result, seconds=seconds), flush=True)
    return result.passed


if __name__ == "__main__":
    sys.exit(main())

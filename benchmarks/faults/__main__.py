"""Shows that no acknowledged point is lost or doubled, with processes that are killed.

.venv/bin/python -m benchmarks.faults [case …] [--rounds N]

A case is called by its name or by its number, such as SF-01. Prints a Markdown table, and
writes one line of JSON for each case to the results file; ends with 1 if one does not hold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from benchmarks.faults import kills, repeats, report, scripts
from benchmarks.faults.case import (
    POSTGRESQL,
    SEED,
    SQLITE,
    Case,
    Result,
    Size,
    commit,
    line,
)
from tracker.server.processes import ROOT

BOTH = (SQLITE, POSTGRESQL)
RESULTS = ROOT / "benchmarks/faults/results.jsonl"

CASES = {
    "web-killed": Case(
        "kill -9 of a random web process during ingest",
        kills.web_killed,
        BOTH,
        100,
        number="SF-01",
        in_full="500 kills",
        clients=16,
    ),
    "worker-killed": Case(
        "kill -9 of the worker during compaction", kills.worker_killed, BOTH, 200
    ),
    "tree-killed": Case(
        "kill -9 of the supervisor and all it started, during ingest and compaction",
        kills.tree_killed,
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
        kills.database_stopped,
        (POSTGRESQL,),
        50,
        number="SF-02",
    ),
    "everything-fails": Case(
        "kills, stopped processes and restarts at random, while all is read",
        kills.everything_fails,
        BOTH,
        180,
        unit="seconds",
    ),
    "same-at-once": Case(
        "the same batch and the same opening many times at once",
        repeats.same_at_once,
        BOTH,
        100,
        unit="times",
        number="SF-05",
    ),
    "shuffled": Case(
        "batches in any order, and delayed",
        repeats.shuffled,
        BOTH,
        20,
        unit="spools",
        number="SF-06",
    ),
    "contradicted": Case(
        "stored numbers sent again with another content",
        repeats.contradicted,
        BOTH,
        20,
        unit="spools",
        number="SF-07",
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
    parser = argparse.ArgumentParser(prog="benchmarks.faults", description=__doc__)
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
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.cases = [NUMBERS.get(case, case) for case in options.cases]
    if unknown := sorted(set(options.cases) - set(CASES)):
        parser.error(f"there is no case {', '.join(unknown)}")
    return options


def perform(name: str, case: Case, database: str, options: argparse.Namespace) -> bool:
    """Run a case in a folder of its own, print it and write it down."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="seamark-faults-") as folder:
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
    options.results.parent.mkdir(parents=True, exist_ok=True)
    with options.results.open("a", encoding="utf-8") as file:
        file.write(line(name, database, size, result) + "\n")
    return result.passed


if __name__ == "__main__":
    sys.exit(main())

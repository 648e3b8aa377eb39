"""Runs the tests of a guarantee with many examples, and counts them.

    python -m benchmarks.promises
    python -m benchmarks.promises SF-08 --examples 20000 --database PostgreSQL

Prints a Markdown table; exits with 1 if a guarantee is violated.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.case import POSTGRESQL, commit
from benchmarks.load.table import Bound, Row, rows_table
from benchmarks.promises import counting
from benchmarks.promises.cases import BOTH, CASES, Case
from tests.__main__ import isolated
from tests.services import PostgreSQL
from tracker.server.processes import ROOT


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a test process: tests by outcome, and the number of examples."""

    tests: Mapping[str, int]
    tried: Mapping[str, int]
    failed: Sequence[str]
    seconds: float
    ended_well: bool


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    # So that SIGTERM stops all started processes.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rows = []
    with ExitStack() as stack:
        server: PostgreSQL | None = None
        for name in options.cases or CASES:
            case = CASES[name]
            for database in case.databases:
                if options.database not in (None, database):
                    continue
                if database == POSTGRESQL and server is None:
                    server = stack.enter_context(PostgreSQL())
                url = server.url if server and database == POSTGRESQL else ""
                print(f"{name} on {database} …", file=sys.stderr, flush=True)
                examples = options.examples or case.examples
                outcome = look(case, url, examples)
                print(*outcome.failed, sep="\n", end="", file=sys.stderr)
                rows.append(row_of(name, case, database, outcome, examples))
    print(f"{os.cpu_count()} cores, {platform.system()}, commit {commit()}.\n")
    print(rows_table(rows))
    return 1 if any(row.holds is False for row in rows) else 0


def look(case: Case, url: str, examples: int) -> Outcome:
    """Run the case's tests in a process of their own, with so many examples each."""
    with tempfile.TemporaryDirectory(prefix="seamark-promises-") as folder:
        counted = Path(folder) / "counted.json"
        environment = isolated(Path(folder)) | {
            counting.FILE: str(counted),
            "TEST_DATABASE_URL": url,
        }
        if case.counted:
            environment[case.variable] = str(examples)
        began = time.monotonic()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-q", "--timeout=0"),
                *("-p", "benchmarks.promises.counting", "-p", "no:cacheprovider"),
                *(("-m", "database") if url else ()),
                *case.tests,
            ],
            cwd=ROOT,
            env=environment,
            # Progress output is not part of the table.
            stdout=sys.stderr,
            check=False,
        )
        found = json.loads(counted.read_text("utf-8")) if counted.exists() else {}
    return Outcome(
        Counter(found.get("tests", {})),
        Counter(found.get("tried", {})),
        found.get("failed", ()),
        time.monotonic() - began,
        ended_well=done.returncode == 0,
    )


def row_of(
    name: str, case: Case, database: str, outcome: Outcome, examples: int
) -> Row:
    passed, failed = outcome.tests["passed"], outcome.tests["failed"]
    tried = [f"{many:,} {what}" for what, many in sorted(outcome.tried.items())]
    in_full = f"; in full {case.in_full}" if case.in_full else ""
    asked = f", {examples:,} examples of each" if case.counted else ""
    return Row(
        name,
        database,
        f"{case.title}: {passed + failed} tests{asked}{in_full}",
        [*tried, f"{failed} failed", f"{outcome.seconds:.0f} s"],
        list(bounds_of(case, outcome)),
    )


def bounds_of(case: Case, outcome: Outcome) -> Iterator[Bound]:
    failed = outcome.tests["failed"]
    yield Bound("0 failed", not failed and outcome.ended_well)
    yield Bound("0 skipped", not outcome.tests["skipped"])
    if case.counted:
        yield Bound(f"{case.counted} were tried", outcome.tried[case.counted] > 0)
    else:
        yield Bound("tests were run", outcome.tests["passed"] > 0)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.promises",
        description=(__doc__ or "").splitlines()[0],
    )
    titles = "; ".join(f"{name}: {case.title}" for name, case in CASES.items())
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"{titles}; or all")
    parser.add_argument("--database", choices=BOTH)
    parser.add_argument(
        "--examples", type=int, help="of each test, instead of each case's own"
    )
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.cases) - set(CASES)):
        parser.error(f"there is no case {', '.join(unknown)}")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Measures requests to a run with very many metrics: answers are paged and small.

    python -m benchmarks.many_metrics
    python -m benchmarks.many_metrics --each 1000000 --database PostgreSQL

Uses SQLite in a temporary folder, a new PostgreSQL, or the empty database in
SEAMARK_DATABASE_URL. The whole application answers, in this process and without a
network. Prints a Markdown table; exits with 1 if a bound is exceeded.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from typing import Any

import numpy as np
from django.core.management import call_command
from django.db import connection

from benchmarks import database
from benchmarks.load.table import Bound, Row, rows_table

# It sets up Django, so import it before modules with models.
from benchmarks.reading import Reader, fill, make_run
from tracker.models import Run

CASE = "LD-05"
POINTS_IN_FULL = 1_000_000
# Metrics per call; runs of so many metrics log many at once.
GROUP = 100
# Bounds of each answer.
MAX_SECONDS, MAX_BYTES = 0.5, 2_000_000
FORMATS = ("json", "binary")
BUCKETS = (10, 100, 500)
MAX_BUCKETS, MAX_PATHS = 10_000, 200


class Asker(Reader):
    """Sends all requests, including those that must be rejected."""

    # Any: query parameters, and answers of Django's test client.
    def ask(self, address: str, **query: Any) -> Any:
        return self._client.get(address, query)

    def series(self, run: Run, **query: Any) -> Any:
        # A number that no question had before, so that no answer is remembered.
        asked = {"run": str(run.id), "number": next(self._numbers), **query}
        return self.ask(f"{self._address}series", **asked)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--metrics", type=int, default=10_000, metavar="SERIES")
    parser.add_argument("--each", type=int, default=10_000, metavar="POINTS")
    parser.add_argument("--rounds", type=int, default=40)
    database.add_option(parser)
    options = parser.parse_args()

    call_command("migrate", verbosity=0)
    asker = Asker()
    run = make_run(asker.project)
    paths = [f"metric/{number:05}" for number in range(options.metrics)]
    began = time.monotonic()
    for low in range(0, len(paths), GROUP):
        fill(run, paths[low : low + GROUP], options.each)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # As its own janitor would sooner or later.
            cursor.execute("VACUUM ANALYZE")
    print(
        f"{options.metrics:,} metrics, {options.each:,} points each, written in"
        f" {time.monotonic() - began:,.0f} s; in full {POINTS_IN_FULL:,} points each.\n"
    )
    rows = [
        *(timed(name, ask, options.rounds) for name, ask in questions(asker, run)),
        walked(asker, run, options.metrics),
        *refusals(asker, run),
    ]
    print(rows_table(rows))
    return 1 if any(row.holds is False for row in rows) else 0


def questions(asker: Asker, run: Run) -> Iterator[tuple[str, Callable[[], Any]]]:
    for buckets in BUCKETS:
        for kind in FORMATS:
            yield (
                f"charts of all, first page, {buckets} buckets, {kind}",
                partial(asker.series, run, buckets=buckets, format=kind),
            )
    middle = f"metric/{run.attributes.count() // 2:05}"
    yield (
        "charts of all, a page in the middle, 100 buckets, json",
        partial(asker.series, run, buckets=100, cursor=f"{run.id}:{middle}"),
    )
    yield (
        f"one chart, {MAX_BUCKETS:,} buckets, json",
        partial(asker.series, run, path="metric/00000", buckets=MAX_BUCKETS),
    )
    yield (
        "the run's attributes, first page",
        partial(asker.ask, f"/api/v1/runs/{run.id}/attributes"),
    )


def timed(name: str, ask: Callable[[], Any], rounds: int) -> Row:
    spent, largest = [], 0
    for _ in range(rounds):
        began = time.perf_counter()
        answer = ask()
        spent.append(time.perf_counter() - began)
        assert answer.status_code == HTTPStatus.OK, answer.content
        largest = max(largest, len(answer.content))
    p50, p95 = np.percentile(spent, [50, 95])
    return row(
        name,
        [
            f"first {1e3 * spent[0]:.1f} ms",
            f"p50 {1e3 * p50:.1f} ms",
            f"p95 {1e3 * p95:.1f} ms",
            f"{largest / 1e3:,.1f} kB",
        ],
        Bound(f"p95 ≤ {1e3 * MAX_SECONDS:.0f} ms", bool(p95 <= MAX_SECONDS)),
        Bound(f"≤ {MAX_BYTES / 1e6:g} MB", largest <= MAX_BYTES),
    )


def walked(asker: Asker, run: Run, metrics: int) -> Row:
    """Follow `next` through all series, and see each of them once."""
    found: list[str] = []
    pages, largest, cursor = 0, 0, "0"
    began = time.monotonic()
    while cursor is not None:
        answer = asker.series(run, buckets=min(BUCKETS), cursor=cursor)
        assert answer.status_code == HTTPStatus.OK, answer.content
        told = answer.json()
        found += [series["path"] for series in told["series"]]
        pages, largest = pages + 1, max(largest, len(answer.content))
        cursor = told["next"]
    seconds = time.monotonic() - began
    return row(
        f"charts of all, page by page, {min(BUCKETS)} buckets",
        [f"{pages} pages", f"{seconds:.1f} s", f"at most {largest / 1e3:,.1f} kB"],
        Bound("each series once", len(found) == len(set(found)) == metrics),
        Bound(f"≤ {MAX_BYTES / 1e6:g} MB", largest <= MAX_BYTES),
    )


def refusals(asker: Asker, run: Run) -> Iterator[Row]:
    paths = [f"metric/{number:05}" for number in range(MAX_PATHS + 1)]
    questions: list[tuple[str, dict[str, object]]] = [
        (f"more than {MAX_BUCKETS:,} buckets", {"buckets": MAX_BUCKETS + 1}),
        (f"more than {MAX_PATHS} paths", {"path": paths}),
    ]
    for name, query in questions:
        answer = asker.series(run, **query)
        refused = answer.status_code == HTTPStatus.BAD_REQUEST
        yield row(name, [str(answer.status_code)], Bound("refused", refused))


def row(name: str, figures: list[str], *bounds: Bound) -> Row:
    return Row(CASE, connection.vendor, name, figures, bounds)


if __name__ == "__main__":
    sys.exit(main())

"""Accounts for each byte on disk.

    python -m benchmarks.space --database PostgreSQL --metrics 100 --steps 500000

A long run of each kind of values is logged, and compacted like a worker does. The table
separates numbers, buckets for charts, row headers, indexes, and fixed costs of the
database. SQLite needs `dbstat`, as in most builds. Prints Markdown; exits with 1 if a
kind of values exceeds its goal.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np
from django.core.management import call_command
from django.db import connection

from benchmarks import database
from benchmarks.peers.workload import CONSTANT, HARDWARE, KINDS, LOSS
from benchmarks.space.table import (
    INDEXES,
    PAYLOAD,
    POSTGRES_KINDS,
    ROWS,
    Sizes,
    all_hold,
    parts_of,
    table,
    verdicts,
)

# It sets up Django, so import it before modules with models.
from benchmarks.store import clocks, make_run, make_series, write
from tracker.embedded.sqlite.space import give_space_back
from tracker.models import Run, SeriesChunk, SeriesTicks, State
from tracker.series import codec
from tracker.series.columns import Reader
from tracker.series.compaction import compact_run
from tracker.series.table import Table

STEPS_OF_AN_ENTRY = 1_000
# Points of a backlog that is compacted at once.
POINTS_OF_A_BACKLOG = 1_000_000
# Before: enough that each of the sixteen partitions has had several, and long enough
# that PostgreSQL takes their bytes out of their rows.
SHORT_RUNS, SHORT_STEPS = 100, 2_000
# Bytes per point below which a fixed cost is ignored.
NOTHING = 0.01

CLOCKS = {LOSS: "each 50 ms ± 2 ms", HARDWARE: "each second ± 0.2 ms"}
CLOCKS[CONSTANT] = CLOCKS[LOSS]
# Per table: pages of rows, of TOAST, of TOAST's index, of indexes, and the free space
# and visibility maps.
POSTGRES_PARTS = """
SELECT coalesce(parent.relname, part.relname),
    sum(pg_relation_size(part.oid)),
    sum(coalesce(pg_relation_size(toast.oid), 0)),
    sum(coalesce(pg_indexes_size(toast.oid), 0)),
    sum(pg_indexes_size(part.oid)),
    sum(pg_total_relation_size(part.oid) - pg_relation_size(part.oid)
        - pg_indexes_size(part.oid) - coalesce(pg_relation_size(toast.oid), 0)
        - coalesce(pg_indexes_size(toast.oid), 0))
FROM pg_class AS part
LEFT JOIN pg_inherits ON inhrelid = part.oid
LEFT JOIN pg_class AS parent ON parent.oid = inhparent
LEFT JOIN pg_class AS toast ON toast.oid = part.reltoastrelid
WHERE part.relkind = 'r'
GROUP BY 1
"""
SQLITE_PARTS = """
SELECT coalesce(tbl_name, dbstat.name), coalesce(type, 'table'), sum(pgsize)
FROM dbstat LEFT JOIN sqlite_master USING (name) GROUP BY 1, 2
"""

random = np.random.default_rng(0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--metrics", type=int, default=20, metavar="SERIES")
    parser.add_argument("--steps", type=int, default=100_000, metavar="STEPS")
    database.add_option(parser)
    options = parser.parse_args()

    call_command("migrate", verbosity=0)
    settle()
    empty = sizes().total()
    for _ in range(SHORT_RUNS):
        log(LOSS, 2, SHORT_STEPS)
    settle()
    once = sizes().total()
    found = [measured(kind, options.metrics, options.steps) for kind in KINDS]

    print(f"{connection.vendor}, Python {sys.version.split()[0]}\n")
    for line in table(found, options.metrics, options.steps):
        print(line)
    print("\nAll of these, without what the next run takes again:\n")
    points = options.metrics * options.steps
    for line in verdicts(found, points):
        print(line)
    print(
        f"\nAn empty database takes {empty / 1e6:.1f} MB, one that has held"
        f" {SHORT_RUNS} short runs {once / 1e6:.1f} MB. Of"
        f" {once / NOTHING / 1e6:,.0f} million points that is {NOTHING} bytes each."
    )
    return 0 if all_hold(found, points) else 1


def measured(kind: str, metrics: int, steps: int) -> Counter[str]:
    """Return the bytes of a run of this kind, by part."""
    before = sizes()
    run = log(kind, metrics, steps)
    settle()
    grown = sizes()
    grown.subtract(before)
    return parts_of(payload(run), grown)


def log(kind: str, metrics: int, steps: int) -> Run:
    run = make_run()
    ids = np.array(make_series(run, metrics))
    clock = dict(clocks(steps))[CLOCKS[kind]]
    waiting = 0
    for number, start in enumerate(range(0, steps, STEPS_OF_AN_ENTRY), start=1):
        part = slice(start, min(steps, start + STEPS_OF_AN_ENTRY))
        numbers = np.arange(float(part.start), float(part.stop))
        logged = Table(ids, numbers, clock[part], values(kind, metrics, numbers))
        write(run, logged, number)
        waiting += logged.point_count
        if waiting >= POINTS_OF_A_BACKLOG:
            compact_run(run.id)
            waiting = 0
    Run.objects.filter(id=run.id).update(state=State.FINISHED)
    while compact_run(run.id):
        pass
    return run


def values(kind: str, metrics: int, steps: np.ndarray) -> np.ndarray:
    shape = metrics, len(steps)
    if kind == CONSTANT:
        return np.full(shape, 3e-4)
    if kind == HARDWARE:
        return random.normal(70, 8, shape).clip(0, 100).round(1)
    noisy = np.exp(-steps / 3_000) + random.normal(0, 0.05, shape)
    return noisy.astype(np.float32).astype(np.float64)


def payload(run: Run) -> Counter[str]:
    """Return the bytes of the run's numbers, by kind."""
    parts = Counter(dict.fromkeys(PAYLOAD, 0))
    for data, overview in SeriesChunk.objects.filter(run=run).values_list(
        "data", "overview"
    ):
        parts["values"] += len(data)
        parts["buckets of values"] += len(overview)
    for data, overview in SeriesTicks.objects.filter(run=run).values_list(
        "data", "overview"
    ):
        reader = Reader(
            codec.unseal(codec.TICKS_MAGIC, (codec.TICKS_VERSION,), data)[1]
        )
        reader.take(4)  # their count
        times = len(data) - len(codec.take_framed(reader))
        parts["steps"] += len(data) - times
        parts["times"] += times
        parts["buckets of ticks"] += len(overview)
    return parts


def settle() -> None:
    """Run the maintenance of idle periods."""
    if connection.vendor == "sqlite":
        give_space_back(seconds=20)
        return
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")


def sizes() -> Sizes:
    """Return the size of each part of each table."""
    return Sizes(dict(_sizes()))


def _sizes() -> Iterator[tuple[tuple[str, str], int]]:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(SQLITE_PARTS)
            for name, kind, size in cursor.fetchall():
                yield (name, ROWS if kind == "table" else INDEXES), size
            cursor.execute("PRAGMA freelist_count")
            pages = cursor.fetchone()[0]
            cursor.execute("PRAGMA page_size")
            yield ("free", ROWS), pages * cursor.fetchone()[0]
            return
        cursor.execute(POSTGRES_PARTS)
        for name, *parts in cursor.fetchall():
            for kind, size in zip(POSTGRES_KINDS, parts, strict=True):
                yield (name, kind), int(size)


if __name__ == "__main__":
    sys.exit(main())

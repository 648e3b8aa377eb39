"""Measures the series store: bytes per point, points per second, chart times.

    python -m benchmarks.store

Uses SQLite in a temporary folder, a new PostgreSQL (--database PostgreSQL), or the
empty database in SEAMARK_DATABASE_URL. Prints a table; asserts nothing.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

import numpy as np

from benchmarks import database

# Settings read the environment when Django loads, below.
os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
database.start()
FOLDER = tempfile.mkdtemp(prefix="seamark-benchmark-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
os.environ["SEAMARK_DATA"] = FOLDER

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from tracker.models import (  # noqa: E402
    Attribute,
    JournalEntry,
    Kind,
    Project,
    Run,
    SeriesChunk,
    SeriesTicks,
    Spool,
    Stage,
    State,
    Workspace,
)
from tracker.queries.series.series import read_line, read_lines  # noqa: E402
from tracker.series import codec, journal  # noqa: E402
from tracker.series.codec import CHUNK_POINTS  # noqa: E402
from tracker.series.compaction import compact_run  # noqa: E402
from tracker.series.downsample import bucket_starts, summarise_rows, summarise_ticks  # noqa: E402
from tracker.series.table import Table  # noqa: E402

START = int(datetime(2026, 1, 2, tzinfo=UTC).timestamp()) * 1_000_000
ENTRY_POINTS = 100_000
ROUNDS = 9

# Ten steps per second, compacted every five seconds and vacuumed every minute.
TICKS_OF_A_PASS = 50
PASSES_OF_A_VACUUM = 12
# All includes the maps of free space and of visibility.
SIZES = """
SELECT parent.relname, sum(pg_relation_size(part.oid)),
    sum(coalesce(pg_total_relation_size(nullif(part.reltoastrelid, 0)), 0)),
    sum(pg_indexes_size(part.oid)), sum(pg_total_relation_size(part.oid))
FROM pg_inherits
JOIN pg_class AS part ON part.oid = inhrelid
JOIN pg_class AS parent ON parent.oid = inhparent AND parent.relkind = 'p'
GROUP BY parent.relname ORDER BY parent.relname
"""

random = np.random.default_rng(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--longest", type=int, default=10_000_000, metavar="POINTS")
    database.add_option(parser)
    longest = parser.parse_args().longest

    print(f"{connection.vendor}, one process, Python {sys.version.split()[0]}")
    measure_codec()
    measure_journal()
    call_command("migrate", verbosity=0)
    measure_compaction()
    if connection.vendor == "postgresql":
        measure_tables()
    measure_logged_together()
    measure_reading(longest)


def measure_codec() -> None:
    print(
        f"\n| chunk of {CHUNK_POINTS:,} values | bytes/point | + overview | encode | decode |"
    )
    print("|---|---|---|---|---|")
    steps = np.arange(float(CHUNK_POINTS))
    for name, values in columns():
        data = codec.encode(values)
        rows = summarise_rows(values[np.newaxis], bucket_starts(len(values)))
        its_own = {key: many[0] for key, many in rows.items()}
        overview = codec.encode_overview(its_own, values)
        decode = partial(codec.decode, data, (steps, steps.astype(np.int64)))
        show_codec(name, data, overview, partial(codec.encode, values), decode)

    print("\n| ticks of a chunk | bytes/tick | + overview | encode | decode |")
    print("|---|---|---|---|---|")
    for name, times in clocks():
        data = codec.encode_ticks(steps, times)
        overview = codec.encode_ticks_overview(
            summarise_ticks(steps, times, bucket_starts(len(steps)))
        )
        encode = partial(codec.encode_ticks, steps, times)
        show_codec(name, data, overview, encode, partial(codec.decode_ticks, data))


def show_codec(
    name: str,
    data: bytes,
    overview: bytes,
    encode: Callable[[], object],
    decode: Callable[[], object],
) -> None:
    cells = [
        name,
        f"{len(data) / CHUNK_POINTS:.2f}",
        f"{(len(data) + len(overview)) / CHUNK_POINTS:.2f}",
        rate(CHUNK_POINTS, encode),
        rate(CHUNK_POINTS, decode),
    ]
    print("|", " | ".join(cells), "|")


def columns() -> Iterator[tuple[str, np.ndarray]]:
    count = CHUNK_POINTS
    loss = np.exp(-np.arange(count) / 3_000) + random.normal(0, 0.05, count)
    yield "loss, float32", loss.astype(np.float32).astype(np.float64)
    yield "loss, float64", loss
    yield "constant", np.full(count, 3e-4)
    yield "percentages, tenths", np.clip(random.normal(70, 8, count), 0, 100).round(1)
    yield "percentages, whole", np.clip(random.normal(70, 8, count), 0, 100).round()


def clocks(count: int = CHUNK_POINTS) -> Iterator[tuple[str, np.ndarray]]:
    ticks = START + np.arange(count) * 1_000_000
    yield "each second", ticks
    yield "each second ± 0.2 ms", ticks + random.integers(0, 400, count)
    spent = random.normal(50_000, 2_000, count).astype(np.int64)
    yield "each 50 ms ± 2 ms", START + np.cumsum(spent)


def measure_journal() -> None:
    print("\n| journal entry | bytes/point | encode | decode |")
    print("|---|---|---|---|")
    for series, count in ((20, 50), (1_000, 1), (1, 100_000)):
        entry = [some_table(range(series), count)]
        data = journal.encode(entry)
        cells = [
            f"{series:,} series × {count:,}",
            f"{len(data) / (series * count):.2f}",
            rate(series * count, partial(journal.encode, entry)),
            rate(series * count, partial(journal.decode, data)),
        ]
        print("|", " | ".join(cells), "|")


def measure_compaction() -> None:
    print("\n| compaction of | points/s | memory | bytes/point in tables |")
    print("|---|---|---|---|")
    for series, count, entries in (
        (1, 100_000, 10),
        (20, 5_000, 10),
        (1_000, 10, 20),
        (1_000, 1_000, 10),
        (50_000, 1, 20),
    ):
        run = make_run_of_entries(series, count, entries)
        began = time.perf_counter()
        moved = compact_wholly(run)
        seconds = time.perf_counter() - began
        Run.objects.filter(id=run.id).update(state=State.FINISHED)
        began = time.perf_counter()
        compact_run(run.id)
        joining = time.perf_counter() - began

        # Once more, as looking at memory takes time.
        other = make_run_of_entries(series, count, entries)
        tracemalloc.start()
        compact_wholly(other)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        name = f"{entries} entries of {series:,} series × {count:,}"
        print(
            f"| {name} | {moved / seconds:,.0f} ({moved / (seconds + joining):,.0f}"
            f" with joining) | {most / 2**20:.0f} MiB |"
            f" {stored_bytes(run) / moved:.2f} |"
        )


def make_run_of_entries(series: int, count: int, entries: int) -> Run:
    run = make_run()
    ids = make_series(run, series)
    for entry in range(entries):
        write(run, some_table(ids, count, entry * count), entry + 1)
    return run


def compact_wholly(run: Run) -> int:
    moved = 0
    while passed := compact_run(run.id):
        moved += passed
    return moved


def measure_logged_together() -> None:
    """Measure bytes per point of twenty series with shared steps, after the run."""
    print("\n| 20 series × 100,000, logged together | bytes/point in tables |")
    print("|---|---|")
    count = 100_000
    loss = np.exp(-np.arange(count) / 30_000) + random.normal(0, 0.05, (20, count))
    kinds = {
        "losses, float32, each 50 ms ± 2 ms": loss.astype(np.float32).astype(float),
        "constants, each 50 ms ± 2 ms": np.full((20, count), 3e-4),
        "percentages, tenths, each second ± 0.2 ms": np.clip(
            random.normal(70, 8, (20, count)), 0, 100
        ).round(1),
    }
    for name, values in kinds.items():
        run = make_run()
        ids = make_series(run, len(values))
        clock = dict(clocks(count))[name.rpartition(", ")[2]]
        table = Table(np.array(ids), np.arange(float(count)), clock, values)
        for number, part in enumerate(table.cut(5_000), start=1):
            write(run, part, number)
            compact_run(run.id)
        Run.objects.filter(id=run.id).update(state=State.FINISHED)
        compact_run(run.id)
        print(f"| {name} | {stored_bytes(run) / values.size:.2f} |")


def measure_tables() -> None:
    """Measure each PostgreSQL table of a live run's points, and its free space."""
    print(
        "\n| 20 losses × 60,000, compacted as they come: bytes/point | rows | TOAST"
        " | indexes | all | all, written anew |"
    )
    print("|---|---|---|---|---|---|")
    # Remove free space of earlier runs, so that it is not attributed to this one.
    carry_out("VACUUM FULL")
    before = sizes()
    run = make_run()
    table = some_table(make_series(run, 20), 60_000)
    for number, part in enumerate(table.cut(TICKS_OF_A_PASS), start=1):
        write(run, part, number)
        compact_run(run.id)
        if number % PASSES_OF_A_VACUUM == 0:
            carry_out("VACUUM")
    Run.objects.filter(id=run.id).update(state=State.FINISHED)
    compact_run(run.id)
    carry_out("VACUUM")
    settled = sizes()
    carry_out("VACUUM FULL")
    anew = sizes()
    for name, empty in before.items():
        kept, first = settled[name] + anew[name][-1:], empty + empty[-1:]
        cells = [
            f"{(after - new) / table.point_count:.2f}"
            for after, new in zip(kept, first, strict=True)
        ]
        print(f"| {name} |", " | ".join(cells), "|")


def carry_out(statement: str) -> None:
    """Tidy up the tables that compaction changes."""
    with connection.cursor() as cursor:
        cursor.execute(f"{statement} {', '.join(sizes())}")


def sizes() -> dict[str, tuple[int, ...]]:
    """Return the bytes of partitioned tables: rows, TOAST, indexes, and all."""
    with connection.cursor() as cursor:
        cursor.execute(SIZES)
        return {name: tuple(map(int, rest)) for name, *rest in cursor.fetchall()}


def measure_reading(longest: int) -> None:
    print("\n| reading 500 buckets of | first | median | worst |")
    print("|---|---|---|---|")
    for count in (1_000, 100_000, 1_000_000, 10_000_000):
        if count > longest:
            break
        run = make_run()
        path = make_long_series(run, count)
        third = count / 3
        show(f"{count:,} points", partial(read_line, run, path))
        show(
            f"the middle third of {count:,}",
            partial(read_line, run, path, low=third, high=2 * third),
        )

    many = [make_run() for _ in range(20)]
    wanted = [(run, make_long_series(run, 10_000)) for run in many]
    show("20 runs × 10,000 points", partial(read_lines, wanted))


def some_table(series_ids: Iterable[int], count: int, first: int = 0) -> Table:
    ids = np.array(list(series_ids), np.int64)
    numbers = np.arange(first, first + count)
    times = START + numbers * 50_000 + random.integers(0, 2_000, count)
    values = random.normal(size=(len(ids), count)).astype(np.float32)
    return Table(ids, numbers.astype(np.float64), times, values.astype(np.float64))


def make_run() -> Run:
    name = str(uuid4())
    workspace, _ = Workspace.objects.get_or_create(name="bench", slug="bench")
    project, _ = Project.objects.get_or_create(
        workspace=workspace, name="bench", slug="bench"
    )
    run = Run.objects.create(
        project=project, name=name, started_at=datetime.fromtimestamp(START / 1e6, UTC)
    )
    Spool.objects.create(
        id=uuid4(),
        run=run,
        stage=Stage.objects.create(run=run, name="main"),
        host="bench",
        process_id=1,
        agent_version="",
        started_at=datetime.now(UTC),
        last_seen_at=datetime.now(UTC),
    )
    return run


def make_series(run: Run, count: int) -> list[int]:
    Attribute.objects.bulk_create(
        [
            Attribute(
                run=run,
                project_id=run.project_id,
                path=f"metric/{number}",
                kind=Kind.FLOAT_SERIES,
            )
            for number in range(count)
        ]
    )
    return list(Attribute.objects.filter(run=run).values_list("id", flat=True))


def make_long_series(run: Run, count: int) -> str:
    """Write a series of so many points; return its path."""
    ids = make_series(run, 1)
    for number, first in enumerate(range(0, count, ENTRY_POINTS), start=1):
        write(run, some_table(ids, min(ENTRY_POINTS, count - first), first), number)
    Run.objects.filter(id=run.id).update(state=State.FINISHED)
    while compact_run(run.id):
        pass
    return "metric/0"


def write(run: Run, table: Table, number: int) -> None:
    JournalEntry.objects.create(
        run=run,
        spool=run.spools.get(),
        first_number=number,
        last_number=number,
        point_count=table.point_count,
        data=journal.encode([table]),
    )


def stored_bytes(run: Run) -> int:
    """Return the bytes of chunks and shared steps, without rows and indexes."""
    rows = [
        *SeriesChunk.objects.filter(run=run).values_list("data", "overview"),
        *SeriesTicks.objects.filter(run=run).values_list("data", "overview"),
    ]
    return sum(len(data) + len(overview) for data, overview in rows)


def rate(count: int, work: Callable[[], object]) -> str:
    """Return million points a second, of the best of several rounds."""
    work()
    best = min(seconds_of(work) for _ in range(30))
    return f"{count / best / 1e6:.1f} M/s"


def show(name: str, work: Callable[[], object]) -> None:
    spent = [1_000 * seconds_of(work) for _ in range(ROUNDS)]
    first, later = spent[0], spent[1:]
    print(
        f"| {name} | {first:.1f} ms | {statistics.median(later):.1f} ms "
        f"| {max(later):.1f} ms |"
    )


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()

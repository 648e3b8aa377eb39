"""Measures the series store: bytes per point, points per second, milliseconds a chart.

    python -m benchmarks.store

SQLite in a temporary folder, or the empty PostgreSQL database that
SEAMARK_DATABASE_URL names. Prints a table; asserts nothing.
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
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

import numpy as np

# Settings read the environment when Django loads, below.
os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
FOLDER = tempfile.mkdtemp(prefix="seamark-benchmark-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
os.environ["SEAMARK_DATA"] = FOLDER

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402

from tracker.models import (  # noqa: E402
    Attribute,
    JournalEntry,
    Kind,
    Project,
    Run,
    SeriesChunk,
    Spool,
    Stage,
    Workspace,
)
from tracker.queries.series import read_line, read_lines  # noqa: E402
from tracker.series import codec, journal  # noqa: E402
from tracker.series.codec import CHUNK_POINTS  # noqa: E402
from tracker.series.compaction import compact_run  # noqa: E402
from tracker.series.downsample import summarise  # noqa: E402
from tracker.series.points import Points  # noqa: E402

START = int(datetime(2026, 1, 2, tzinfo=UTC).timestamp()) * 1_000_000
ENTRY_POINTS = 100_000
ROUNDS = 9

random = np.random.default_rng(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--longest", type=int, default=10_000_000, metavar="POINTS")
    longest = parser.parse_args().longest

    print(f"one process, {sys.platform}, Python {sys.version.split()[0]}")
    measure_codec()
    measure_journal()
    call_command("migrate", verbosity=0)
    measure_compaction()
    measure_reading(longest)


def measure_codec() -> None:
    print("\n| chunk of 8,192 points | bytes/point | + overview | encode | decode |")
    print("|---|---|---|---|---|")
    for name, values in columns():
        for rhythm, times in clocks():
            points = Points(np.arange(float(CHUNK_POINTS)), times, values)
            data = codec.encode(points)
            overview = codec.encode_overview(summarise(points))
            cells = [
                f"{name}, {rhythm}",
                f"{len(data) / CHUNK_POINTS:.2f}",
                f"{(len(data) + len(overview)) / CHUNK_POINTS:.2f}",
                rate(CHUNK_POINTS, partial(codec.encode, points)),
                rate(CHUNK_POINTS, partial(codec.decode, data)),
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


def clocks() -> Iterator[tuple[str, np.ndarray]]:
    ticks = START + np.arange(CHUNK_POINTS) * 1_000_000
    yield "each second", ticks
    yield "each second ± 0.2 ms", ticks + random.integers(0, 400, CHUNK_POINTS)
    spent = random.normal(50_000, 2_000, CHUNK_POINTS).astype(np.int64)
    yield "each 50 ms ± 2 ms", START + np.cumsum(spent)


def measure_journal() -> None:
    print("\n| journal entry | bytes/point | encode | decode |")
    print("|---|---|---|---|")
    for series, count in ((20, 50), (1_000, 1), (1, 100_000)):
        batch = {key: some_points(count) for key in range(series)}
        data = journal.encode(batch)
        cells = [
            f"{series:,} series × {count:,}",
            f"{len(data) / (series * count):.2f}",
            rate(series * count, partial(journal.encode, batch)),
            rate(series * count, partial(journal.decode, data)),
        ]
        print("|", " | ".join(cells), "|")


def measure_compaction() -> None:
    print("\n| compaction of | points/s | bytes/point in tables |")
    print("|---|---|---|")
    for series, count, entries in ((1, 100_000, 10), (20, 5_000, 10), (1_000, 10, 20)):
        run = make_run()
        ids = [make_series(run, f"metric/{number}") for number in range(series)]
        for entry in range(entries):
            first = entry * count
            write(run, {key: some_points(count, first) for key in ids}, entry + 1)
        began = time.perf_counter()
        moved = compact_run(run.id)
        seconds = time.perf_counter() - began
        name = f"{entries} entries of {series:,} series × {count:,}"
        print(f"| {name} | {moved / seconds:,.0f} | {stored_bytes(run) / moved:.2f} |")


def measure_reading(longest: int) -> None:
    print("\n| reading 500 buckets of | first | median | worst |")
    print("|---|---|---|---|")
    for count in (1_000, 100_000, 1_000_000, 10_000_000):
        if count > longest:
            break
        run = make_run()
        make_long_series(run, "loss", count)
        third = count / 3
        show(f"{count:,} points", partial(read_line, run, "loss"))
        show(
            f"the middle third of {count:,}",
            partial(read_line, run, "loss", low=third, high=2 * third),
        )

    many = [make_run() for _ in range(20)]
    for run in many:
        make_long_series(run, "loss", 10_000)
    wanted = [(run, "loss") for run in many]
    show("20 runs × 10,000 points", partial(read_lines, wanted))


def some_points(count: int, first: int = 0) -> Points:
    numbers = np.arange(first, first + count)
    times = START + numbers * 50_000 + random.integers(0, 2_000, count)
    values = random.normal(size=count).astype(np.float32).astype(np.float64)
    return Points(numbers.astype(np.float64), times, values)


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


def make_series(run: Run, path: str) -> int:
    return Attribute.objects.create(run=run, path=path, kind=Kind.FLOAT_SERIES).id


def make_long_series(run: Run, path: str, count: int) -> None:
    series_id = make_series(run, path)
    for number, first in enumerate(range(0, count, ENTRY_POINTS), start=1):
        length = min(ENTRY_POINTS, count - first)
        write(run, {series_id: some_points(length, first)}, number)
    while compact_run(run.id):
        pass


def write(run: Run, points: dict[int, Points], number: int) -> None:
    JournalEntry.objects.create(
        run=run,
        spool=run.spools.get(),
        first_number=number,
        last_number=number,
        point_count=sum(map(len, points.values())),
        data=journal.encode(points),
    )


def stored_bytes(run: Run) -> int:
    rows = SeriesChunk.objects.filter(run=run).values_list("data", "overview")
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

"""Measures deletion of runs: rows per second, freed bytes, delay of others.

    python -m benchmarks.purge --points 20000000

Uses SQLite in a temporary folder, a new PostgreSQL (--database PostgreSQL), or the
empty database in SEAMARK_DATABASE_URL. Prints tables; asserts nothing.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import UUID, uuid4

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
from django.db import connection, transaction  # noqa: E402

from tests.builders import Process, make_member, make_project, points_message  # noqa: E402
from tracker.actions.purging import purge_run  # noqa: E402
from tracker.actions.trash import delete_for_good, move_to_trash  # noqa: E402
from tracker.embedded.sqlite.space import give_space_back, space  # noqa: E402
from tracker.embedded.sqlite.writer_lock import WriterLock  # noqa: E402
from tracker.models import (  # noqa: E402
    Attribute,
    Kind,
    Project,
    Run,
    SeriesChunk,
    SeriesTicks,
    State,
)
from tracker.series.codec import CHUNK_POINTS  # noqa: E402
from tracker.series.rows import make_chunks  # noqa: E402
from tracker.series.table import Table  # noqa: E402

START = int(datetime(2026, 1, 2, tzinfo=UTC).timestamp()) * 1_000_000
MIB = 1024 * 1024
BATCH_PAUSE_SECONDS = 0.02
QUIET_SECONDS = 5.0
# Longer than any call needs.
ENDLESS = 3_600.0

random = np.random.default_rng(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=20_000_000)
    parser.add_argument("--series", type=int, default=1_000)
    database.add_option(parser)
    arguments = parser.parse_args()

    print(f"{connection.vendor}, {sys.platform}, Python {sys.version.split()[0]}")
    call_command("migrate", verbosity=0)
    project = make_project(make_member())
    kept = fill(project, "kept", arguments.points // 4, arguments.series)
    gone = fill(project, "gone", arguments.points, arguments.series)
    vacuum()
    measure(project, gone)
    print_reuse(project, arguments.points, arguments.series)
    print(f"\nof the run that was kept, {chunk_count(kept):,} chunks are there")


def fill(project: Project, name: str, points: int, series: int) -> Run:
    """Store a finished run as compaction would leave it."""
    run = Run.objects.create(project=project, name=name, state=State.FINISHED)
    Attribute.objects.bulk_create(
        [
            Attribute(
                run=run, project=project, path=f"series/{n}", kind=Kind.FLOAT_SERIES
            )
            for n in range(series)
        ],
        batch_size=1_000,
    )
    ids = np.array(
        Attribute.objects.filter(run=run).order_by("id").values_list("id", flat=True)
    )
    for start in range(0, points // series, CHUNK_POINTS):
        count = min(CHUNK_POINTS, points // series - start)
        steps = np.arange(start, start + count, dtype=np.float64)
        times = START + np.arange(start, start + count) * 1_000_000
        for some in np.array_split(ids, max(1, series // 100)):
            values = random.normal(size=(len(some), count)).astype(np.float32)
            insert(run.id, Table(some, steps, times, values.astype(np.float64)))
    return run


def insert(run_id: UUID, table: Table) -> None:
    with transaction.atomic():
        for new in make_chunks(run_id, table):
            new.ticks.save()
            for chunk in new.chunks:
                chunk.ticks_id = new.ticks.id
            SeriesChunk.objects.bulk_create(new.chunks, batch_size=500)


def measure(project: Project, run: Run) -> None:
    rows = chunk_count(run) + SeriesTicks.objects.filter(run=run).count()
    before = stored_bytes()
    with batches(project) as quiet:
        time.sleep(QUIET_SECONDS)
    move_to_trash(run)
    delete_for_good(run)
    with batches(project) as disturbed, held_locks() as held:
        start = time.perf_counter()
        purged = purge_run(run.id, seconds=ENDLESS)
        took = time.perf_counter() - start
        deleting = max(held, default=None)
        held.clear()
        start = time.perf_counter()
        given = give_space_back(ENDLESS)
        giving = time.perf_counter() - start
    print("\n| deleted | |\n|---|---|")
    print(f"| rows | {purged.rows:,} ({rows:,} of them chunks and ticks) |")
    print(f"| rows/s, with pauses for others | {purged.rows / took:,.0f} |")
    print(f"| seconds | {took:.1f} |")
    print(
        f"| longest statement, with waiting for others | {ms(purged.longest_seconds)} |"
    )
    if deleting is not None:
        print(f"| longest that it held the writer lock | {ms(deleting)} |")
    print("\n| stored bytes | MiB |\n|---|---|")
    print(f"| before | {before / MIB:,.1f} |")
    if space() is not None:
        print(f"| given back in {giving:.1f} s | {given.bytes / MIB:,.1f} |")
        print(f"| longest that it held the writer lock | {ms(given.longest_seconds)} |")
    print(f"| after | {stored_bytes() / MIB:,.1f} |")
    if vacuum():
        print(f"| after VACUUM, as autovacuum does it | {stored_bytes() / MIB:,.1f} |")
    print(
        "\n| a batch of another run | count | p50 | p95 | longest |\n|---|---|---|---|---|"
    )
    print_waits("before", quiet)
    print_waits("while deleting and giving back", disturbed)


def print_reuse(project: Project, points: int, series: int) -> None:
    fill(project, "again", points, series)
    print(f"\nwith as much stored anew: {stored_bytes() / MIB:,.1f} MiB")


@contextmanager
def batches(project: Project) -> Iterator[list[float]]:
    """Store a small batch repeatedly next to the block; yield each duration."""
    seconds: list[float] = []
    is_over = threading.Event()

    def send() -> None:
        process = Process(project, f"live {uuid4()}")
        process.open()
        step = 0
        while not is_over.wait(BATCH_PAUSE_SECONDS):
            message = points_message(
                "loss", [0.5] * 10, steps=np.arange(step, step + 10)
            )
            start = time.perf_counter()
            process.send([message])
            seconds.append(time.perf_counter() - start)
            step += 10
        connection.close()

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield seconds
    finally:
        is_over.set()
        thread.join()


@contextmanager
def held_locks() -> Iterator[list[float]]:
    """Yield for how long this thread held the writer lock, each time."""
    held: list[float] = []
    since: dict[int, float] = {}
    mine = threading.get_ident()
    acquire, release = WriterLock.acquire, WriterLock.release

    def timed_acquire(lock: WriterLock) -> None:
        was_held = lock.is_held
        acquire(lock)
        if not was_held and threading.get_ident() == mine:
            since[id(lock)] = time.perf_counter()

    def timed_release(lock: WriterLock) -> None:
        release(lock)
        if threading.get_ident() == mine and id(lock) in since:
            held.append(time.perf_counter() - since.pop(id(lock)))

    WriterLock.acquire, WriterLock.release = timed_acquire, timed_release
    try:
        yield held
    finally:
        WriterLock.acquire, WriterLock.release = acquire, release


def print_waits(name: str, seconds: list[float]) -> None:
    middle, high = np.percentile(seconds, [50, 95])
    cells = [f"{len(seconds):,}", ms(middle), ms(high), ms(max(seconds))]
    print(f"| {name} | {' | '.join(cells)} |")


def stored_bytes() -> int:
    """Return the size of the file, or of all tables with their indexes."""
    if (found := space()) is not None:
        return found.total
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
            " WHERE relkind = 'r' AND relname LIKE 'tracker_%'"
        )
        return int(cursor.fetchone()[0])


def vacuum() -> bool:
    """Run PostgreSQL's autovacuum work now."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("VACUUM")
    return True


def chunk_count(run: Run) -> int:
    return SeriesChunk.objects.filter(run=run).count()


def ms(seconds: float) -> str:
    return f"{seconds * 1_000:.1f} ms"


if __name__ == "__main__":
    main()

"""Measures reads through the API: charts, increments, exports, and their bytes.

    python -m benchmarks.reading

Uses SQLite in a temporary folder, a new PostgreSQL (--database PostgreSQL), or the
empty database in SEAMARK_DATABASE_URL. The whole application answers, in this process
and without a network. Prints tables; asserts nothing.
"""

from __future__ import annotations

import argparse
import atexit
import gzip
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from itertools import count
from pathlib import Path
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
from django.http import HttpResponseBase  # noqa: E402
from django.test import Client  # noqa: E402

from tracker.actions.access import found_installation, make_token  # noqa: E402
from tracker.actor import Scope  # noqa: E402
from tracker.models import (  # noqa: E402
    Attribute,
    JournalEntry,
    Kind,
    Project,
    Run,
    Spool,
    Stage,
)
from tracker.queries.series.series import read_lines  # noqa: E402
from tracker.series import journal  # noqa: E402
from tracker.series.codec import FULL_POINTS  # noqa: E402
from tracker.series.compaction import compact_run  # noqa: E402
from tracker.series.table import Table  # noqa: E402

START = int(datetime(2026, 1, 2, tzinfo=UTC).timestamp()) * 1_000_000
ENTRY_POINTS = 500_000
ROUNDS = 21
FORMATS = ("json", "csv", "arrow", "binary")

random = np.random.default_rng(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--longest", type=int, default=10_000_000, metavar="POINTS")
    parser.add_argument("--metrics", type=int, default=1_000, metavar="SERIES")
    parser.add_argument("--each", type=int, default=20_000, metavar="POINTS")
    database.add_option(parser)
    arguments = parser.parse_args()

    call_command("migrate", verbosity=0)
    reader = Reader()
    print(f"{connection.vendor}, one process, Python {sys.version.split()[0]}\n")
    print("| asked for | first | median | p95 | CPU | kB | gzip kB |")
    print("|---|---|---|---|---|---|---|")
    # Warm up the process, whose first answer is slower.
    warm = make_run(reader.project)
    for kind in FORMATS:
        reader.get([warm], path="loss", format=kind)
    measure_long(reader, arguments.longest)
    many = measure_many(reader)
    measure_metrics(reader, arguments.metrics, arguments.each)
    measure_live(reader, many[0])
    measure_export(reader, arguments.longest)
    measure_repeated_steps(reader, arguments.longest)
    measure_journal(reader, 2 * arguments.longest)
    measure_libraries()


class Reader:
    """A client with a token, in a project of its own."""

    def __init__(self) -> None:
        member = found_installation()
        self.project = Project.objects.create(
            workspace=member.workspace, name="bench", slug="bench"
        )
        token = make_token(member, "benchmark", Scope.READ)
        self._client = Client(
            SERVER_NAME="127.0.0.1", headers={"authorization": f"Bearer {token}"}
        )
        self._numbers = count()
        self._address = f"/api/v1/projects/{member.workspace.slug}/bench/"

    def get(
        self,
        runs: Sequence[Run],
        *,
        of: str = "series",
        etag: str = "",
        is_new: bool = True,
        **query: object,
    ) -> HttpResponseBase:
        """Send a request; with `is_new`, one that is not cached."""
        asked = {"run": [str(run.id) for run in runs], **query}
        if is_new:
            asked["number"] = next(self._numbers)
        headers = {"If-None-Match": etag} if etag else {}
        response: HttpResponseBase = self._client.get(
            self._address + of, asked, headers=headers
        )
        if response.status_code not in (200, 304):
            raise RuntimeError(response.content)  # type: ignore[attr-defined]
        return response


def measure_long(reader: Reader, longest: int) -> None:
    run = make_run(reader.project)
    fill(run, ["loss"], longest)
    name = f"1 × {longest:,}"
    for kind in FORMATS:
        show(f"{name}, {kind}", lambda k=kind: reader.get([run], path="loss", format=k))
    third = longest / 3
    show(
        f"{name}, the middle third, binary",
        lambda: reader.get(
            [run], path="loss", format="binary", low=third, high=2 * third
        ),
    )
    low = longest // 2
    show(
        f"{name}, 400 points of it, binary",
        lambda: reader.get(
            [run], path="loss", format="binary", low=low, high=low + 399
        ),
    )
    same = partial(reader.get, [run], path="loss", format="binary", is_new=False)
    etag = same()["ETag"]
    show(f"{name}, asked within the last minute, binary", same)
    show(f"{name}, nothing new", partial(same, etag=etag))


def measure_many(reader: Reader) -> list[Run]:
    runs = [make_run(reader.project) for _ in range(20)]
    for run in runs:
        fill(run, ["loss"], 10_000)
    for kind in FORMATS:
        show(
            f"20 runs × 10,000, {kind}",
            lambda k=kind: reader.get(runs, path="loss", format=k),
        )
    show(
        "20 runs × 10,000, before HTTP", lambda: read_lines([(r, "loss") for r in runs])
    )
    return runs


def measure_metrics(reader: Reader, metrics: int, each: int) -> None:
    run = make_run(reader.project)
    paths = [f"metric/{number}" for number in range(metrics)]
    fill(run, paths, each)
    for buckets in (100, 500):
        for kind in ("json", "binary"):
            show(
                f"{metrics:,} × {each:,}, first page, {buckets} buckets, {kind}",
                lambda b=buckets, k=kind: reader.get(
                    [run], path=paths[:200], buckets=b, format=k
                ),
            )


def measure_live(reader: Reader, run: Run) -> None:
    """A chart of a run that goes on: ten points more each time."""
    held = {"since": ""}
    reached = [10_000]

    def tick() -> HttpResponseBase:
        write(run, ["loss"], 10, reached[0])
        reached[0] += 10
        began = time.perf_counter()
        response = reader.get([run], path="loss", format="binary", since=held["since"])
        spent.append(1_000 * (time.perf_counter() - began))
        held["since"] = head_of(response)["since"]
        return response

    spent: list[float] = []
    sizes = [len(tick().content) for _ in range(60)]  # type: ignore[attr-defined]
    print("\n| a live chart of 10,000 points | kB | ms |\n|---|---|---|")
    print(f"| first | {sizes[0] / 1e3:.1f} | {spent[0]:.1f} |")
    print(
        f"| median of {len(sizes) - 1} more | {statistics.median(sizes[1:]) / 1e3:.1f}"
        f" | {statistics.median(spent[1:]):.1f} |"
    )


def measure_export(reader: Reader, longest: int) -> None:
    run = make_run(reader.project)
    count = min(longest, 2_000_000)
    fill(run, ["loss"], count)
    print(f"\n| all of {count:,} points | points/s | MB | peak MB held |")
    print("|---|---|---|---|")
    for kind in ("csv", "arrow"):
        began = time.perf_counter()
        size = drained(reader.get([run], of="points", path="loss", format=kind))
        seconds = time.perf_counter() - began
        tracemalloc.start()
        drained(reader.get([run], of="points", path="loss", format=kind))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(
            f"| {kind} | {count / seconds:,.0f} | {size / 1e6:.0f} | {peak / 1e6:.0f} |"
        )


def measure_repeated_steps(reader: Reader, count: int) -> None:
    """A series whose steps restart in each epoch: every chunk spans all of them."""
    run = make_run(reader.project)
    fill(run, ["loss"], count, epoch=1_000)
    show_held(
        f"1 × {count:,}, steps 0 to 999 again and again, binary",
        lambda: reader.get([run], path="loss", format="binary"),
    )


def measure_journal(reader: Reader, count: int) -> None:
    """A run before its first compaction: reads one of its hundred series."""
    run = make_run(reader.project)
    paths = [f"metric/{number}" for number in range(100)]
    add_series(run, paths)
    ticks = ENTRY_POINTS // len(paths)
    for first in range(0, count // len(paths), ticks):
        write(run, paths, min(ticks, count // len(paths) - first), first)
    show_held(
        f"1 of {len(paths)} series of a journal of {count:,} points, binary",
        lambda: reader.get([run], path=paths[0], format="binary"),
    )


def show_held(name: str, work: Callable[[], object]) -> None:
    """Print how long it takes, and the most memory that it holds meanwhile."""
    spent = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"\n| {name} | ms | peak MB held |\n|---|---|---|")
    print(f"| median | {1_000 * statistics.median(spent):,.0f} | {peak / 1e6:,.0f} |")


def measure_libraries() -> None:
    print("\n| library | installed MB |\n|---|---|")
    for name in ("nanoarrow", "pyarrow"):
        files = metadata.files(name) or []
        sizes = [Path(str(file.locate())).stat().st_size for file in files]
        print(f"| {name} {metadata.version(name)} | {sum(sizes) / 1e6:.0f} |")


def drained(response: HttpResponseBase) -> int:
    parts = response.streaming_content  # type: ignore[attr-defined]
    return sum(map(len, parts))


def head_of(response: HttpResponseBase) -> dict[str, str]:
    body = response.content  # type: ignore[attr-defined]
    head: dict[str, str] = json.loads(body[8 : 8 + int.from_bytes(body[4:8], "little")])
    return head


def make_run(project: Project) -> Run:
    run = Run.objects.create(
        project=project,
        name=str(uuid4()),
        started_at=datetime.fromtimestamp(START / 1e6, UTC),
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


def fill(
    run: Run, paths: Sequence[str], count: int, *, epoch: int | None = None
) -> None:
    """Write the same ticks for all paths, and compact them as a worker would."""
    add_series(run, paths)
    ticks = max(1, ENTRY_POINTS // len(paths))
    if epoch is not None:
        # Data compacted together is sorted, so write one chunk at a time.
        ticks = FULL_POINTS
    for first in range(0, count, ticks):
        write(run, paths, min(ticks, count - first), first, epoch=epoch)
        compact_run(run.id)
    # The run is over, so chunks that are not full are joined.
    Run.objects.filter(id=run.id).update(state="finished")
    compact_run(run.id)


def add_series(run: Run, paths: Sequence[str]) -> None:
    for path in paths:
        Attribute.objects.create(
            run=run, project_id=run.project_id, path=path, kind=Kind.FLOAT_SERIES
        )


def write(
    run: Run,
    paths: Sequence[str],
    count: int,
    first: int,
    *,
    epoch: int | None = None,
) -> None:
    """Write points whose steps continue, or restart after each epoch."""
    ids = Attribute.objects.filter(run=run, path__in=paths).values_list("id", flat=True)
    numbers = np.arange(first, first + count)
    noise = random.normal(0, 0.05, (len(paths), count))
    values = (np.exp(-numbers / 1e6) + noise).astype(np.float32).astype(np.float64)
    times = START + numbers * 50_000 + random.integers(0, 2_000, count)
    steps = (numbers if epoch is None else numbers % epoch).astype(np.float64)
    table = Table(np.array(ids, np.int64), steps, times, values)
    spool = run.spools.get()
    spool.last_number += 1
    spool.save(update_fields=["last_number"])
    JournalEntry.objects.create(
        run=run,
        spool=spool,
        first_number=spool.last_number,
        last_number=spool.last_number,
        point_count=table.point_count,
        data=journal.encode([table]),
    )


def show(name: str, work: Callable[[], object]) -> None:
    spent, used = [], []
    for _ in range(ROUNDS):
        began, began_cpu = time.perf_counter(), time.process_time()
        answer = work()
        used.append(1_000 * (time.process_time() - began_cpu))
        spent.append(1_000 * (time.perf_counter() - began))
    later = sorted(spent[1:])
    cells = [
        name,
        f"{spent[0]:.1f} ms",
        f"{statistics.median(later):.1f} ms",
        f"{later[int(len(later) * 0.95)]:.1f} ms",
        f"{statistics.median(used[1:]):.1f} ms",
        *sizes_of(answer),
    ]
    print("|", " | ".join(cells), "|", flush=True)


def sizes_of(answer: object) -> list[str]:
    body = getattr(answer, "content", None)
    if body is None:
        return ["", ""]
    return [f"{len(body) / 1e3:.1f}", f"{len(gzip.compress(body, 6)) / 1e3:.1f}"]


if __name__ == "__main__":
    main()

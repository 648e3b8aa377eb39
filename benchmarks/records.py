"""Measures records: bytes of log lines on disk, and time to read and find them.

    python -m benchmarks.records

Uses SQLite in a temporary folder, or the empty PostgreSQL database in
SEAMARK_DATABASE_URL. The whole application answers, in this process and without a
network. Prints tables; asserts nothing.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import statistics
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from uuid import UUID, uuid4

import numpy as np

# Settings read the environment when Django loads, below.
os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
FOLDER = tempfile.mkdtemp(prefix="seamark-benchmark-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
os.environ["SEAMARK_DATA"] = FOLDER

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.db.models import Count, Sum  # noqa: E402
from django.db.models.functions import Length  # noqa: E402
from django.test import Client  # noqa: E402

from seamark import messages  # noqa: E402
from tracker.actions.access import (  # noqa: E402
    authenticate,
    found_installation,
    make_token,
)
from tracker.actor import Scope  # noqa: E402
from tracker.ingest.write import store_batch  # noqa: E402
from tracker.models import RecordChunk, Run  # noqa: E402
from tracker.records.joining import join_records  # noqa: E402
from tracker.records.store import FAN_IN  # noqa: E402

START = int(datetime(2026, 1, 2, tzinfo=UTC).timestamp()) * 1_000_000
PATH = "logs/stdout"
EPOCH_STEPS = 1_000
ROUNDS = 15
Line = tuple[int, str]

random = np.random.default_rng(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=100_000, metavar="LINES")
    parser.add_argument("--batch", type=int, default=25, metavar="LINES")
    parser.add_argument("--longest", type=int, default=1_000_000, metavar="LINES")
    arguments = parser.parse_args()

    call_command("migrate", verbosity=0)
    tracker = Tracker()
    print(f"one process, {connection.vendor}, Python {sys.version.split()[0]}\n")
    print(
        "| logged | lines | bytes a line, as text | in chunks | in the table |"
        " chunks | µs a line to store | to join |"
    )
    print("|---|---|---|---|---|---|---|---|")
    measure_storing(tracker, "training", arguments.lines, arguments.batch)
    measure_storing(tracker, "training", arguments.lines, 1_000)
    longest = measure_storing(tracker, "training", arguments.longest, 5_000)
    print("\n| asked of the longest | matches | first ms | median ms |")
    print("|---|---|---|---|")
    measure_reading(tracker, longest, arguments.longest)


def training_log(count: int) -> Iterator[Line]:
    """Yield times and lines as a training of several epochs prints them."""
    moment, loss = START, 2.3
    for number in range(count):
        moment += int(random.gamma(4.0, 25_000))
        clock = datetime.fromtimestamp(moment / 1e6, UTC).isoformat(" ", "milliseconds")
        loss = max(0.05, loss * (1 - 2e-5) + random.normal() * 0.01)
        epoch, step = divmod(number, EPOCH_STEPS)
        if step == 0:
            text = (
                f"{clock[:23]} INFO trainer: epoch {epoch} begins, 1000 batches of 256"
            )
        elif number % 397 == 0:
            text = (
                f"{clock[:23]} WARNING loader: worker {number % 8} took"
                f" {random.gamma(2):.2f} s for one batch"
            )
        elif step == EPOCH_STEPS - 1:
            text = (
                f"{clock[:23]} INFO eval: epoch {epoch} accuracy"
                f" {random.random():.4f} saved to /data/run/checkpoint-{epoch}.pt"
            )
        else:
            text = (
                f"{clock[:23]} INFO trainer: epoch {epoch} step {step} loss {loss:.4f}"
                f" lr {3e-4 * 0.97**epoch:.3e} grad {random.gamma(2):.3f}"
                f" {int(random.normal(2400, 60))} img/s"
            )
        yield moment, text


class Tracker:
    """An installation with a client that writes like agents, and a reader over HTTP."""

    def __init__(self) -> None:
        member = found_installation()
        token = make_token(member, "benchmark", Scope.MANAGE)
        actor = authenticate(token)
        assert actor is not None
        self.actor = actor
        self.client = Client(
            SERVER_NAME="127.0.0.1", headers={"authorization": f"Bearer {token}"}
        )

    def log(
        self, name: str, lines: Sequence[Line], size: int
    ) -> tuple[UUID, float, float]:
        """Log lines in batches; return the run, and seconds to store and to join."""
        spool, joining = uuid4(), 0.0
        origin = messages.Origin("bench", name, "main", 0, "host", 1, "0", START)
        self._send(spool, 1, messages.open_spool(origin))
        run_id = Run.objects.get(name=name).id
        storing = 0.0
        for number, first in enumerate(range(0, len(lines), size), start=2):
            times, texts = zip(*lines[first : first + size], strict=True)
            steps = range(first, first + len(texts))
            values = [text.encode() for text in texts]
            body = messages.records("text", PATH, [*map(float, steps)], times, values)
            begin = time.perf_counter()
            self._send(spool, number, body)
            storing += time.perf_counter() - begin
            if number % FAN_IN == 0:
                begin = time.perf_counter()
                join_records(run_id)
                joining += time.perf_counter() - begin
        end = messages.close(failure=None, time=times[-1])
        self._send(spool, number + 1, end)
        join_records(run_id)
        return run_id, storing, joining

    def _send(self, spool: UUID, number: int, message: bytes) -> None:
        payload = messages.payload([message])
        checked = struct.pack("<IQ", len(payload), number) + payload
        frame = struct.pack("<I", zlib.crc32(checked)) + checked
        store_batch(self.actor, spool, frame)


def measure_storing(tracker: Tracker, name: str, count: int, size: int) -> UUID:
    lines = list(training_log(count))
    before = table_bytes()
    run_id, storing, joining = tracker.log(f"{name}-{count}-{size}", lines, size)
    found = RecordChunk.objects.filter(run_id=run_id).aggregate(
        chunks=Count("id"), stored=Sum(Length("data"))
    )
    text = sum(len(line) for _, line in lines) / count
    print(
        f"| {name}, {size:,} a batch | {count:,} | {text:.1f}"
        f" | {found['stored'] / count:.2f} | {(table_bytes() - before) / count:.2f}"
        f" | {found['chunks']:,} | {storing / count * 1e6:.1f}"
        f" | {joining / count * 1e6:.1f} |"
    )
    return run_id


def measure_reading(tracker: Tracker, run_id: UUID, count: int) -> None:
    def get(place: str, **query: object) -> object:
        address = f"/api/v1/runs/{run_id}/records{place}"
        # No answer is cached: each request differs.
        answer = tracker.client.get(
            address, {"path": PATH, "unique": time.time_ns(), **query}
        )
        if answer.status_code != HTTPStatus.OK:
            raise SystemExit(answer.content)
        return answer.json()

    def find(text: str) -> Callable[[], int]:
        def all_pages() -> int:
            first: int | None = 0
            found = 0
            while first is not None:
                answer = get("/found", text=text, first=first)
                found += len(answer["positions"])  # type: ignore[index]
                first = answer["next"]  # type: ignore[index]
            return found

        return all_pages

    get("", last=1)  # warms up the process, whose first answer is slower
    timed("the last 200 lines", lambda: len(get("", last=200)["values"]))  # type: ignore[index]
    timed(
        "200 lines from the middle",
        lambda: len(get("", first=count // 2, limit=200)["values"]),
    )  # type: ignore[index]
    timed(
        "steps around the middle",
        lambda: len(get("", low=count // 2, high=count // 2 + 9)["values"]),
    )  # type: ignore[index]
    timed("a text that is nowhere", find("CUDA out of memory"))
    timed("a rare text, 'warning'", find("warning"))
    timed("a text of every line, 'img'", find("img"))
    timed("a text with an umlaut", find("größe"), rounds=3)


def timed(name: str, ask: Callable[[], int], rounds: int = ROUNDS) -> None:
    seconds = []
    found = 0
    for _ in range(rounds):
        begin = time.perf_counter()
        found = ask()
        seconds.append(time.perf_counter() - begin)
    print(
        f"| {name} | {found:,} | {seconds[0] * 1e3:.1f}"
        f" | {statistics.median(seconds) * 1e3:.1f} |"
    )


def table_bytes() -> float:
    """Return the size of the chunks' table, with indexes and free space."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits"
                " WHERE inhparent = 'tracker_recordchunk'::regclass"
            )
        else:
            # Replaced data becomes free pages of the file, which are reused.
            cursor.execute(
                "SELECT sum(pgsize) FROM dbstat WHERE name IN (SELECT name FROM"
                " sqlite_master WHERE tbl_name = 'tracker_recordchunk')"
            )
        return float(cursor.fetchone()[0] or 0)


if __name__ == "__main__":
    main()

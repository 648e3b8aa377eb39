"""A team's processes: the same code, with messages through a real Redis server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from celery import Celery
from django.db import connection
from django.utils import timezone

from tests.builders import make_member, make_project, make_run, write_series
from tracker.models import JournalEntry, SeriesChunk

ROOT = Path(__file__).resolve().parents[3]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgresql,
    pytest.mark.processes,
]


def database_url():
    """Return the address of the tests' own database, for another process."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    host = quote(database["HOST"], safe="")
    return f"postgres://{database['USER']}@{host}/{database['NAME']}"


@pytest.fixture
def worker(valkey, tmp_path):
    environment = {
        **os.environ,
        "SEAMARK_DATA": str(tmp_path),
        "SEAMARK_DATABASE_URL": database_url(),
        "SEAMARK_REDIS_URL": valkey.url,
    }
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "worker"],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=log,
        )
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def queue(valkey):
    """Send tasks as the scheduler does, by name."""
    with Celery(broker=valkey.url) as app:
        yield app


def make_due(run):
    """Run the work now; compaction waits a little for more batches."""
    assert JournalEntry.objects.filter(run=run).update(
        received_at=timezone.now() - timedelta(minutes=1)
    )


def test_a_worker_does_what_a_message_through_redis_wakes_it_for(worker, queue):
    run = make_run(make_project(make_member("ada")), "baseline")
    write_series(run, "loss", [1.0, float("nan"), 0.5])
    assert JournalEntry.objects.filter(run=run).exists()
    make_due(run)

    queue.send_task("tracker.tasks.send_due_work")

    deadline = time.monotonic() + 300
    while JournalEntry.objects.filter(run=run, point_count__gt=0).exists():
        assert time.monotonic() < deadline, "nobody did the work"
        assert worker.poll() is None, "the worker ended"
        time.sleep(0.1)
    (chunk,) = SeriesChunk.objects.filter(run=run)
    assert chunk.count == 3


def test_the_same_message_twice_does_the_work_once(worker, queue):
    run = make_run(make_project(make_member("ada")), "baseline")
    write_series(run, "loss", [1.0, 2.0])
    make_due(run)

    for _ in range(5):
        queue.send_task("tracker.tasks.send_due_work")

    deadline = time.monotonic() + 300
    while not SeriesChunk.objects.filter(run=run).exists():
        assert time.monotonic() < deadline, "nobody did the work"
        time.sleep(0.1)
    assert sum(SeriesChunk.objects.values_list("count", flat=True)) == 2

"""Series with several writing processes, from their batches to their readers."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.builders import SECOND, START, Process, points_message, records_message
from tracker.models import Attribute
from tracker.queries.run.attributes import list_attributes
from tracker.queries.series.writers import read_writers
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def ranks_of(run, path="train/loss"):
    writers = read_writers([run.id], [path])
    return [writer.rank for writer in writers.get((run.id, path), ())]


def rank(project, number, *, began=START):
    process = Process(project, "baseline", rank=number, time=began)
    process.open()
    return process


def log(process, steps, path="train/loss", *, since=START):
    times = [since + int(step) * SECOND for step in steps]
    values = [1.0] * len(steps)
    process.send([points_message(path, values, steps=steps, times=times)])
    return process.run


@pytest.mark.parametrize("is_at_once", [True, False])
def test_ranks_that_log_to_one_path_are_named(project, is_at_once):
    first, second = rank(project, 0), rank(project, 1)
    run = log(first, range(10))
    if not is_at_once:
        compact_run(run.id)
    log(second, range(10))
    log(first, range(10), "own")
    compact_run(run.id)

    assert ranks_of(run) == [0, 1]
    assert ranks_of(run, "own") == []
    (row,) = list_attributes(run, prefix="train/")
    assert [writer.rank for writer in row.writers] == [0, 1]


def test_one_that_takes_over_is_no_second_writer(project):
    run = log(rank(project, 0), range(10))
    compact_run(run.id)
    later = START + 3_600 * SECOND
    log(rank(project, 1, began=later), range(8, 20), since=later)
    compact_run(run.id)

    assert ranks_of(run) == []


def test_a_second_writer_is_noted_once_and_costs_nothing_after(project):
    first, second = rank(project, 0), rank(project, 1)
    run = log(first, range(10))
    log(second, range(10))
    compact_run(run.id)
    noted = Attribute.objects.get(run=run, path="train/loss")
    log(second, range(10, 20))
    log(first, range(10, 20))
    with CaptureQueriesContext(connection) as queries:
        compact_run(run.id)

    assert ranks_of(run) == [0, 1]
    assert Attribute.objects.get(id=noted.id).writer == noted.writer
    changed = [q for q in queries if "SET" in q["sql"] and '"writers"' in q["sql"]]
    assert changed == []


def write_lines(process, lines, path="logs/stdout", *, since=START):
    times = [since + number * SECOND for number, _ in enumerate(lines)]
    process.send([records_message(path, lines, times=times)])
    return process.run


def test_ranks_that_write_to_one_text_are_named_at_once(project):
    first, second = rank(project, 0), rank(project, 1)
    run = write_lines(first, ["a", "b", "c"])
    write_lines(first, ["own"], "logs/own")

    assert ranks_of(run, "logs/stdout") == []

    write_lines(second, ["d"], since=START + SECOND)

    assert ranks_of(run, "logs/stdout") == [0, 1]
    assert ranks_of(run, "logs/own") == []
    (row,) = list_attributes(run, prefix="logs/stdout")
    assert [writer.rank for writer in row.writers] == [0, 1]


def test_one_that_takes_over_a_text_is_no_second_writer(project):
    run = write_lines(rank(project, 0), ["a", "b"])
    later = START + 3_600 * SECOND
    successor = rank(project, 1, began=later)
    write_lines(successor, ["c"], since=later)
    write_lines(successor, ["d"], since=later + SECOND)

    assert ranks_of(run, "logs/stdout") == []
    row = Attribute.objects.get(run=run, path="logs/stdout")
    assert row.writer == successor.spool_id


def test_a_second_writer_of_a_text_is_noted_once(project):
    first, second = rank(project, 0), rank(project, 1)
    write_lines(first, ["a", "b"])
    write_lines(second, ["a", "b"])
    with CaptureQueriesContext(connection) as queries:
        run = write_lines(first, ["c"])
        write_lines(second, ["d"])

    assert ranks_of(run, "logs/stdout") == [0, 1]
    changed = [q for q in queries if "SET" in q["sql"] and '"writers"' in q["sql"]]
    assert changed == []

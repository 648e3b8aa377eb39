"""Damaged data is skipped, logged, and never served."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client

from tests.builders import make_project
from tests.tracker.integrity.stored import OF_A_CHUNK, POINTS, chunks_of, damage, fill
from tests.tracker.series.examples import noise
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.models import JournalEntry, SeriesTicks
from tracker.queries.series.series import read_line, read_points
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LOSS = noise(POINTS)


@pytest.fixture
def run(member):
    return fill(make_project(member))


def values_of(run, path):
    return read_points(run, path).values


def test_damaged_ticks_leave_out_exactly_their_chunks(run, caplog):
    first = chunks_of(run, "loss")[0]
    damage(SeriesTicks.objects.get(id=first.ticks_id))

    # Both series lose exactly the chunks with the damaged ticks.
    assert values_of(run, "loss").tolist() == [*LOSS[OF_A_CHUNK:], 1.0, 2.0]
    assert np.array_equal(
        values_of(run, "accuracy"), noise(POINTS, seed=1)[OF_A_CHUNK:]
    )
    assert np.array_equal(values_of(run, "alone"), noise(300, seed=2))
    assert f"ticks {first.ticks_id} is damaged and left out" in caplog.text


def test_a_damaged_chunk_leaves_out_only_itself(run, caplog):
    first = chunks_of(run, "loss")[0]
    damage(first)

    assert values_of(run, "loss").tolist() == [*LOSS[OF_A_CHUNK:], 1.0, 2.0]
    assert np.array_equal(values_of(run, "accuracy"), noise(POINTS, seed=1))
    assert f"chunk {first.id} is damaged and left out" in caplog.text


def test_a_damaged_journal_entry_leaves_out_only_itself(run, caplog):
    damage(JournalEntry.objects.get())

    assert len(values_of(run, "loss")) == POINTS
    assert "is damaged and left out" in caplog.text


@pytest.mark.parametrize("column", ["data", "overview"])
@pytest.mark.parametrize("of_ticks", [True, False], ids=["ticks", "chunk"])
def test_a_chart_draws_nothing_that_was_not_stored(run, monkeypatch, column, of_ticks):
    # As for a series too long to decode all of its points.
    monkeypatch.setattr("tracker.series.lines.DECODED_POINTS", 0)
    first = chunks_of(run, "accuracy")[0]
    damage(SeriesTicks.objects.get(id=first.ticks_id) if of_ticks else first, column)
    known = noise(POINTS, seed=1)

    for buckets in (5, 500):
        line = read_line(run, "accuracy", buckets=buckets)

        assert known.min() <= np.nanmin(line.minimum)
        assert np.nanmax(line.maximum) <= known.max()
        assert line.count in (POINTS, POINTS - OF_A_CHUNK)


def test_the_api_serves_what_is_left(member, run):
    damage(chunks_of(run, "loss")[0])
    token = make_token(member, "reader", Scope.READ)
    client = Client(headers={"authorization": f"Bearer {token}"})

    answer = client.get(
        f"/api/v1/runs/{run.id}/series", {"path": "loss", "buckets": 10_000}
    )

    assert answer.status_code == 200
    (series,) = answer.json()["series"]
    assert series["mean"] == [*LOSS[OF_A_CHUNK:].tolist(), 1.0, 2.0]


def test_compaction_keeps_what_it_cannot_read(run):
    for chunk in chunks_of(run, "loss"):
        damage(chunk)
    damage(JournalEntry.objects.get())
    before = {chunk.id for chunk in chunks_of(run, "loss")}

    compact_run(run.id)

    assert {chunk.id for chunk in chunks_of(run, "loss")} == before
    assert JournalEntry.objects.get().is_damaged
    assert len(values_of(run, "loss")) == 0
    assert len(values_of(run, "accuracy")) == POINTS

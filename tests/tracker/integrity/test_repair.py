"""Repairs make right what can be, and touch nothing else."""

from __future__ import annotations

import pytest
from django.db.models import F
from django.forms.models import model_to_dict

from tests.builders import make_project
from tests.tracker.integrity.stored import chunks_of, damage, fill
from tests.tracker.integrity.test_run import problems_of
from tracker.integrity.problem import Problem, Severity
from tracker.integrity.repair import repair
from tracker.models import Attribute, JournalEntry, SeriesChunk, SeriesTicks
from tracker.queries.series import read_points
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(member):
    return fill(make_project(member))


def state_of(path):
    row = model_to_dict(Attribute.objects.get(path=path))
    # A sum in another order.
    return row | {"total": pytest.approx(row["total"])}


def repair_all(run):
    return [repair(problem) for problem in problems_of(run)]


@pytest.mark.parametrize("path", ["loss", "alone"])
def test_makes_a_summary_anew_as_it_was(run, path):
    before = state_of(path)
    Attribute.objects.filter(path=path).update(
        count=F("count") + 1, total=5.0, minimum=None, last_step=-1, number=7.0
    )

    assert repair_all(run) == [True]

    assert state_of(path) == before
    assert problems_of(run) == []


def test_a_summary_made_anew_goes_on_to_grow(run):
    Attribute.objects.filter(path="loss").update(count=1)
    repair_all(run)

    compact_run(run.id)

    assert Attribute.objects.get(path="loss").count == 9_002
    assert problems_of(run) == []


def test_counts_the_chunks_of_ticks_anew(run):
    SeriesTicks.objects.update(chunk_count=9)

    assert set(repair_all(run)) == {True}

    assert problems_of(run) == []


def test_takes_away_ticks_that_no_chunk_has(run):
    sound = SeriesTicks.objects.count()
    ticks = SeriesTicks.objects.first()
    ticks.pk, ticks.chunk_count = None, 1
    ticks.save(force_insert=True)

    assert repair_all(run) == [True]

    assert SeriesTicks.objects.count() == sound
    assert problems_of(run) == []


def test_sets_a_damaged_entry_aside_and_keeps_it(run):
    damage(JournalEntry.objects.get())
    before = bytes(JournalEntry.objects.get().data)

    assert repair_all(run) == [True]

    entry = JournalEntry.objects.get()
    assert (entry.is_damaged, bytes(entry.data)) == (True, before)


def test_what_is_damaged_is_neither_repaired_nor_removed(run):
    chunk = chunks_of(run, "loss")[0]
    damage(chunk)
    damage(SeriesTicks.objects.get(id=chunks_of(run, "alone")[0].ticks_id))
    before = SeriesChunk.objects.count(), SeriesTicks.objects.count()

    assert set(repair_all(run)) == {False}

    assert (SeriesChunk.objects.count(), SeriesTicks.objects.count()) == before
    assert len(problems_of(run)) == 2


def test_a_repair_that_comes_late_changes_nothing(run):
    SeriesTicks.objects.update(chunk_count=9)
    problems = problems_of(run)
    for problem in problems:
        repair(problem)
    loss = read_points(run, "loss").values.tolist()

    assert [repair(problem) for problem in problems] == [False] * len(problems)

    SeriesChunk.objects.all().delete()
    SeriesTicks.objects.all().delete()
    assert [repair(problem) for problem in problems] == [False] * len(problems)
    assert len(loss) == 9_002


def test_a_problem_without_a_remedy_is_left_alone():
    problem = Problem(Severity.ERROR, "x", "here", "it is broken", "call somebody")

    assert not repair(problem)

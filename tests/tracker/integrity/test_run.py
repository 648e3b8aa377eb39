"""Every kind of damage is reported, and undamaged data is not."""

from __future__ import annotations

import numpy as np
import pytest
from django.db.models import F

from tests.builders import make_project, make_run, write_series
from tests.tracker.integrity.stored import OF_A_CHUNK, POINTS, chunks_of, damage, fill
from tracker.integrity import run as module
from tracker.integrity.problem import Severity
from tracker.integrity.run import RunWalk, Seen, run_ids
from tracker.models import (
    Attribute,
    JournalEntry,
    Run,
    SeriesChunk,
    SeriesTicks,
    Spool,
    State,
)
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(project):
    return fill(project)


def problems_of(run):
    return list(RunWalk(run, Seen()).problems())


def codes_of(run):
    return [problem.code for problem in problems_of(run)]


def the_problem_of(run):
    (problem,) = problems_of(run)
    return problem


def entry_of(run):
    return JournalEntry.objects.get(run=run)


def test_a_sound_run_has_no_problems(run):
    seen = Seen()

    assert list(RunWalk(run, seen).problems()) == []
    assert seen.points == 2 * POINTS + 300 + 2
    assert (seen.runs, seen.journal_entries, seen.unreadable_points) == (1, 1, 0)
    assert seen.chunks == SeriesChunk.objects.count()
    assert seen.ticks == SeriesTicks.objects.count()


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([np.nan] * 3, id="nothing but NaN"),
        pytest.param([np.inf, -np.inf, 1.0], id="infinities"),
        pytest.param([1e308] * 3, id="sums beyond the largest float"),
        pytest.param([1e16, 1.0, -1e16], id="sums that cancel out"),
        pytest.param([-0.0, 0.0], id="signs of zero"),
        pytest.param([], id="no points"),
    ],
)
def test_strange_numbers_are_no_problems(project, values):
    run = make_run(project)
    for part in range(3):
        steps = np.arange(len(values)) + part * len(values)
        write_series(run, "loss", values, steps=steps)
        compact_run(run.id)

    assert problems_of(run) == []


def test_steps_that_repeat_are_no_problem(project):
    run = make_run(project)
    write_series(run, "loss", [1, 2, 3], steps=[0, 0, 0])
    write_series(run, "loss", [4], steps=[0])
    compact_run(run.id)
    write_series(run, "loss", [5], steps=[0])
    compact_run(run.id)

    assert problems_of(run) == []


def test_a_merged_run_has_no_problems(project):
    run = make_run(project, "long", State.FINISHED)
    for part in range(9):
        write_series(run, "loss", [part] * 2_000, steps=part * 2_000 + np.arange(2_000))
        compact_run(run.id)

    assert problems_of(run) == []


def test_a_damaged_journal_entry_is_named(run):
    damage(entry_of(run))

    problem = the_problem_of(run)

    assert (problem.code, problem.severity) == ("journal-damaged", Severity.ERROR)
    assert "its 2 points are left out" in problem.what
    assert f"run baseline ({run.id}), journal entry" in problem.where


def test_an_entry_that_was_set_aside_stays_named(run):
    damage(entry_of(run))
    JournalEntry.objects.update(is_damaged=True)

    problem = the_problem_of(run)

    assert (problem.code, problem.repair) == ("journal-damaged", None)


def test_an_entry_that_was_set_aside_for_nothing_is_named(run):
    JournalEntry.objects.update(is_damaged=True)

    assert codes_of(run) == ["journal-set-aside"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"point_count": 3}, "journal-row"),
        ({"first_number": 4, "last_number": 3}, "journal-row"),
        ({"first_number": 7, "last_number": 7}, "journal-number"),
    ],
)
def test_an_entry_whose_row_is_false_is_named(run, changes, code):
    JournalEntry.objects.update(**changes)

    assert codes_of(run) == [code]


def test_an_entry_of_a_series_that_is_not_there_is_named(run):
    make_run(run.project, "other")
    Attribute.objects.filter(path="loss").update(kind="float")

    assert "journal-series" in codes_of(run)


def test_a_damaged_chunk_is_named_with_its_series(run):
    chunk = chunks_of(run, "loss")[0]
    damage(chunk)

    problem = the_problem_of(run)

    assert (problem.code, problem.severity) == ("chunk-damaged", Severity.ERROR)
    assert problem.where.endswith(f"loss, chunk {chunk.id}")
    assert f"{OF_A_CHUNK:,} points are left out" in problem.what


@pytest.mark.parametrize(
    "changes",
    [
        {"count": F("count") + 1},
        {"finite_count": F("finite_count") - 1},
        {"minimum": 0.0},
        {"maximum": None},
        {"total": F("total") + 1},
        {"first_step": F("first_step") - 1},
        {"last_step": F("last_step") + 1},
        {"first_time": F("first_time") - 1},
        {"last_time": F("last_time") + 1},
        {"is_open": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_chunk_whose_row_is_false_is_named(run, changes):
    chunk = chunks_of(run, "accuracy")[0]
    # As from a version that wrote no checksums.
    SeriesChunk.objects.filter(id=chunk.id).update(**changes, checksum=None)

    assert "chunk-row" in codes_of(run)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"maximum": 1e6}, "maximum is 1000000.0 in its row"),
        ({"count": F("count") + 1}, "count is 9001 in its row"),
        ({"checksum": F("checksum") / 2}, "the numbers are right"),
    ],
)
def test_a_damaged_row_is_a_warning_as_its_points_are_read_instead(run, changes, said):
    chunk = chunks_of(run, "accuracy")[0]
    SeriesChunk.objects.filter(id=chunk.id).update(**changes)

    problem = the_problem_of(run)

    assert (problem.code, problem.severity) == ("row-damaged", Severity.WARNING)
    assert problem.where.endswith(f"accuracy, chunk {chunk.id}")
    assert said in problem.what
    assert "nothing is lost" in problem.advice


def test_points_that_are_damaged_with_their_row_are_named(run):
    chunk = chunks_of(run, "accuracy")[0]
    SeriesChunk.objects.filter(id=chunk.id).update(maximum=1e6)
    damage(chunk)

    assert "chunk-damaged" in codes_of(run)


def test_a_damaged_overview_is_a_warning_as_nothing_is_lost(run):
    damage(chunks_of(run, "loss")[0], "overview")

    problem = the_problem_of(run)

    assert (problem.code, problem.severity) == ("overview-damaged", Severity.WARNING)


def test_an_overview_of_other_points_is_named(run):
    loss, accuracy = chunks_of(run, "loss")[0], chunks_of(run, "accuracy")[0]
    SeriesChunk.objects.filter(id=loss.id).update(overview=accuracy.overview)

    problem = the_problem_of(run)

    assert (problem.code, problem.severity) == ("chunk-overview", Severity.ERROR)
    assert "minimum" in problem.what


def test_points_of_another_series_are_named(run):
    loss, accuracy = chunks_of(run, "loss")[0], chunks_of(run, "accuracy")[0]
    SeriesChunk.objects.filter(id=loss.id).update(data=accuracy.data)

    assert "chunk-row" in codes_of(run)


def test_damaged_ticks_are_named_once_with_all_their_chunks(run):
    ticks = SeriesTicks.objects.get(id=chunks_of(run, "loss")[0].ticks_id)
    damage(ticks)
    seen = Seen()

    (problem,) = RunWalk(run, seen).problems()

    assert problem.code == "ticks-damaged"
    assert f"ticks {ticks.id}" in problem.where
    assert "the points of 2 chunks are left out" in problem.what
    assert seen.unreadable_points == 2 * OF_A_CHUNK


def test_damaged_drawing_buckets_of_ticks_are_named_once(run):
    ticks = SeriesTicks.objects.get(id=chunks_of(run, "loss")[0].ticks_id)
    damage(ticks, "overview")

    problem = the_problem_of(run)

    assert (problem.code, problem.severity) == ("overview-damaged", Severity.WARNING)
    assert problem.where.endswith(f"ticks {ticks.id}")
    assert "charts read all points" in problem.what


def test_drawing_buckets_of_other_ticks_are_named(run):
    loss, alone = (chunks_of(run, path)[0].ticks_id for path in ("loss", "alone"))
    other = SeriesTicks.objects.get(id=alone).overview
    SeriesTicks.objects.filter(id=loss).update(overview=other)

    problem = the_problem_of(run)

    assert (problem.code, problem.severity) == ("ticks-overview", Severity.ERROR)


def test_a_false_count_of_chunks_is_named(run):
    ticks = SeriesTicks.objects.get(id=chunks_of(run, "loss")[0].ticks_id)
    SeriesTicks.objects.filter(id=ticks.id).update(chunk_count=7)

    problem = the_problem_of(run)

    assert problem.code == "chunk-count"
    assert "2 chunks refer to them, their row says 7" in problem.what


def test_chunks_whose_ticks_are_gone_are_named(run):
    ticks_id = chunks_of(run, "loss")[0].ticks_id
    SeriesChunk.objects.filter(ticks_id=ticks_id).update(ticks_id=10**9)

    codes = codes_of(run)

    assert codes.count("chunk-ticks") == 2
    assert codes.count("chunk-count") == 1


def test_chunks_of_a_series_that_is_not_there_are_named(run):
    SeriesChunk.objects.filter(id=chunks_of(run, "alone")[0].id).update(series_id=10**9)

    assert set(codes_of(run)) == {"chunk-series", "series-summary"}


@pytest.mark.parametrize(
    "changes",
    [
        {"count": F("count") + 1},
        {"finite_count": 0},
        {"minimum": None},
        {"maximum": 99.0},
        {"total": F("total") + 1},
        {"first_step": -1},
        {"last_step": 99_999},
        {"first_time": 0},
        {"last_time": 0},
        {"number": 123.0},
        {"is_nan": True, "number": None},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_summary_that_differs_from_the_chunks_is_named(run, changes):
    Attribute.objects.filter(path="accuracy").update(**changes)

    problem = the_problem_of(run)

    assert problem.code == "series-summary"
    assert problem.where.endswith("accuracy")


def test_a_summary_is_not_that_of_the_journal_too(run):
    series = Attribute.objects.get(path="loss")
    assert series.count == POINTS

    Attribute.objects.filter(id=series.id).update(count=POINTS + 2)

    assert codes_of(run) == ["series-summary"]


def test_an_attribute_of_another_project_is_named(member, run):
    other = make_project(member, "other")
    Attribute.objects.filter(path="loss").update(project=other)

    assert codes_of(run) == ["attribute-project"]


@pytest.mark.parametrize("checksums", [b"123", b"1234" * 3_000])
def test_a_spool_whose_numbers_are_false_is_named(run, checksums):
    Spool.objects.filter(rank=0).update(recent_checksums=checksums)

    assert set(codes_of(run)) == {"spool-number"}


def test_a_spool_of_another_runs_stage_is_named(project, run):
    other = make_run(project, "other")
    Spool.objects.filter(run=run).update(stage=other.stages.get())

    assert codes_of(run) == ["spool-stage"]


def test_small_portions_find_the_same(run, monkeypatch):
    damage(chunks_of(run, "loss")[1])
    expected = problems_of(run)
    monkeypatch.setattr(module, "READ_ROWS", 2)
    monkeypatch.setattr(module, "READ_BYTES", 1_000)

    assert problems_of(run) == expected


def test_runs_under_deletion_are_not_checked(project, run):
    kept = make_run(project, "kept")
    assert set(run_ids()) == {run.id, kept.id}

    Run.objects.filter(id=run.id).update(trashed_at="2026-01-01T00:00Z")
    assert run.id in run_ids()
    Run.objects.filter(id=run.id).update(purging_at="2026-01-02T00:00Z")

    assert run_ids() == [kept.id]
    assert run_ids(run.id) == []

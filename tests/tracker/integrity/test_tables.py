"""Waiting or failed work and inconsistent rows are reported."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.builders import make_project, make_run
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.runs.trash import delete_for_good, move_to_trash
from tracker.integrity.tables import (
    LONG_PURGE,
    ladder_problems,
    process_problems,
    purge_problems,
    table_counts,
    work_problems,
)
from tracker.models import Ladder, ProcessRole, Run, Work, WorkKind

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NOW = timezone.now()
HOUR = timedelta(hours=1)


@pytest.fixture
def run(member):
    run = make_run(make_project(member))
    Work.objects.all().delete()
    return run


def codes(problems):
    return [problem.code for problem in problems]


def test_a_missing_process_is_named_with_the_command_that_starts_it():
    (problem,) = process_problems([ProcessRole.WORKER])

    assert problem.code == "worker-missing"
    assert "python3 manage.py worker" in problem.advice


def test_counts_the_rows_of_every_table(run):
    counts = table_counts()

    assert (counts["Run"], counts["Spool"], counts["SeriesChunk"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"due_at": NOW}, []),
        ({"due_at": NOW - HOUR}, ["work-waits"]),
        ({"due_at": NOW - HOUR, "leased_until": NOW + HOUR}, []),
        ({"leased_until": NOW - HOUR}, ["work-waits"]),
        ({"due_at": NOW + HOUR, "attempts": 9, "last_error": "no"}, ["work-fails"]),
        ({"due_at": NOW + HOUR, "attempts": 1, "last_error": "no"}, []),
        ({}, []),
    ],
)
def test_work_that_is_stuck_is_named(run, changes, expected):
    Work.objects.create(run=run, kind=WorkKind.COMPACT, **changes)

    assert codes(work_problems(NOW)) == expected


def test_a_deletion_that_does_not_end_is_named(run):
    move_to_trash(run)
    delete_for_good(run, now=NOW)

    assert codes(purge_problems(NOW)) == []
    assert codes(purge_problems(NOW + 2 * LONG_PURGE)) == ["purge-is-slow"]


def test_a_rung_of_another_project_is_named(member, run):
    ladder = create_ladder(run.project, "faster", [RungRequest(str(run.id))])
    assert codes(ladder_problems()) == []

    Run.objects.filter(id=run.id).update(project=make_project(member, "other"))

    assert codes(ladder_problems()) == ["rung-project"]
    assert Ladder.objects.get().name == ladder.name

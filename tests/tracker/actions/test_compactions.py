from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.builders import make_project, make_run, write_series
from tracker.actions.compactions import request_compactions
from tracker.models import JournalEntry, Run, Work, WorkKind
from tracker.queries.backlog import compacted_after
from tracker.series import compaction


@pytest.mark.parametrize(
    ("age", "seconds"), [(0, 5), (49, 5), (120, 12), (201, 20), (86_400, 20)]
)
def test_points_wait_the_longer_the_older_their_run_is(age, seconds):
    assert compacted_after(timedelta(seconds=age)) == timedelta(seconds=seconds)


@pytest.fixture
def run(member):
    run = make_run(make_project(member))
    write_series(run, "loss", [1, 2, 3])
    Work.objects.all().delete()
    return run


def let_wait(run, *, age, seconds):
    now = timezone.now()
    Run.objects.filter(id=run.id).update(created_at=now - timedelta(seconds=age))
    JournalEntry.objects.update(received_at=now - timedelta(seconds=seconds))


def is_asked_for():
    request_compactions()
    return Work.objects.filter(kind=WorkKind.COMPACT).exists()


@pytest.mark.database
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("age", "seconds", "expected"),
    [(30, 3, False), (30, 6, True), (3_600, 6, False), (3_600, 21, True)],
)
def test_old_points_are_compacted(run, age, seconds, expected):
    let_wait(run, age=age, seconds=seconds)

    assert is_asked_for() is expected


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["PASS_POINTS", "PASS_ENTRIES"])
def test_many_points_do_not_wait(run, monkeypatch, name):
    let_wait(run, age=3_600, seconds=0)
    assert not is_asked_for()

    monkeypatch.setattr(f"tracker.actions.compactions.{name}", 1)

    assert getattr(compaction, name) > 1
    assert is_asked_for()

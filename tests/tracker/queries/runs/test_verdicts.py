"""Runs without a main finding: healthy, unknown, or not diagnosed."""

from __future__ import annotations

import pytest
from django.utils import timezone

from tests.builders import make_member, make_project, make_run
from tracker.diagnosis.engine.finding import NO_GPU
from tracker.models import Diagnosis
from tracker.queries.runs.verdicts import Verdict, verdicts

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def project():
    return make_project(make_member())


def diagnosed(project, name, *, healthy=(), unanswered=(), elsewhere=(), seconds=None):
    run = make_run(project, name)
    lacks = {key: ["step_seconds"] for key in unanswered}
    Diagnosis.objects.create(
        run=run,
        stage=run.stages.get(),
        diagnosed_at=timezone.now(),
        healthy=list(healthy),
        unanswered=lacks | {key: [NO_GPU] for key in elsewhere},
        ledger=seconds and {"gpus": 1, **seconds},
    )
    return run


def test_a_run_is_well_only_if_enough_rules_could_answer(project):
    runs = [
        diagnosed(project, "well", healthy="abc", unanswered="de"),
        diagnosed(project, "about others", healthy="ab", elsewhere="cdefgh"),
        diagnosed(project, "dumb", healthy="a", unanswered="bcdef"),
        diagnosed(project, "silent", unanswered="ab"),
        make_run(project, "new"),
    ]

    found = verdicts([run.id for run in runs])

    assert [found[run.id] for run in runs] == [
        Verdict.WELL,
        Verdict.WELL,
        Verdict.UNKNOWN,
        Verdict.UNKNOWN,
        Verdict.NOT_DIAGNOSED,
    ]


def test_a_run_that_loses_much_time_inside_steps_is_not_well(project):
    lost = {"computing": 60.0, "idle_in_steps": 40.0}
    around = {"computing": 60.0, "initialization": 40.0}
    runs = [
        diagnosed(project, "lost", healthy="abc", seconds=lost),
        diagnosed(project, "around", healthy="abc", seconds=around),
    ]

    found = verdicts([run.id for run in runs])

    assert [found[run.id] for run in runs] == [Verdict.UNEXPLAINED, Verdict.WELL]


def test_verdicts_of_many_runs_take_one_query(project, django_assert_num_queries):
    runs = [diagnosed(project, name, healthy="a") for name in ("one", "two")]

    with django_assert_num_queries(1):
        verdicts([run.id for run in runs])
    with django_assert_num_queries(0):
        verdicts([])

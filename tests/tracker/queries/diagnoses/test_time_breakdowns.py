from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from tests.builders import START, make_run
from tests.web.sample_run import make_sample_run
from tracker.models import Diagnosis, Project, Run
from tracker.queries.diagnoses.diagnoses import diagnoses_of
from tracker.queries.diagnoses.time_breakdowns import (
    LedgerView,
    project_ledger,
    run_ledger,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def ledger_of(run: Run) -> LedgerView | None:
    stages = (diagnosis.ledger for diagnosis in diagnoses_of(run))
    return run_ledger(stages, run.project)


def diagnosed(project: Project, name: str, *, gpus: int = 8, **seconds: float) -> Run:
    run = make_run(project, name, "finished")
    Diagnosis.objects.create(
        run=run,
        stage=run.stages.get(),
        diagnosed_at=timezone.now(),
        ledger={"gpus": gpus, "energy_joules": None, **seconds},
    )
    return run


def test_a_run_adds_up_its_stages(project):
    run = make_sample_run(project, has_gpu=True)

    ledger = ledger_of(run)

    assert ledger is not None
    assert ledger.is_of_gpus
    assert sum(part.share for part in ledger.parts) == pytest.approx(1)
    assert sum(part.seconds for part in ledger.parts) == pytest.approx(2 * 120)
    # Stages without a GPU are not included.
    assert ledger.gpus == 2
    assert ledger.share_of["data_wait"] > 0.5


def test_a_run_without_gpus_adds_up_seconds_of_its_stages(project):
    ledger = ledger_of(make_sample_run(project))

    assert ledger is not None
    assert not ledger.is_of_gpus
    assert ledger.money is None


def test_an_error_of_rounding_is_no_part(project):
    ledger = ledger_of(diagnosed(project, "a", computing=100.0, unknown=5e-14))

    assert ledger is not None
    assert [part.use for part in ledger.parts] == ["computing"]


def test_a_run_that_nobody_diagnosed_has_none(project):
    assert ledger_of(make_run(project)) is None


def test_money_is_known_with_the_projects_own_price(project):
    project.gpu_hour_price, project.currency = 2.0, "EUR"
    project.save()
    run = diagnosed(project, "one", computing=3_600.0, idle=7_200.0)

    ledger = ledger_of(Run.objects.select_related("project").get(id=run.id))

    assert ledger is not None
    assert (ledger.money, ledger.currency) == (pytest.approx(6.0), "EUR")
    assert ledger.parts[1].money == pytest.approx(4.0)


def test_a_project_adds_up_by_member_the_largest_first(project, stranger):
    diagnosed(project, "one", computing=100.0, idle=20.0)
    theirs = diagnosed(project, "two", computing=10.0, data_wait=500.0)
    Run.objects.filter(id=theirs.id).update(made_by=stranger.user)
    diagnosed(project, "without", gpus=0, computing=1e6)

    found = project_ledger(project)

    assert found.total is not None
    assert found.total.seconds == pytest.approx(630)
    assert [(m.name, m.run_count) for m in found.members] == [
        ("mallory", 1),
        ("ada", 1),
    ]
    assert [run.name for run in found.wasteful] == ["two", "one"]
    assert found.members[0].ledger.share_of["data_wait"] == pytest.approx(0.98)


def test_what_lies_in_the_trash_or_began_before_is_left_out(project):
    gone = diagnosed(project, "gone", computing=5.0)
    Run.objects.filter(id=gone.id).update(trashed_at=timezone.now())
    diagnosed(project, "old", computing=7.0)
    after = datetime.fromtimestamp(START / 1e6 + 1, UTC)

    everything, later = project_ledger(project), project_ledger(project, since=after)

    assert everything.total is not None
    assert everything.total.seconds == pytest.approx(7)
    assert later.total is None


def test_energy_is_added_up_where_it_is_known(project):
    run = diagnosed(project, "one", computing=100.0)
    Diagnosis.objects.filter(run=run).update(
        ledger={"gpus": 1, "energy_joules": 7.2e6, "computing": 1.0}
    )
    diagnosed(project, "two", computing=1.0)

    found = project_ledger(project)

    assert found.total is not None
    assert found.total.kilowatt_hours == pytest.approx(2)


def test_a_project_is_read_with_three_statements(project, django_assert_num_queries):
    for number in range(4):
        diagnosed(project, f"run {number}", computing=1.0)

    with django_assert_num_queries(3):
        project_ledger(project)

from __future__ import annotations

import pytest
from django.utils import timezone

from tests.builders import make_run
from tests.web.sample_run import make_sample_run
from tracker.models import Diagnosis, Project, Run
from tracker.queries.diagnoses.diagnoses import diagnoses_of
from tracker.queries.diagnoses.time_breakdowns import (
    LedgerView,
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


def test_a_run_without_a_diagnosis_has_no_time_breakdown(project):
    assert ledger_of(make_run(project)) is None


def test_money_is_known_with_the_projects_own_price(project):
    project.gpu_hour_price, project.currency = 2.0, "EUR"
    project.save()
    run = diagnosed(project, "one", computing=3_600.0, idle=7_200.0)

    ledger = ledger_of(Run.objects.select_related("project").get(id=run.id))

    assert ledger is not None
    assert (ledger.money, ledger.currency) == (pytest.approx(6.0), "EUR")
    assert ledger.parts[1].money == pytest.approx(4.0)

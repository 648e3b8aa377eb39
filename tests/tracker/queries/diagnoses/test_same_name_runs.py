"""The last runs with the same name, which a run is compared with."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.builders import make_member, make_project, make_run, write_values
from tests.tracker.queries.measured import finish, measure_loop
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.models import Diagnosis, Finding, Run, Stage
from tracker.queries.diagnoses.same_name_runs import read_same_name_runs, stem_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]

RULE = "slower-than-earlier-runs"


@pytest.fixture
def project():
    return make_project(make_member("ada"))


def measured(project, name="nightly", *, rate=0.1, number=0, **values) -> Run:
    run = make_run(project, f"{name}-{number}")
    measure_loop(run, step_seconds=0.05, wait_share=0.0)
    if values:
        write_values(run, {f"params/{key}": value for key, value in values.items()})
    begun = Stage.objects.get(run=run).started_at + timedelta(hours=number)
    Stage.objects.filter(run=run).update(started_at=begun)
    finish(run)
    diagnose_run(run.id)
    Diagnosis.objects.filter(run=run).update(median_step_seconds=rate)
    return run


def medians_before(run):
    found = read_same_name_runs(Stage.objects.select_related("run").get(run=run))
    return () if found is None else found.medians


def test_reads_the_newest_runs_of_the_name(project):
    measured(project, rate=0.3)
    measured(project, rate=0.4, number=1)
    measured(project, "another", number=2)
    last = measured(project, number=3)

    assert medians_before(last) == (0.4, 0.3)


def test_other_parameters_and_hardware_do_not_count(project):
    measured(project, lr=0.1)
    other = measured(project, lr=0.2, number=1)
    last = measured(project, lr=0.2, number=2)

    assert medians_before(last) == (0.1,)
    path = "monitoring/train/facts/effective_cores"
    other.attributes.filter(path=path).update(number=64.0)
    assert medians_before(last) == ()


def test_a_slower_run_is_found(project):
    for number in range(2):
        measured(project, rate=0.03, number=number)

    last = measured(project, number=2)

    assert Finding.objects.filter(run=last, rule=RULE, is_open=True).exists()


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("nightly-12", "nightly"),
        ("nightly 2026-11-28T04:00", "nightly"),
        ("resnet50", "resnet"),
        ("baseline", "baseline"),
        ("lr 0.1 wide", "lr 0.1 wide"),
        ("42", "4"),
    ],
)
def test_a_number_at_the_end_of_a_name_does_not_count(name, stem):
    assert stem_of(name) == stem

"""Diagnoses of a run over the API."""

from __future__ import annotations

import pytest

from tests.builders import make_run
from tests.web.sample_run import make_sample_run
from tracker.actions.access import make_token
from tracker.actor import Scope

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def client(api, member):
    return api(make_token(member, "reader", Scope.READ))


def diagnosis_of(client, run):
    return client.get(f"/api/v1/runs/{run.id}/diagnosis").json()


def test_the_ledger_of_a_stage_adds_up_to_its_time(client, project):
    project.gpu_hour_price, project.currency = 30.0, "EUR"
    project.save()

    diagnosis = diagnosis_of(client, make_sample_run(project, has_gpu=True))

    (train,) = (stage for stage in diagnosis["stages"] if stage["stage"] == "train")
    assert train["ledger"]["gpus"] == 2
    assert train["ledger"]["unit"] == "GPU-seconds"
    assert sum(train["ledger"]["seconds"].values()) == pytest.approx(240)
    assert diagnosis["ledger"]["money"] == pytest.approx(2)
    assert diagnosis["ledger"]["currency"] == "EUR"
    saves = train["findings"][0]["gain"]["saves"]
    assert 0 < saves["gpu_seconds"] < 240
    assert saves["money"] == pytest.approx(saves["gpu_seconds"] / 3600 * 30)
    assert saves["seconds_of_1000_steps"] == pytest.approx(
        saves["gpu_seconds"] / 0.48, rel=0.05
    )


def test_a_run_without_a_diagnosis_has_no_ledger(client, project):
    diagnosis = diagnosis_of(client, make_run(project))

    assert (diagnosis["stages"], diagnosis["ledger"]) == ([], None)


def test_findings_say_what_they_come_after(client, project):
    diagnosis = diagnosis_of(client, make_sample_run(project))

    found = [finding for stage in diagnosis["stages"] for finding in stage["findings"]]
    assert found
    assert {finding["comes_after"] for finding in found} == {None}


def test_evidence_says_which_side_of_its_limit_counts(client, project):
    diagnosis = diagnosis_of(client, make_sample_run(project))

    (train,) = (stage for stage in diagnosis["stages"] if stage["stage"] == "train")
    cited = {each["signal"]: each for each in train["findings"][0]["evidence"]}
    waiting = cited["data_wait_seconds"]
    assert (waiting["limit"], waiting["side"], waiting["release"]) == (
        *(0.1, "above"),
        0.07,
    )
    needs = {rule["rule"]: rule["needs"] for rule in train["not_applicable"]}
    assert needs["gpu-is-slowed-by-heat"] == "a GPU"

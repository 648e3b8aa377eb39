"""Time breakdowns of a project over the API."""

from __future__ import annotations

import pytest

from tests.builders import make_project, make_run
from tests.web.sample_run import make_sample_run
from tracker.actions.access import make_token
from tracker.actor import Scope

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def client(api, member):
    return api(make_token(member, "reader", Scope.READ))


def address_of(project, query=""):
    return f"/api/v1/projects/{project.workspace.slug}/{project.slug}/ledger{query}"


def test_the_ledger_of_a_project_adds_up_its_runs(client, project):
    project.gpu_hour_price, project.currency = 30.0, "EUR"
    project.save()
    runs = [make_sample_run(project, name, has_gpu=True) for name in ("one", "two")]

    body = client.get(address_of(project)).json()

    assert body["ledger"]["unit"] == "GPU-seconds"
    assert sum(body["ledger"]["seconds"].values()) == pytest.approx(2 * 240)
    assert body["ledger"]["money"] == pytest.approx(2 * 2)
    assert body["ledger"]["currency"] == "EUR"
    assert sum(each["runs"] for each in body["members"]) == 2
    assert {each["run_id"] for each in body["runs"]} == {str(run.id) for run in runs}
    first = body["runs"][0]["ledger"]
    assert sum(first["seconds"].values()) == pytest.approx(240)


def test_a_project_without_gpus_has_no_ledger(client, project):
    make_run(project)

    body = client.get(address_of(project)).json()

    assert body == {
        "ledger": None,
        "members": [],
        "machines": [],
        "gpus": [],
        "periods": [],
        "runs": [],
    }


def test_only_runs_of_the_last_days_count_if_it_is_asked_so(client, project):
    # The run started in January 2026.
    make_sample_run(project, has_gpu=True)

    assert client.get(address_of(project)).json()["ledger"] is not None
    assert client.get(address_of(project, "?days=1")).json()["ledger"] is None


@pytest.mark.parametrize("days", ["0", "-1", "36501", "many", "1e9"])
def test_days_that_are_none_are_refused(client, project, days):
    assert client.get(address_of(project, f"?days={days}")).status_code == 400


def test_the_ledger_of_a_stranger_is_not_found(client, stranger):
    hidden = make_project(stranger, "secret")

    assert client.get(address_of(hidden)).status_code == 404

"""The trash over the API: permissions to move runs there, restore and delete them."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.builders import make_member, make_run
from tracker.actions.runs.trash import LONGEST_RETENTION_DAYS
from tracker.models import Role, Run, State

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def full(client_with, member):
    return client_with(member, "manage")


@pytest.fixture
def editor(client_with, project):
    return client_with(
        make_member("grace", Role.MEMBER, workspace=project.workspace), "manage"
    )


@pytest.fixture
def viewer(client_with, project):
    return client_with(
        make_member("vera", Role.VIEWER, workspace=project.workspace), "manage"
    )


@pytest.fixture
def project_address(project):
    return f"/api/v1/projects/{project.workspace.slug}/{project.slug}"


@pytest.fixture
def address(run):
    return f"/api/v1/runs/{run.id}"


def test_moves_a_run_to_the_trash_and_back(full, address, project_address, run):
    trashed = full.post(f"{address}/trash").json()

    assert trashed == {
        "id": str(run.id),
        "is_in_trash": True,
        "is_pinned": False,
        "is_deleted": False,
    }
    assert full.get(address).status_code == 404
    listed = full.get(f"{project_address}/trash").json()
    assert (listed["total"], listed["being_deleted"]) == (1, 0)
    assert listed["runs"][0]["name"] == "baseline"
    assert listed["runs"][0]["deleted_after"] > listed["runs"][0]["trashed_at"]

    assert not full.post(f"{address}/restore").json()["is_in_trash"]
    assert full.get(address).status_code == 200
    assert full.get(f"{project_address}/trash").json()["runs"] == []


def test_deletes_for_good_only_what_is_in_the_trash(full, address, run):
    assert full.delete(address).status_code == 404
    full.post(f"{address}/trash")

    assert full.delete(address).json()["is_deleted"]

    assert full.delete(address).status_code == 404
    assert full.post(f"{address}/restore").status_code == 404
    assert full.get(address).status_code == 404


def test_a_pinned_run_is_refused_by_the_trash(full, address, run):
    assert full.post(f"{address}/pin").json()["is_pinned"]

    refused = full.post(f"{address}/trash")
    assert refused.status_code == 409
    assert refused.json()["error"] == {
        "code": "pinned",
        "message": "The run is pinned; unpin it first.",
    }

    assert not full.post(f"{address}/unpin").json()["is_pinned"]
    assert full.post(f"{address}/trash").status_code == 200


@pytest.mark.parametrize("text", ["2", "2.0", "0.2e1", "20E-1"])
def test_a_whole_number_may_be_written_in_any_way(full, project_address, project, text):
    body = f'{{"retention_days": {text}}}'

    answer = full.patch(project_address, body, content_type="application/json")

    assert answer.content.decode().count('"retention_days":2') == 1
    project.refresh_from_db()
    assert project.retention_days == 2


def test_says_how_long_a_project_keeps_runs(full, project_address, project):
    for days in (30, None):
        answer = full.patch(
            project_address, {"retention_days": days}, content_type="application/json"
        )

        assert answer.status_code == 200
        assert answer.json()["retention_days"] == days
        project.refresh_from_db()
        assert project.retention_days == days


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"retention_days": 0}, id="zero"),
        pytest.param({"retention_days": -1}, id="less"),
        pytest.param({"retention_days": 1.5}, id="a part of a day"),
        pytest.param({"retention_days": "7"}, id="a text"),
        pytest.param({"retention_days": True}, id="true"),
        pytest.param({"retention_days": LONGEST_RETENTION_DAYS + 1}, id="too long"),
        pytest.param({"retention_days": 10**30}, id="endless"),
        pytest.param({"retention_days": 1e300}, id="endless in another way"),
        pytest.param({"retention_days": -0.0}, id="zero in another way"),
    ],
)
def test_refuses_what_is_no_number_of_days(full, project_address, project, body):
    answer = full.patch(project_address, body, content_type="application/json")

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_input"
    project.refresh_from_db()
    assert project.retention_days is None


def test_editors_trash_but_owners_delete_and_decide(
    full, editor, address, project_address, run
):
    assert editor.post(f"{address}/trash").status_code == 200
    assert editor.post(f"{address}/restore").status_code == 200
    assert editor.post(f"{address}/trash").status_code == 200
    body = {"retention_days": 7}

    refused = [
        editor.delete(address),
        editor.patch(project_address, body, content_type="application/json"),
    ]

    assert [answer.status_code for answer in refused] == [403, 403]
    assert full.delete(address).status_code == 200


def test_a_reader_cannot_change_the_trash(viewer, reader, full, address, run):
    for client in (viewer, reader):
        for verb in ("trash", "pin", "unpin"):
            assert client.post(f"{address}/{verb}").status_code == 403
    full.post(f"{address}/trash")
    for client in (viewer, reader):
        assert client.post(f"{address}/restore").status_code == 403
        assert client.delete(address).status_code == 403
    assert Run.objects.in_trash().filter(id=run.id).exists()


def test_a_reader_sees_the_trash(viewer, reader, project_address):
    for client in (viewer, reader):
        assert client.get(f"{project_address}/trash").status_code == 200


@pytest.fixture
def strange(client_with, stranger):
    return client_with(stranger, "manage")


def test_for_a_stranger_nothing_is_there(strange, full, address, project_address, run):
    client = strange
    absent = client.post(f"/api/v1/runs/{uuid4()}/trash")

    hidden = client.post(f"{address}/trash")
    assert (hidden.status_code, hidden.json()) == (404, absent.json())
    assert client.get(f"{project_address}/trash").status_code == 404
    full.post(f"{address}/trash")
    assert client.post(f"{address}/restore").status_code == 404
    assert client.delete(address).status_code == 404
    days = {"retention_days": 1}
    answer = client.patch(project_address, days, content_type="application/json")
    assert answer.status_code == 404


def test_a_browser_s_session_is_no_token(client_of, member, address, run):
    browser = client_of(member)

    assert browser.post(f"{address}/trash").status_code == 401
    assert browser.delete(address).status_code == 401
    assert Run.objects.not_in_trash().filter(id=run.id).exists()


def test_the_trash_comes_in_pages(full, project, project_address):
    for number in range(3):
        run = make_run(project, f"run {number}", State.FINISHED)
        full.post(f"/api/v1/runs/{run.id}/trash")

    page = full.get(f"{project_address}/trash", {"offset": 1, "limit": 1}).json()

    assert (page["total"], [run["name"] for run in page["runs"]]) == (3, ["run 1"])

"""Ladders over the API: changed by name, read with their measurements."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.builders import make_member, make_project, make_run
from tests.ladder_runs import DEMO, make_measured_run
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.models import Ladder, Role

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def full(client_with, member):
    return client_with(member, "manage")


@pytest.fixture
def address(project):
    return f"/api/v1/projects/{project.workspace.slug}/{project.slug}/ladders"


def put(client, address, name="faster", rungs=({"run": "baseline"},)):
    return client.post(
        address, {"name": name, "rungs": list(rungs)}, content_type="application/json"
    )


def test_makes_a_ladder_of_runs_by_name_or_id(full, address, run, project):
    other = make_run(project, "decoded")

    response = put(
        full,
        address,
        rungs=[{"run": "baseline"}, {"run": str(other.id), "note": "decoded ahead"}],
    )

    assert response.status_code == 200
    rungs = response.json()["rungs"]
    assert [(rung["position"], rung["run"], rung["label"]) for rung in rungs] == [
        (0, "baseline", "baseline"),
        (1, "decoded", "decoded ahead"),
    ]


def test_the_same_call_twice_makes_one_ladder(full, address, run):
    first, second = put(full, address), put(full, address)

    assert first.json() == {**second.json(), "rungs": first.json()["rungs"]}
    assert Ladder.objects.count() == 1


def test_a_later_call_replaces_the_rungs(full, address, run, project):
    make_run(project, "other")
    put(full, address)

    response = put(full, address, rungs=[{"run": "other"}])

    assert [rung["run"] for rung in response.json()["rungs"]] == ["other"]


def test_reads_a_ladder_with_its_figures_and_verdicts(reader, project):
    runs = [make_measured_run(project, job) for job in DEMO[:2]]
    ladder = create_ladder(project, "faster", [RungRequest(str(r.id)) for r in runs])

    shown = reader.get(f"/api/v1/ladders/{ladder.id}").json()

    baseline, decoded = shown["rungs"]
    assert (shown["stage"], shown["quality_path"]) == (
        "train",
        "train/accuracy_on_test",
    )
    assert shown["summary"].startswith("baseline → decoded: 2.1")
    assert baseline["against_previous"] is None
    assert baseline["step"]["examples_per_second"] == pytest.approx(178, rel=0.02)
    assert [part["name"] for part in baseline["step"]["parts"]] == [
        "data wait",
        "backward",
        "forward",
        "other",
    ]
    assert decoded["against_previous"]["verdict"] == "faster"
    assert decoded["against_previous"]["text"].startswith("2.1")
    assert decoded["changed_params"] == [
        {"path": "params/decoded_ahead", "before": False, "after": True}
    ]
    assert decoded["predicted"]["rule"] == "too-few-loader-workers"
    assert (baseline["quality"], baseline["gpu_count"]) == (0.95, 0)


def test_unknown_values_are_null(reader, project, run):
    ladder = create_ladder(project, "faster", [RungRequest("baseline")])

    shown = reader.get(f"/api/v1/ladders/{ladder.id}").json()

    (rung,) = shown["rungs"]
    assert shown["summary"] is shown["stage"] is rung["step"] is rung["quality"] is None


def test_lists_a_project_s_ladders(reader, address, project, run):
    ladder = create_ladder(project, "faster", [RungRequest("baseline")])

    (listed,) = reader.get(address).json()["ladders"]

    assert (listed["id"], listed["name"]) == (str(ladder.id), "faster")
    assert listed["rungs"] == [{"label": "baseline", "state": "running"}]


@pytest.mark.parametrize("name", ["<script>", "../../etc", "__proto__", "\u202ename"])
def test_strange_names_come_back_as_they_went(full, address, project, name):
    make_run(project, name)

    put(full, address, name=name, rungs=[{"run": name, "note": name}])

    (listed,) = full.get(address).json()["ladders"]
    assert listed["name"] == name
    shown = full.get(f"/api/v1/ladders/{listed['id']}").json()
    assert (shown["rungs"][0]["run"], shown["rungs"][0]["note"]) == (name, name)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param({"name": "", "rungs": [{"run": "baseline"}]}, 400, id="no name"),
        pytest.param({"name": "a\0", "rungs": [{"run": "baseline"}]}, 400, id="NUL"),
        pytest.param({"name": "faster", "rungs": []}, 400, id="no rungs"),
        pytest.param({"name": "faster"}, 400, id="rungs missing"),
        pytest.param({"name": "faster", "rungs": [{"run": 7}]}, 400, id="a number"),
        pytest.param(
            {"name": "faster", "rungs": [{"run": "no"}]}, 404, id="no such run"
        ),
    ],
)
def test_refuses_bad_input(full, address, run, body, status):
    response = full.post(address, body, content_type="application/json")

    assert response.status_code == status
    assert set(response.json()["error"]) == {"code", "message"}
    assert not Ladder.objects.exists()


def test_a_token_that_may_only_read_may_not_write(reader, address, run):
    response = put(reader, address)

    assert response.status_code == 403
    assert response.json()["error"]["code"] == "not_allowed"


def test_a_viewer_s_token_may_read_but_not_write(client_with, address, project, run):
    viewer = make_member("vera", Role.VIEWER, workspace=project.workspace)
    client = client_with(viewer, "manage")

    assert client.get(address).status_code == 200
    assert put(client, address).status_code == 403


def test_a_browser_s_session_is_no_token(client_of, member, address, run):
    browser = client_of(member)

    assert browser.get(address).status_code == 200
    assert put(browser, address).status_code == 401


def test_needs_a_token(client, address, project, run):
    ladder = create_ladder(project, "faster", [RungRequest("baseline")])

    assert client.get(address).status_code == 401
    assert client.get(f"/api/v1/ladders/{ladder.id}").status_code == 401
    assert put(client, address).status_code == 401


def test_for_a_stranger_nothing_is_there(client_with, stranger, address, project, run):
    ladder = create_ladder(project, "faster", [RungRequest("baseline")])
    client = client_with(stranger, "manage")

    hidden = client.get(f"/api/v1/ladders/{ladder.id}")
    absent = client.get(f"/api/v1/ladders/{uuid4()}")

    assert hidden.status_code == client.get(address).status_code == 404
    assert put(client, address).status_code == 404
    assert hidden.json() == absent.json()


def test_another_project_s_run_cannot_be_put_on_a_ladder(full, address, stranger, run):
    hidden = make_run(make_project(stranger, "secret"), "hidden")

    assert put(full, address, rungs=[{"run": str(hidden.id)}]).status_code == 404


def test_answers_to_its_methods_only(full, address, project, run):
    ladder = create_ladder(project, "faster", [RungRequest("baseline")])

    assert full.delete(f"/api/v1/ladders/{ladder.id}").status_code == 405
    assert full.put(address).status_code == 405


def test_the_openapi_description_has_it(full):
    paths = full.get("/api/v1/openapi.json").json()["paths"]

    assert set(paths["/api/v1/projects/{workspace}/{project}/ladders"]) == {
        "get",
        "post",
    }
    assert "get" in paths["/api/v1/ladders/{ladder_id}"]

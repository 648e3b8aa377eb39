import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.builders import (
    START,
    Process,
    actor_of,
    close_message,
    make_run,
    set_message,
    write,
    write_series,
    write_tags,
    write_values,
)
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.models import JournalEntry
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

RUNS = "/api/v1/projects/ada-workspace/vision/runs"


@pytest.fixture
def names(reader, project):
    def names(**query):
        answer = reader.get(RUNS, query).json()
        return [run["name"] for run in answer["runs"]]

    return names


def test_lists_the_projects_runs(reader, run):
    write_tags(run, "good")

    answer = reader.get(RUNS).json()

    assert (answer["total"], answer["matching"]) == (1, 1)
    [listed] = answer["runs"]
    assert (listed["id"], listed["name"]) == (str(run.id), "baseline")
    assert (listed["state"], listed["tags"]) == ("running", ["good"])
    assert listed["stages"] == [{"name": "train", "state": "running"}]
    # A missing measurement is not 0.
    assert listed["gpu_percent"] is None


def test_pages_and_sorts(project, names):
    for name in "bca":
        make_run(project, name)

    assert names(sort="name") == ["a", "b", "c"]
    assert names(sort="-name") == ["c", "b", "a"]
    assert names(sort="name", offset=1, limit=1) == ["b"]


def test_searches_and_filters(project, names):
    make_run(project, "first", "finished")
    make_run(project, "second", "failed")

    assert names(search="FIR") == ["first"]
    assert names(state="failed") == ["second"]
    assert names(tag="absent") == []


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0},
        {"limit": 201},
        {"limit": "many"},
        {"offset": -1},
        {"state": "happy"},
        {"sort": "password"},
        {"search": "a\0"},
        {"query": "a <"},
        {"query": "a = 1" + " " * 2_000},
        {"cursor": "x"},
        {"column": "a\0"},
        {"sort": "median:a"},
    ],
    ids=str,
)
def test_bad_input_is_refused(reader, project, query):
    response = reader.get(RUNS, query)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_input"


def test_one_run_lists_its_stages_and_processes(reader, project):
    process = Process(project, "baseline", stage="train", rank=1)
    process.open()
    process.send([{"t": "picture"}, {"t": "drop", "points": 3}])
    process.send([close_message("failed", failure="MemoryError", time=START + 5)])

    answer = reader.get(f"/api/v1/runs/{process.run.id}").json()

    assert (answer["name"], answer["state"]) == ("baseline", "failed")
    [stage] = answer["stages"]
    assert (stage["name"], stage["failure"]) == ("train", "MemoryError")
    [listed] = stage["processes"]
    assert (listed["rank"], listed["dropped_points"]) == (1, 3)
    assert listed["refused"] == {"unknown_message": 1}


def test_one_run_says_whose_it_is_and_what_is_not_summed_up(reader, run):
    address = f"/api/v1/runs/{run.id}"
    before = reader.get(address).json()
    write_series(run, "loss", [1.0, 2.0])
    write_series(run, "other", [1.0])
    arrived = reader.get(address).json()
    compact_run(run.id)
    after = reader.get(address).json()

    assert (before["workspace"], before["project"]) == ("ada-workspace", "vision")
    assert before["waiting_points"] == 0
    assert arrived["waiting_points"] == 3
    assert after["waiting_points"] == 0


def test_damaged_entries_do_not_count_as_waiting_points(reader, run):
    write_series(run, "loss", [1.0])
    JournalEntry.objects.filter(run_id=run.id).update(is_damaged=True)

    assert reader.get(f"/api/v1/runs/{run.id}").json()["waiting_points"] == 0


@pytest.mark.parametrize("run_id", ["1", "x", "00000000-0000-4000-8000-00000000000g"])
def test_a_run_is_found_by_its_uuid_alone(reader, run_id):
    response = reader.get(f"/api/v1/runs/{run_id}")

    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    "address", ["a%00/vision", "../vision", "%2e%2e/vision", "ü/x"]
)
def test_a_project_is_found_by_its_slugs_alone(reader, project, address):
    assert reader.get(f"/api/v1/projects/{address}/runs").status_code == 404


def test_a_query_says_which_runs(project, names):
    for name, loss in [("a", 0.1), ("b", 0.2), ("c", 0.9)]:
        run = make_run(project, name)
        write_values(run, {"test/loss": loss})
        write_tags(run, name)

    assert names(query="test/loss < 0.5", sort="-path:test/loss") == ["b", "a"]
    either = "test/loss < 0.5 and tags contains a or name = c"
    assert names(query=either, sort="name") == ["a", "c"]


def test_a_bad_query_is_refused_with_its_place(reader, project):
    response = reader.get(RUNS, {"query": "test/loss << 3"})

    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == "invalid_input"
    assert "character 12" in error["message"]


def test_cursors_lead_from_page_to_page(reader, project):
    for number in range(5):
        write_values(make_run(project, f"run {number}"), {"x": number})
    query = {"sort": "path:x", "limit": 2}
    found, cursor = [], ""

    while cursor is not None:
        answer = reader.get(RUNS, {**query, "cursor": cursor}).json()
        found += [run["name"] for run in answer["runs"]]
        cursor = answer["next"]

    assert found == [f"run {number}" for number in range(5)]


def test_columns_say_what_the_runs_hold(reader, run):
    write_values(run, {"x": 1, "y": float("nan")})
    write_series(run, "loss", [1.0, 2.0])
    compact_run(run.id)

    [listed] = reader.get(RUNS, {"column": ["loss", "none", "y", "x"]}).json()["runs"]

    loss, none, y, x = listed["attributes"]
    assert (loss["value"], loss["mean"], loss["count"]) == (2.0, 1.5, 2)
    assert none is None
    assert (y["value"], x["value"], x["kind"]) == ("NaN", 1, "integer")


def test_sorts_by_a_summary(project, names):
    for name, values in [("a", [3.0, 2.0]), ("b", [1.0, 4.0]), ("c", [9.0, 9.0])]:
        run = make_run(project, name)
        write_series(run, "loss", values)
        compact_run(run.id)

    assert names(sort="min:loss") == ["b", "a", "c"]
    assert names(sort="-max:loss") == ["c", "b", "a"]
    assert names(sort="mean:loss") in (["a", "b", "c"], ["b", "a", "c"])


PATHS = "/api/v1/projects/ada-workspace/vision/attribute-paths"


def test_paths_complete_a_query(reader, run):
    write_values(run, {"train/lr": 0.1, "test/x": 1})
    write_series(run, "train/loss", [1.0])

    answer = reader.get(PATHS, {"prefix": "train/"}).json()

    assert answer == {
        "paths": [
            {"path": "train/loss", "kind": "float_series"},
            {"path": "train/lr", "kind": "float"},
        ]
    }
    only = reader.get(PATHS, {"kind": "integer"}).json()["paths"]
    assert [path["path"] for path in only] == ["test/x"]


def test_a_stranger_learns_no_paths(api, stranger, project):
    token = make_token(stranger, "t", Scope.READ)

    assert api(token).get(PATHS).status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"sort": "-path:score"},
        {"sort": "path:score", "query": "score > 0.2 or seed = 3", "offset": 2},
        {"query": 'state = running and not tags contains "bad"', "search": "run"},
        {"sort": "-finding"},
    ],
)
def test_many_runs_take_as_many_statements_as_few(reader, project, query):
    def statements():
        reader.get(RUNS, query)  # fills the caches
        with CaptureQueriesContext(connection) as captured:
            answer = reader.get(RUNS, {**query, "limit": 200})
        return len(captured), len(answer.json()["runs"])

    make_some(project, range(10))
    few = statements()
    make_some(project, range(10, 20))
    many = statements()

    assert few[1] < many[1]
    assert few[0] == many[0]


def make_some(project, numbers):
    for number in numbers:
        run = make_run(project, f"run {number}")
        values = [set_message("score", number / 10), set_message("seed", number)]
        write(run, [*values, {"t": "tags", "add": ["good"], "remove": []}])


def test_processes_that_reopened_a_finished_run_are_listed(reader, project, member):
    run = make_run(project, "first", "finished")
    assert reader.get(f"/api/v1/runs/{run.id}").json()["reopenings"] == []
    process = Process(project, "first", actor=actor_of(member), time=START + 60)
    process.send([{**process.opening, "resume": True}])

    [row] = reader.get(f"/api/v1/runs/{run.id}").json()["reopenings"]

    assert row.pop("joined_at")
    assert row.pop("token").startswith("test (smk_")
    assert row == {
        "user": "ada",
        "stage": "train",
        "rank": 0,
        "host": "node-1",
        "may_change": True,
        "is_new_stage": False,
    }

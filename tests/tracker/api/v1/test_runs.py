import pytest

from tests.builders import START, Process, close_message, make_run, write_tags

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
    # Not measured is not 0.
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

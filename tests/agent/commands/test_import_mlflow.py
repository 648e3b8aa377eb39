"""Import of MLflow's runs from a folder, a database and a server, without MLflow."""

from __future__ import annotations

import math
import sqlite3

import pytest

from seamark.commands import main
from tests.agent.commands.spooled import (
    of_kind,
    paths_of,
    points_of,
    values_at,
    values_of,
)
from tests.agent.mlflow_stores import (
    BEGAN,
    StoredRun,
    TrackingServer,
    write_database,
    write_folder,
)

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415408d763f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("SEAMARK_MODE", "offline")
    for name in ("TOKEN", "USERNAME", "PASSWORD"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)


@pytest.fixture
def serve():
    """Return a function that starts a tracking server; all are stopped in the end."""
    started = []

    def start(*runs, **options):
        started.append(TrackingServer(*runs, **options))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture(params=["folder", "database", "server"])
def store(request, tmp_path, serve):
    """Return a function that writes runs into each kind of store, and its place."""

    def write(*runs):
        if request.param == "server":
            return serve(*runs).url
        writers = {"folder": write_folder, "database": write_database}
        return str(writers[request.param](tmp_path, *runs))

    return write


def import_mlflow(*words):
    return main(["import", "mlflow", *map(str, words)])


def test_a_run_keeps_its_name_values_and_times(store, messages):
    run = StoredRun(
        "a1",
        metrics={"train/loss": [(0, 0.5, 1), (10, 0.25, 2)]},
        params={"lr": "0.1", "model/name": "net ü", "empty": ""},
        tags={"team": "blue", "mlflow.note.content": "A try"},
    )

    assert import_mlflow(store(run)) == 0

    found = messages()
    (opened,), (closed,) = of_kind(found, "open"), of_kind(found, "close")
    assert (opened["run"], opened["project"]) == ("baseline", "vision")
    assert opened["time"] == BEGAN * 1_000
    assert (closed["state"], closed["time"]) == ("finished", (BEGAN + 60_000) * 1_000)
    assert points_of(found, "train/loss") == [
        (0.0, (BEGAN + 1_000) * 1_000),
        (10.0, (BEGAN + 2_000) * 1_000),
    ]
    values = values_of(found)
    assert values["params/lr"] == 0.1
    assert values["params/model/name"] == "net ü"
    assert values["params/empty"] == ""
    assert values["mlflow/tags/team"] == "blue"
    assert values["description"] == "A try"


def test_only_parameters_are_set_before_the_metrics(store, messages):
    run = StoredRun(
        "a1", metrics={"x": [(1, 0.5, 0)]}, params={"lr": "0.1"}, tags={"team": "blue"}
    )

    assert import_mlflow(store(run)) == 0

    early = {each["path"]: each.get("early") for each in of_kind(messages(), "set")}
    assert early["params/lr"]
    assert not early["mlflow/tags/team"]


def test_infinities_nan_and_repeated_steps_stay(store, messages):
    numbers = [math.nan, math.inf, -math.inf, 0.5, 0.25]
    points = [(3, number, late) for late, number in enumerate(numbers)]

    assert import_mlflow(store(StoredRun("a1", metrics={"x": points}))) == 0

    found = messages()
    assert [step for step, _ in points_of(found, "x")] == [3.0] * 5
    values = values_at(found, "x")
    assert math.isnan(values[0])
    assert values[1:] == numbers[1:]


def test_system_metrics_become_hardware_metrics(store, messages):
    names = (
        "cpu_utilization_percentage",
        "gpu_1_memory_usage_megabytes",
        "disk_usage_percentage",
        "node-0/gpu_0_utilization_percentage",
    )
    metrics = {f"system/{name}": [(1, 5.0, 0)] for name in names}

    assert import_mlflow(store(StoredRun("a1", metrics=metrics))) == 0

    found = messages()
    assert paths_of(found) == {
        "monitoring/main/host/cpu_percent",
        "monitoring/main/gpu/1/memory_used_bytes",
        "system/disk_usage_percentage",
        "system/node-0/gpu_0_utilization_percentage",
    }
    assert values_at(found, "monitoring/main/gpu/1/memory_used_bytes") == [5e6]


def test_nested_failed_and_deleted_runs(store, messages):
    nested = {"mlflow.parentRunId": "z9"}
    runs = (
        StoredRun("a1", "trial", tags=nested, status="FAILED"),
        StoredRun("b2", "deleted", lifecycle="deleted"),
        StoredRun("z9", "search", status="KILLED"),
    )

    assert import_mlflow(store(*runs)) == 0

    found = messages()
    parents = {each["run"]: each.get("parent", "") for each in of_kind(found, "open")}
    assert parents == {"search": "", "trial": "search"}
    assert {each["state"] for each in of_kind(found, "close")} == {"failed"}


def test_artifacts_are_files_and_logged_images_are_series(store, messages):
    image = "images/val~cat+step+4+timestamp+1700000000500+0a1b-2c"
    artifacts = {
        "model/weights.bin": b"\0\1",
        "notes.txt": b"hello",
        f"{image}.png": PNG,
        f"{image}+compressed.webp": b"RIFF",
    }
    place = store(StoredRun("a1", artifacts=artifacts))

    assert import_mlflow(place) == 0

    found = messages()
    assert {each["path"] for each in of_kind(found, "file")} == {
        "artifacts/model/weights.bin",
        "artifacts/notes.txt",
    }
    (picture,) = of_kind(found, "records")
    assert (picture["path"], picture["kind"]) == ("images/val/cat", "image")


def test_artifacts_can_be_left_out(store, messages):
    place = store(StoredRun("a1", artifacts={"notes.txt": b"hello"}))

    assert import_mlflow(place, "--no-artifacts") == 0

    assert of_kind(messages(), "file") == []


def test_only_the_named_experiments_are_imported(store, messages, capsys):
    place = store(
        StoredRun("a1", "one"),
        StoredRun("b2", "two", experiment="speech"),
        StoredRun("c3", "three", experiment="speech"),
    )

    assert import_mlflow(place, "--experiment", "speech") == 0
    opened = of_kind(messages(), "open")
    assert {(each["run"], each["project"]) for each in opened} == {
        ("two", "speech"),
        ("three", "speech"),
    }

    assert import_mlflow(place, "--experiment", "audio") == 1
    assert "no experiment 'audio'; there are 'speech', 'vision'" in (
        capsys.readouterr().err
    )


def test_runs_of_one_name_stay_apart(store, messages):
    place = store(StoredRun("a1" * 16), StoredRun("b2" * 16))

    assert import_mlflow(place) == 0

    names = {each["run"] for each in of_kind(messages(), "open")}
    assert names == {"baseline", "baseline-b2b2b2b2"}


def test_a_folder_prefers_its_database(tmp_path, messages):
    write_folder(tmp_path, StoredRun("a1", "from the folder"))
    write_database(tmp_path, StoredRun("a1", "from the database"))

    assert import_mlflow(tmp_path) == 0

    (opened,) = of_kind(messages(), "open")
    assert opened["run"] == "from the database"


def test_a_folder_that_contains_mlruns_is_enough(tmp_path, messages):
    write_folder(tmp_path, StoredRun("a1"))

    assert import_mlflow(tmp_path) == 0

    assert len(of_kind(messages(), "open")) == 1


def test_damaged_lines_and_runs_do_not_stop_the_others(tmp_path, messages, capsys):
    runs = [StoredRun(key, key, metrics={"x": [(1, 0.5, 0)]}) for key in ("a1", "b2")]
    folder = write_folder(tmp_path, *runs)
    with (folder / "vision" / "a1" / "metrics" / "x").open("a") as file:
        file.write("1700000000001 0.")
        file.write("x 2\n1700000000002 0.75 3\n")
    (folder / "vision" / "b2" / "meta.yaml").write_text("")

    assert import_mlflow(folder) == 0

    found = messages()
    assert [step for step, _ in points_of(found, "x")] == [1.0, 3.0]
    errors = capsys.readouterr().err
    assert "line 2: 'x' has a damaged line" in errors
    assert "the run 'b2' cannot be read" in errors


def test_metrics_of_other_versions_are_read(tmp_path, messages):
    folder = write_folder(tmp_path, StoredRun("a1"))
    file = folder / "vision" / "a1" / "metrics" / "x"
    file.parent.mkdir()
    file.write_text("1700000000000 0.5 4 data d1gest\n")
    (file.parent / "old").write_text("1700000000000 0.5\n")

    assert import_mlflow(folder) == 0

    found = messages()
    assert [step for step, _ in points_of(found, "x")] == [4.0]
    assert paths_of(found) == {"x", "old"}


def test_artifacts_of_a_moved_database_are_found(tmp_path, messages):
    (tmp_path / "before").mkdir()
    run = StoredRun("a1", artifacts={"notes.txt": b"hello"})
    write_database(tmp_path / "before", run)
    (tmp_path / "before").rename(tmp_path / "after")

    assert import_mlflow(tmp_path / "after") == 0

    assert len(of_kind(messages(), "file")) == 1


def test_artifacts_in_a_bucket_are_reported(tmp_path, messages, capsys):
    path = write_database(tmp_path, StoredRun("a1", params={"lr": "0.1"}))
    with sqlite3.connect(path) as database:
        database.execute("UPDATE runs SET artifact_uri = 's3://bucket/1/a1/artifacts'")

    assert import_mlflow(path) == 0

    assert values_of(messages())["params/lr"] == 0.1
    assert "artifacts are skipped: its artifacts are in s3://bucket" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("user", "expected"),
    [("", "Bearer secret"), ("ann:pass%40word@", "Basic YW5uOnBhc3NAd29yZA==")],
)
def test_credentials_are_those_of_mlflows_client(
    user, expected, serve, monkeypatch, messages
):
    server = serve(StoredRun("a1"), authorization=expected)
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "secret")

    assert import_mlflow(server.url.replace("//", f"//{user}", 1)) == 0

    assert len(of_kind(messages(), "open")) == 1


def test_missing_credentials_are_named(serve, capsys):
    server = serve(StoredRun("a1"), authorization="Bearer secret")

    assert import_mlflow(server.url) == 1

    assert "(401): set MLFLOW_TRACKING_TOKEN" in capsys.readouterr().err


def test_a_lost_artifact_is_reported(serve, messages, capsys):
    class Forgetful(dict):
        def get(self, path):
            return None if path == "lost.txt" else super().get(path)

    artifacts = Forgetful({"lost.txt": b"x", "notes.txt": b"hello"})
    server = serve(StoredRun("a1", artifacts=artifacts))

    assert import_mlflow(server.url) == 0

    assert len(of_kind(messages(), "file")) == 1
    assert "'lost.txt' is skipped" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "answer", "reason"),
    [
        (
            "experiments/search",
            {"experiments": 3},
            "a response with malformed 'experiments': 3.",
        ),
        (
            "experiments/search",
            {"experiments": [{"name": "vision"}]},
            "sends an experiment without 'experiment_id'.",
        ),
        (
            "runs/search",
            {"runs": [{"info": {"run_id": "a1", "start_time": "soon"}}]},
            "the run 'a1' with malformed 'start_time': 'soon'.",
        ),
        (
            "runs/search",
            {"runs": [{"info": {"run_id": "a1", "end_time": 10**30}}]},
            f"the run 'a1' with malformed 'end_time': {10**30}.",
        ),
        ("runs/search", {"runs": [{"info": {}}]}, "sends a run without 'run_uuid'."),
        (
            "runs/search",
            {"runs": [{"info": {"run_id": "a1"}, "data": {"tags": [[]]}}]},
            "a response with malformed 'tags': [[]].",
        ),
        (
            "metrics/get-history",
            {"metrics": [{"value": "high"}]},
            "a point of 'loss' with malformed 'value': 'high'.",
        ),
        (
            "metrics/get-history",
            {"metrics": [{"value": 0.5, "step": float("inf")}]},
            "a point of 'loss' with malformed 'step': inf.",
        ),
        (
            "metrics/get-history",
            {"metrics": [{"value": 0.5, "timestamp": {}}]},
            "a point of 'loss' with malformed 'timestamp': {}.",
        ),
    ],
)
def test_a_malformed_response_of_a_server_is_named(
    place, answer, reason, serve, capsys
):
    server = serve(StoredRun("a1", metrics={"loss": [(0, 0.5, 0)]}))
    server.replaced[place] = answer

    assert import_mlflow(server.url) == 1

    printed = capsys.readouterr().err
    assert f"'{server.url}' cannot be read: the server sends" in printed
    assert reason in printed


def test_other_places_are_rejected(tmp_path, serve, capsys):
    (tmp_path / "notes.txt").write_text("hello")
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE x (y)").close()
    (tmp_path / "empty").mkdir()
    half = write_database(tmp_path, StoredRun("a1"))
    half.write_bytes(half.read_bytes()[:9_000])

    for place, reason in (
        (tmp_path / "gone", "File not found"),
        (tmp_path / "notes.txt", "it is not an SQLite database"),
        (tmp_path / "other.db", "it is not a database of MLflow"),
        (tmp_path / "empty", "There is neither mlflow.db nor an experiment"),
        (half, "the database cannot be read"),
        ("http://127.0.0.1:1", "cannot be reached"),
        (serve().url, "There is no run in"),
    ):
        assert import_mlflow(place) == 1
        assert reason in capsys.readouterr().err

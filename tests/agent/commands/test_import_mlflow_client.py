"""Import of MLflow's runs from other stores, by a double of MLflow's client."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import pytest

from seamark.commands import main
from tests.agent.commands.spooled import of_kind, points_of, values_of

BEGAN = 1_700_000_000_000  # milliseconds


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("SEAMARK_MODE", "offline")


class Page(list):
    token = None


class Client:
    """MLflow's client, with the runs of one experiment."""

    runs: tuple[SimpleNamespace, ...] = ()
    uris: ClassVar[list[str]] = []

    def __init__(self, tracking_uri):
        self.uris.append(tracking_uri)

    def search_experiments(self):
        return [SimpleNamespace(name="vision", experiment_id="1")]

    def search_runs(self, experiment_ids, max_results, order_by, page_token):
        assert experiment_ids == ["1"]
        return Page(self.runs)

    def get_metric_history(self, run_id, key):
        (run,) = [run for run in self.runs if run.info.run_id == run_id]
        return [
            SimpleNamespace(key=key, value=value, step=step, timestamp=BEGAN + number)
            for number, (step, value) in enumerate(run.data.metrics[key])
        ]

    def list_artifacts(self, run_id, path):
        if path is None:
            return [SimpleNamespace(path="docs", is_dir=True)]
        return [
            SimpleNamespace(path=f"docs/{name}", is_dir=False)
            for name in ("notes.txt", "lost.txt")
        ]

    def download_artifacts(self, run_id, path, folder):
        if path == "docs/lost.txt":
            raise OSError("no such artifact")
        target = Path(folder) / "notes.txt"
        target.write_text("hello")
        return str(target)


def make_run(name, run_id, metrics, *, status="FINISHED", params=None, tags=None):
    info = SimpleNamespace(
        run_id=run_id,
        run_name=name,
        start_time=BEGAN,
        end_time=BEGAN + 60_000,
        status=status,
    )
    data = SimpleNamespace(metrics=metrics, params=params or {}, tags=tags or {})
    return SimpleNamespace(info=info, data=data)


@pytest.fixture
def client(monkeypatch):
    """Return a class of its own for each test."""
    module = ModuleType("mlflow")
    double = type("MlflowClient", (Client,), {"uris": []})
    module.MlflowClient = double
    monkeypatch.setitem(sys.modules, "mlflow", module)
    return double


def import_mlflow(*words):
    return main(["import", "mlflow", "postgresql://host/db", *words])


def test_a_run_keeps_its_name_values_and_times(client, messages):
    metrics = {"loss": [(0, 0.5), (10, 0.25)]}
    client.runs = (make_run("first", "a1", metrics, params={"lr": "0.1"}),)

    assert import_mlflow("--no-artifacts") == 0

    found = messages()
    (opened,), (closed,) = of_kind(found, "open"), of_kind(found, "close")
    assert (opened["run"], opened["project"]) == ("first", "vision")
    assert opened["time"] == BEGAN * 1_000
    assert (closed["state"], closed["time"]) == ("finished", (BEGAN + 60_000) * 1_000)
    assert points_of(found, "loss") == [
        (0.0, BEGAN * 1_000),
        (10.0, (BEGAN + 1) * 1_000),
    ]
    assert values_of(found)["params/lr"] == 0.1


def test_a_metric_without_steps_is_counted(client, messages):
    client.runs = (make_run("r", "a1", {"loss": [(0, 0.5), (0, 0.25), (0, 0.1)]}),)

    assert import_mlflow("--no-artifacts") == 0

    assert [step for step, _ in points_of(messages(), "loss")] == [0.0, 1.0, 2.0]


def test_a_run_without_metrics_is_imported(client, messages, capsys):
    client.runs = (make_run("r", "a1", {}, params={"lr": "0.1"}),)

    assert import_mlflow("--no-artifacts") == 0

    assert values_of(messages())["params/lr"] == 0.1
    assert capsys.readouterr().out.startswith("1 value is in the run 'r'")


def test_failed_and_nested_runs_stay_so(client, messages):
    nested = {"mlflow.parentRunId": "a1"}
    client.runs = (
        make_run("sweep", "a1", {"loss": [(0, 0.5)]}),
        make_run("trial", "b2", {"loss": [(0, 0.5)]}, status="FAILED", tags=nested),
    )

    assert import_mlflow("--no-artifacts") == 0

    found = messages()
    parents = {each["run"]: each.get("parent", "") for each in of_kind(found, "open")}
    assert parents == {"sweep": "", "trial": "sweep"}
    assert sorted(each["state"] for each in of_kind(found, "close")) == [
        "failed",
        "finished",
    ]


def test_artifacts_are_files_and_a_lost_one_is_reported(client, messages, capsys):
    client.runs = (make_run("r", "a1", {"loss": [(0, 0.5)]}),)

    assert import_mlflow() == 0

    (file,) = of_kind(messages(), "file")
    assert file["path"] == "artifacts/docs/notes.txt"
    assert "'docs/lost.txt' is skipped" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["nowhere.db"], 1, "File not found"),
        (["databricks", "--experiment", "x"], 1, "no experiment 'x'"),
        (["databricks", "--run", "r"], 2, "--run names one run"),
    ],
)
def test_unusable_arguments_are_rejected(client, words, code, reason, capsys):
    client.runs = tuple(make_run(key, key, {}) for key in "ab")

    assert main(["import", "mlflow", *words]) == code
    assert reason in capsys.readouterr().err


def test_an_error_of_mlflow_is_shown(client, capsys):
    def fail(self):
        raise RuntimeError("Detected out-of-date database schema")

    client.search_experiments = fail

    assert import_mlflow() == 1
    assert "out-of-date database schema" in capsys.readouterr().err


def test_without_mlflow_the_command_names_the_solution(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mlflow", None)

    assert import_mlflow() == 1
    assert "needs MLflow, which is not installed" in capsys.readouterr().err

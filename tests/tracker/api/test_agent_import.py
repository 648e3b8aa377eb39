"""Imported data reaches a real server exactly once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from seamark.commands import COMMANDS, main
from seamark.commands.importing.files import Imported, Importer, marks_of, settings_of
from seamark.commands.parsing import parse
from seamark.importers.reading import Reading
from tests.agent.event_files import append, event, file_name, scalar
from tests.agent.mlflow_stores import StoredRun, write_database
from tests.agent.neptune_files import losses, value, write_run
from tests.builders import make_member, make_project
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.models import Run, State
from tracker.queries.series.series import read_points

pytestmark = pytest.mark.django_db(transaction=True)

LOG = """\
timestamp, index, utilization.gpu [%]
2026/08/12 10:00:00.000, 0, 45 %
2026/08/12 10:00:01.000, 0, 46 %
"""


@pytest.fixture
def command(live_server, monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("SEAMARK_")]:
        monkeypatch.delenv(name)
    member = make_project(make_member(), "vision").workspace.members.get()
    monkeypatch.setenv("SEAMARK_CONFIG", str(tmp_path / "none.json"))
    monkeypatch.setenv("SEAMARK_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setenv("SEAMARK_URL", live_server.url)
    monkeypatch.setenv("SEAMARK_TOKEN", make_token(member, "test", Scope.MANAGE))
    (tmp_path / "gpu.csv").write_text(LOG)
    words = ["import", "nvidia-smi", str(tmp_path / "gpu.csv"), "--zone", "UTC"]
    return [*words, "--project", "vision", "--run", "night", "--json"]


def values():
    path = "monitoring/main/gpu/0/utilization_percent"
    return read_points(Run.objects.get(), path).values.tolist()


def test_a_log_arrives_and_its_run_was_when_the_log_was(command):
    assert main(command) == 0

    run = Run.objects.get()
    assert (run.name, run.state) == ("night", State.FINISHED)
    assert (run.started_at.hour, run.ended_at.second) == (10, 1)
    assert values() == [45.0, 46.0]


def test_the_same_file_is_imported_once_unless_that_is_wanted(command, capsys):
    assert main(command) == 0
    capsys.readouterr()

    assert main(command) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "already_imported"
    assert values() == [45.0, 46.0]

    assert main([*command, "--again"]) == 0
    assert len(values()) == 4
    assert main([*command, "--stage", "another"]) == 0


def break_off(command):
    """Import the first sample, and interrupt the import before the second."""
    _, chosen = parse(command, COMMANDS)
    settings = settings_of(chosen)
    ((file, mark),) = marks_of(chosen, settings, map(Path, chosen.files)).items()
    importer = Importer(settings, Imported())

    def readings():
        yield Reading(1_786_528_800_000_000, {"gpu/0/utilization_percent": 45.0})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), importer.importing(mark, file):
        importer.log_readings(readings())
    importer.finish()


def test_a_file_that_is_there_in_part_is_imported_elsewhere_or_again(command, capsys):
    break_off(command)

    assert main(command) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "partly_imported"
    assert "into another run" in error["message"]
    assert values() == [45.0]

    assert main([*command, "--again"]) == 0
    assert len(values()) == 3
    capsys.readouterr()
    assert main(command) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "already_imported"


def test_runs_with_names_of_their_own_are_imported_once(command, tmp_path, capsys):
    for number in range(2):
        append(
            tmp_path / "logs" / f"exp{number}" / file_name(),
            event(1, scalar("loss", 0.5 + number)),
        )
    words = ["import", "tensorboard", str(tmp_path / "logs"), "--project", "vision"]

    assert main(words) == 0
    assert main(words) == 0

    assert "0 runs imported, 2 skipped" in capsys.readouterr().out
    assert sorted(Run.objects.values_list("name", flat=True)) == ["exp0", "exp1"]


def test_a_run_of_the_same_name_is_not_taken_for_the_imported_one(command, tmp_path):
    for number in range(2):
        append(
            tmp_path / f"logs{number}" / "exp" / file_name(),
            event(1, scalar("loss", 0.5 + number)),
        )
    folders = [str(tmp_path / f"logs{number}" / "exp") for number in range(2)]

    for folder in folders:
        assert main(["import", "tensorboard", folder, "--project", "vision"]) == 0
    for folder in folders:
        assert main(["import", "tensorboard", folder, "--project", "vision"]) == 1

    assert sorted(Run.objects.values_list("name", flat=True)) == ["exp", "exp-2"]


def test_a_fork_of_neptune_continues_a_run_of_an_earlier_import(
    command, tmp_path, capsys
):
    write_run(tmp_path, "parent", losses(9), name="parent")
    words = ["import", "neptune", str(tmp_path), "--project", "vision"]
    assert main(words) == 0
    origin = [
        value("sys/forking/parent", "string", "parent"),
        value("sys/forking/step", "float", 2.0),
    ]
    write_run(tmp_path, "child", origin, name="child")

    assert main(words) == 0
    assert main(words) == 0

    assert "0 runs imported, 2 skipped" in capsys.readouterr().out
    parent, child = (Run.objects.get(name=name) for name in ("parent", "child"))
    assert (child.fork.source, child.fork.step) == (parent, 2.0)
    assert len(read_points(parent, "train/loss").values) == 9


def test_nested_runs_of_mlflow_are_imported_once(command, tmp_path, capsys):
    parent = StoredRun("a1", "search", metrics={"loss": [(0, 0.5, 0), (1, 0.25, 1)]})
    child = StoredRun("b2", "trial", tags={"mlflow.parentRunId": "a1"})
    words = ["import", "mlflow", str(write_database(tmp_path, parent))]
    assert main(words) == 0
    (tmp_path / "mlflow.db").unlink()
    write_database(tmp_path, parent, child)

    assert main(words) == 0
    assert main(words) == 0

    assert "0 runs imported, 2 skipped" in capsys.readouterr().out
    search, trial = (Run.objects.get(name=name) for name in ("search", "trial"))
    assert trial.parent == search
    assert read_points(search, "loss").values.tolist() == [0.5, 0.25]

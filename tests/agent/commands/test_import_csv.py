"""Import of metrics from CSV files: one run per file."""

from __future__ import annotations

import pytest

from seamark.commands import main
from tests.agent.commands.spooled import of_kind, points_of

TABLE = "step,timestamp,loss\n1,1700000000,0.5\n2,1700000001,0.25\n"


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("SEAMARK_MODE", "offline")


@pytest.fixture
def table(tmp_path):
    folder = tmp_path / "version_3"
    folder.mkdir()
    (folder / "metrics.csv").write_text(TABLE)
    return folder / "metrics.csv"


def import_csv(*words):
    return main(["import", "csv", *map(str, words)])


def test_each_file_is_a_run_with_a_telling_name(table, messages):
    other = table.parent / "loss.csv"
    other.write_text(TABLE + "3,1700000002,0.1\n")

    assert import_csv(table, other) == 0

    found = messages()
    assert {each["run"] for each in of_kind(found, "open")} == {"version_3", "loss"}
    assert {each["state"] for each in of_kind(found, "close")} == {"finished"}


def test_steps_and_times_are_those_of_the_file(table, messages):
    assert import_csv(table, "--run", "mine") == 0

    found = messages()
    (opened,) = of_kind(found, "open")
    second = 1_000_000
    assert (opened["run"], opened["time"]) == ("mine", 1_700_000_000 * second)
    assert points_of(found, "loss") == [
        (1.0, 1_700_000_000 * second),
        (2.0, 1_700_000_001 * second),
    ]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--step", "x"], "There is no column 'x'"),
        (["--time", "x"], "There is no column 'x'"),
        (["--zone", "x"], "unknown time zone"),
    ],
)
def test_unusable_arguments_are_rejected(table, words, reason, capsys):
    assert import_csv(table, *words) == 2
    assert reason in capsys.readouterr().err


def test_a_folder_is_rejected(table, capsys):
    assert import_csv(table.parent) == 1
    assert "is a folder; name its files" in capsys.readouterr().err

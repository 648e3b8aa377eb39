"""Import of TensorBoard's event files: one run per folder."""

from __future__ import annotations

import json
import struct

import pytest

from seamark.commands import main
from tests.agent.commands.spooled import of_kind, paths_of, points_of, values_of
from tests.agent.event_files import (
    append,
    event,
    file_name,
    hyperparameters,
    message,
    scalar,
    tensor,
)

BEGAN = 1_700_000_000.0


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("SEAMARK_MODE", "offline")


def write_run(folder, *, tag="loss", start=BEGAN, number=0):
    """Write a run of two scalars, a second apart, whose file is a second older."""
    append(
        folder / file_name(number),
        message((1, start)),
        event(10, scalar(tag, 0.5), wall_time=start + 1),
        event(20, scalar(tag, 0.25), wall_time=start + 2),
    )


def names_of(messages):
    return sorted(each["run"] for each in of_kind(messages, "open"))


def test_each_folder_with_event_files_is_a_run(tmp_path, messages, capsys):
    write_run(tmp_path / "logs" / "exp0")
    write_run(tmp_path / "logs" / "group" / "exp1", start=BEGAN + 100)

    assert main(["import", "tensorboard", str(tmp_path / "logs")]) == 0

    assert names_of(messages()) == ["exp0", "group/exp1"]
    assert "2 runs imported, 0 skipped." in capsys.readouterr().out


def test_steps_and_times_are_those_of_the_writer(tmp_path, messages):
    write_run(tmp_path / "exp0")

    assert main(["import", "tensorboard", str(tmp_path / "exp0")]) == 0

    found = messages()
    (opened,), (closed,) = of_kind(found, "open"), of_kind(found, "close")
    second = 1_000_000
    start = int(BEGAN) * second
    assert (opened["run"], opened["time"]) == ("exp0", start)
    assert closed["time"] == start + 2 * second
    assert points_of(found, "loss") == [
        (10.0, start + second),
        (20.0, start + 2 * second),
    ]


def test_train_and_validation_are_parts_of_one_run(tmp_path, messages):
    write_run(tmp_path / "fit" / "train")
    write_run(tmp_path / "fit" / "validation", start=BEGAN + 1)

    assert main(["import", "tensorboard", str(tmp_path / "fit")]) == 0

    found = messages()
    assert names_of(found) == ["fit"]
    assert {"train/loss", "validation/loss"} <= paths_of(found)


def test_hyperparameters_become_parameters(tmp_path, messages):
    write_run(tmp_path / "exp0")
    given = hyperparameters(lr=0.1, optimizer="adam", amp=True)
    # PyTorch writes them with their metrics into a folder of their own.
    append(
        tmp_path / "exp0" / "1700000003.25" / file_name(1),
        event(0, given, wall_time=BEGAN + 3),
        event(0, scalar("hparam/accuracy", 0.9), wall_time=BEGAN + 3),
    )

    assert main(["import", "tensorboard", str(tmp_path)]) == 0

    found = messages()
    assert "hparam/accuracy" in paths_of(found)
    params = {p: v for p, v in values_of(found).items() if p.startswith("params/")}
    assert params == {
        "params/lr": 0.1,
        "params/optimizer": "adam",
        "params/amp": True,
    }


def test_texts_and_pictures_are_imported(tmp_path, messages):
    write_run(tmp_path / "exp0")
    png = b"\x89PNG\r\n\x1a\n" + bytes(20)
    append(
        tmp_path / "exp0" / file_name(1),
        event(
            3,
            tensor("note/text_summary", "text", (1, 7), (8, "hello")),
            message((1, "sample"), (4, message((1, 1), (2, 1), (4, png)))),
        ),
    )

    assert main(["import", "tensorboard", str(tmp_path / "exp0")]) == 0

    found = messages()
    kinds = {
        path: each["kind"]
        for each in of_kind(found, "records")
        for path in [each["path"]]
    }
    assert kinds["note"] == "text"
    assert kinds["sample"] == "image"


def test_one_name_makes_one_run(tmp_path, messages):
    write_run(tmp_path / "exp0")
    write_run(tmp_path / "exp1", start=BEGAN + 1)

    assert main(["import", "tensorboard", str(tmp_path), "--run", "both"]) == 0

    found = messages()
    assert names_of(found) == ["both"]
    assert {"exp0/loss", "exp1/loss"} <= paths_of(found)


def test_a_damaged_file_is_imported_up_to_the_damage(tmp_path, messages, capsys):
    write_run(tmp_path / "exp0")
    (file,) = (tmp_path / "exp0").iterdir()
    file.write_bytes(file.read_bytes() + struct.pack("<QI", 5, 1) + bytes(9))

    assert main(["import", "tensorboard", str(file)]) == 0

    assert "loss" in paths_of(messages())
    assert "line 4: the rest is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"epoch,loss\n1,0.5\n"])
def test_another_file_is_rejected(tmp_path, content, capsys):
    path = tmp_path / "metrics.csv"
    path.write_bytes(content)

    assert main(["import", "tensorboard", str(path)]) == 1
    assert "no data imported" in capsys.readouterr().err


def test_a_folder_without_event_files_is_rejected(tmp_path, capsys):
    assert main(["import", "tensorboard", str(tmp_path)]) == 1
    assert "no event file" in capsys.readouterr().err


def test_programs_get_one_object_for_several_runs(tmp_path, capsys):
    write_run(tmp_path / "exp0")
    write_run(tmp_path / "exp1", start=BEGAN + 1)

    assert main(["import", "tensorboard", str(tmp_path), "--json"]) == 0

    printed = json.loads(capsys.readouterr().out)
    assert [(each["run"], each["points"]) for each in printed["runs"]] == [
        ("exp0", 2),
        ("exp1", 2),
    ]
    assert printed["failed"] == []

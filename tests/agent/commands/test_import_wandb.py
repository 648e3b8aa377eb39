"""Import of W&B's run files: names, media and end of each run."""

from __future__ import annotations

import json
import struct
import zlib

import pytest

from seamark.commands import main
from tests.agent.commands.spooled import (
    of_kind,
    paths_of,
    points_of,
    values_at,
    values_of,
)
from tests.agent.event_files import message

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415408d763f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
BEGAN = 1_790_000_000


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("SEAMARK_MODE", "offline")


def write_run(
    folder, *rows, run_id="abc123", name="baseline", exit_code=0, system=None
):
    """Write the folder of a run whose script logged these rows, a second apart.

    `system` has the metrics of one sample of the machine.
    """
    folder.mkdir(parents=True)
    names = ((1, run_id), (3, "vision"), (6, "sweep"), (8, name), (10, "fast"))
    records = [message((17, message(*names)))]
    for number, logged in enumerate(rows):
        row = {"_step": number, "_timestamp": BEGAN + number, **logged}
        items = [
            (1, message((1, key), (16, json.dumps(value))))
            for key, value in row.items()
        ]
        records.append(message((2, message(*items))))
    if system:
        items = [
            (3, message((1, key), (16, json.dumps(value))))
            for key, value in system.items()
        ]
        records.append(message((7, message((2, message((1, BEGAN))), *items))))
    if exit_code is not None:
        records.append(message((18, message((1, exit_code)))))
    data = b":W&B\xe1\xbe\0" + b"".join(map(fragment, records))
    (folder / f"run-{run_id}.wandb").write_bytes(data)
    return folder


def fragment(record):
    kind = b"\x01"
    checksum = zlib.crc32(record, zlib.crc32(kind))
    return struct.pack("<IH", checksum, len(record)) + kind + record


def import_wandb(*words):
    return main(["import", "wandb", *map(str, words)])


def test_each_run_of_a_folder_keeps_its_name_and_project(tmp_path, messages):
    wandb = tmp_path / "wandb"
    write_run(wandb / "offline-run-1-a", {"loss": 0.5}, run_id="a", name="first")
    write_run(wandb / "run-2-b", {"loss": 0.5}, run_id="b", name="second")
    (wandb / "latest-run").symlink_to("run-2-b")

    assert import_wandb(tmp_path) == 0

    opened = of_kind(messages(), "open")
    assert {(each["run"], each["project"]) for each in opened} == {
        ("first", "vision"),
        ("second", "vision"),
    }


def test_runs_of_one_name_stay_apart(tmp_path, messages):
    for key in "ab":
        write_run(tmp_path / key, {"loss": 0.5}, run_id=key)

    assert import_wandb(tmp_path) == 0

    opened = of_kind(messages(), "open")
    assert sorted(each["run"] for each in opened) == ["baseline", "baseline-b"]


def test_the_files_of_a_resumed_run_become_one_run(tmp_path, messages):
    write_run(tmp_path / "run-1-a", {"loss": 0.5}, run_id="a")
    write_run(tmp_path / "run-2-a", {"_step": 1, "loss": 0.25}, run_id="a")

    assert import_wandb(tmp_path) == 0

    found = messages()
    assert len(of_kind(found, "open")) == 1
    assert [step for step, _ in points_of(found, "loss")] == [0.0, 1.0]


def test_given_names_replace_those_of_wandb(tmp_path, messages):
    write_run(tmp_path / "run-1-a", {"loss": 0.5})

    assert import_wandb(tmp_path, "--run", "mine", "--project", "digits") == 0

    (opened,) = of_kind(messages(), "open")
    assert (opened["run"], opened["project"]) == ("mine", "digits")


def test_a_failed_run_is_failed(tmp_path, messages):
    write_run(tmp_path / "run-1-a", {"loss": 0.5}, exit_code=3)

    assert import_wandb(tmp_path) == 0

    (closed,) = of_kind(messages(), "close")
    assert closed["state"] == "failed"
    assert closed["time"] == BEGAN * 1_000_000


def test_the_machine_of_a_killed_run_is_read_from_its_metadata(tmp_path, messages):
    system = {"cpu": 25, "gpu.0.memoryAllocated": 50}
    folder = write_run(tmp_path / "run-1-a", exit_code=None, system=system)
    (folder / "files").mkdir()
    metadata = {"cpu_count_logical": 8, "gpu_nvidia": [{"memoryTotal": "1000"}]}
    (folder / "files" / "wandb-metadata.json").write_text(json.dumps(metadata))

    assert import_wandb(tmp_path) == 0

    found = messages()
    assert values_of(found)["monitoring/main/facts/host_cores"] == 8
    assert values_at(found, "monitoring/main/job/main_cpu_cores") == [2.0]
    assert values_at(found, "monitoring/main/gpu/0/memory_used_bytes") == [500.0]


def test_group_and_tags_are_imported(tmp_path, messages):
    write_run(tmp_path / "run-1-a", {"loss": 0.5})

    assert import_wandb(tmp_path) == 0

    values = values_of(messages())
    assert values["wandb/group"] == "sweep"
    assert values["monitoring/main/facts/wandb/run_id"] == "abc123"
    assert values["tags"] == ["fast"]


def test_media_of_the_history_are_imported(tmp_path, messages):
    pictures = {
        "_type": "images/separated",
        "filenames": ["media/images/cat_1.png"],
        "captions": ["a cat"],
    }
    table = {"_type": "table-file", "path": "media/table/t.table.json"}
    bins = {"_type": "histogram", "bins": [0, 1, 2], "values": [3, 4]}
    row = {"cat": pictures, "t": table, "h": bins, "note": "hello"}
    folder = write_run(tmp_path / "run-1-a", row)
    media = folder / "files" / "media"
    (media / "images").mkdir(parents=True)
    (media / "images" / "cat_1.png").write_bytes(PNG)
    (media / "table").mkdir()
    content = {"columns": ["x", "y"], "data": [[1, {"_type": "image-file"}]]}
    (media / "table" / "t.table.json").write_text(json.dumps(content))

    assert import_wandb(folder) == 0

    kinds = {each["path"]: each["kind"] for each in of_kind(messages(), "records")}
    assert kinds == {"cat": "image", "t": "file", "h": "histogram", "note": "text"}


def test_pictures_beyond_the_limit_of_a_step_are_reported(tmp_path, messages, caplog):
    names = [f"media/{number}.png" for number in range(101)]
    pictures = {"_type": "images/separated", "filenames": names}
    folder = write_run(tmp_path / "run-1-a", {"cat": pictures})
    (folder / "files" / "media").mkdir(parents=True)
    for name in names:
        (folder / "files" / name).write_bytes(PNG)

    assert import_wandb(folder) == 0

    assert "got 101 media in one call; only the first 100" in caplog.text


def test_a_missing_picture_does_not_cost_the_others_of_its_step(
    tmp_path, messages, capsys
):
    names = [f"media/{name}.png" for name in ("first", "gone", "last")]
    pictures = {"_type": "images/separated", "filenames": names, "captions": [*"abc"]}
    folder = write_run(tmp_path / "run-1-a", {"cat": pictures})
    (folder / "files" / "media").mkdir(parents=True)
    for name in (names[0], names[2]):
        (folder / "files" / name).write_bytes(PNG)

    assert import_wandb(folder) == 0

    kinds = [each["kind"] for each in of_kind(messages(), "records")]
    assert kinds == ["image", "image"]
    warning = "'media/gone.png' of 'cat' is skipped: its file is not here"
    assert warning in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"_type": "image-file", "path": "media/gone.png"}, "its file is not here"),
        ({"_type": "image-file", "path": "../secret.png"}, "out of the run's folder"),
        ({"_type": "table-file", "path": "bad.json"}, "its file is damaged"),
        ({"_type": "plotly-file", "path": "x"}, "'plotly-file' cannot be read"),
    ],
)
def test_unreadable_media_are_reported(tmp_path, value, reason, messages, capsys):
    folder = write_run(tmp_path / "run-1-a", {"loss": 0.5, "x": value})
    (folder / "files").mkdir()
    (folder / "files" / "bad.json").write_text("{")
    (folder / "secret.png").write_bytes(PNG)

    assert import_wandb(folder) == 0

    assert reason in capsys.readouterr().err
    found = messages()
    assert "loss" in paths_of(found)
    assert of_kind(found, "records") == []

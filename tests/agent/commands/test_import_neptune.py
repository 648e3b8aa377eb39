"""Import of Neptune's exports: runs with their series, values, files and forks."""

from __future__ import annotations

import json
import math
import sys
from itertools import accumulate

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seamark.commands import main
from tests.agent.commands.spooled import (
    of_kind,
    paths_of,
    points_of,
    values_at,
    values_of,
)
from tests.agent.neptune_files import (
    BEGAN_AT,
    files_folder,
    losses,
    point,
    value,
    write_run,
)

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415408d763f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
SECOND = 1_000_000


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("SEAMARK_MODE", "offline")


def import_neptune(*words):
    return main(["import", "neptune", *map(str, words)])


def record_kinds(messages):
    return {each["path"]: each["kind"] for each in of_kind(messages, "records")}


def test_a_run_keeps_its_name_project_and_times(tmp_path, messages):
    write_run(tmp_path, "RUN-1", losses(3))

    assert import_neptune(tmp_path) == 0

    found = messages()
    (opened,), (closed,) = of_kind(found, "open"), of_kind(found, "close")
    assert (opened["run"], opened["project"]) == ("baseline", "vision")
    assert (opened["time"], closed["time"]) == (BEGAN_AT, BEGAN_AT + 2 * SECOND)
    assert points_of(found, "train/loss") == [
        (0.0, BEGAN_AT),
        (0.5, BEGAN_AT + SECOND),
        (1.0, BEGAN_AT + 2 * SECOND),
    ]


def test_a_run_without_a_name_has_its_id(tmp_path, messages):
    write_run(tmp_path, "RUN-1", losses(1), name="Untitled")

    assert import_neptune(tmp_path) == 0

    (opened,) = of_kind(messages(), "open")
    assert opened["run"] == "RUN-1"


def test_values_keep_their_paths_and_types(tmp_path, messages):
    given = [
        value("parameters/lr", "float", 0.001),
        value("parameters/layers", "int", 2**40),
        value("parameters/amp", "bool", False),
        value("parameters/optimizer name", "string", "adam"),
        value("data/labels", "string_set", ["cat", "dog"]),
        value("score", "float", math.inf),
        value("of/another/run", "int", None),
    ]
    write_run(tmp_path, "RUN-1", [*given, *losses(1)])

    assert import_neptune(tmp_path) == 0

    values = values_of(messages())
    assert values["parameters/lr"] == 0.001
    assert values["parameters/layers"] == 2**40
    assert values["parameters/amp"] is False
    assert values["parameters/optimizer name"] == "adam"
    assert sorted(values["data/labels"]) == ["cat", "dog"]
    assert values["score"] == math.inf
    assert "of/another/run" not in values


def test_a_text_that_is_too_long_for_a_value_becomes_a_file(tmp_path, messages):
    write_run(tmp_path, "RUN-1", [value("notes/all", "string", "x" * 70_000)])

    assert import_neptune(tmp_path) == 0

    (file,) = of_kind(messages(), "file")
    assert (file["path"], file["name"]) == ("notes/all", "all.txt")


def test_tags_description_and_failure_become_those_of_the_run(tmp_path, messages):
    given = [
        value("sys/tags", "string_set", ["fast"]),
        value("sys/group_tags", "string_set", ["sweep"]),
        value("sys/description", "string", "The first try"),
        value("sys/failed", "bool", True),
    ]
    write_run(tmp_path, "RUN-1", [*given, *losses(1)])

    assert import_neptune(tmp_path) == 0

    found = messages()
    added = {tag for each in of_kind(found, "tags") for tag in each["add"]}
    assert added == {"fast", "sweep"}
    assert values_of(found)["description"] == "The first try"
    assert of_kind(found, "close")[0]["state"] == "failed"


def test_the_origin_is_stored_as_facts(tmp_path, messages):
    given = [value("sys/owner", "string", "ann"), *losses(1)]
    write_run(tmp_path, "RUN-1", given)

    assert import_neptune(tmp_path) == 0

    values = values_of(messages())
    assert values["monitoring/main/facts/neptune/owner"] == "ann"
    assert values["monitoring/main/facts/neptune/run_id"] == "RUN-1"
    assert not any(path.startswith("sys/") for path in values)


def test_a_run_of_values_only_is_imported(tmp_path, messages, capsys):
    write_run(tmp_path, "RUN-1", [value("parameters/lr", "float", 0.1)])

    assert import_neptune(tmp_path) == 0

    assert values_of(messages())["parameters/lr"] == 0.1
    assert "1 value is in the run 'baseline'" in capsys.readouterr().out


def test_all_parts_of_many_series_arrive(tmp_path, messages):
    series = [losses(20, f"layer {number}/norm") for number in range(300)]
    rows = [row for each in series for row in each]
    write_run(tmp_path, "RUN-1", rows[:3_000], rows[3_000:])

    assert import_neptune(tmp_path) == 0

    found = messages()
    assert len(paths_of(found)) == 300
    assert len(points_of(found, "layer 299/norm")) == 20


def test_infinities_and_repeated_steps_stay_and_missing_values_are_reported(
    tmp_path, messages, capsys
):
    numbers = [0.5, math.inf, -math.inf, math.nan, None]
    rows = [point("loss", "float_series", 7, number) for number in numbers]
    write_run(tmp_path, "RUN-1", rows)

    assert import_neptune(tmp_path) == 0

    assert [step for step, _ in points_of(messages(), "loss")] == [7.0] * 4
    assert "row 7: 'loss' has a point without a value" in capsys.readouterr().err


def test_texts_and_histograms_are_series(tmp_path, messages):
    bins = {"type": "COUNTING", "edges": [0.0, 1.0, 3.0], "values": [4.0, 5.0]}
    rows = [
        point("notes", "string_series", 1, "hello"),
        point("weights", "histogram_series", 1, bins),
        point("densities", "histogram_series", 1, {**bins, "type": "DENSITY"}),
    ]
    write_run(tmp_path, "RUN-1", rows)

    assert import_neptune(tmp_path) == 0

    assert record_kinds(messages()) == {
        "notes": "text",
        "weights": "histogram",
        "densities": "histogram",
    }


def test_files_are_stored_with_their_type(tmp_path, messages):
    folder = files_folder(tmp_path) / "acme" / "vision" / "RUN-1"
    (folder / "source_code" / "files").mkdir(parents=True)
    (folder / "source_code" / "files" / "files.zip").write_bytes(b"PK\x03\x04")
    # The older exporter omits extensions.
    (folder / "preview").write_bytes(PNG)
    (folder / "0.png").write_bytes(PNG)
    rows = [
        value("preview", "file", "acme/vision/RUN-1/preview"),
        value("code", "file_set", "acme/vision/RUN-1/source_code/files"),
        value("not/downloaded", "file", None),
        {
            **point("samples", "file_series", 0, "acme/vision/RUN-1/0.png"),
            "timestamp": None,
        },
    ]
    write_run(tmp_path, "RUN-1", rows)

    assert import_neptune(tmp_path) == 0

    found = messages()
    names = {each["path"]: each["name"] for each in of_kind(found, "file")}
    assert names == {"preview": "preview.png", "code/files.zip": "files.zip"}
    assert record_kinds(found) == {"samples": "image"}


def test_more_pictures_than_can_wait_are_all_stored(tmp_path, messages):
    folder = files_folder(tmp_path)
    for number in range(300):
        (folder / f"{number}.png").write_bytes(PNG)
    rows = [
        point("samples", "file_series", number, f"{number}.png")
        for number in range(300)
    ]
    write_run(tmp_path, "RUN-1", rows)

    assert import_neptune(tmp_path) == 0

    stored = of_kind(messages(), "records")
    steps = [step for each in stored for step in memoryview(each["steps"]).cast("d")]
    assert steps == [float(number) for number in range(300)]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("gone.pt", "its file is not in the export"),
        ("../../secret", "its path leads out of the export"),
        ("/etc/passwd", "its path leads out of the export"),
    ],
)
def test_missing_and_foreign_files_are_reported(tmp_path, path, reason, capsys):
    (tmp_path / "secret").write_text("x")
    files_folder(tmp_path)
    write_run(tmp_path, "RUN-1", [value("model", "file", path), *losses(1)])

    assert import_neptune(tmp_path) == 0

    assert reason in capsys.readouterr().err


def test_files_can_be_elsewhere_or_left_out(tmp_path, messages):
    (files_folder(tmp_path / "moved") / "model.pt").write_bytes(b"x")
    write_run(tmp_path, "RUN-1", [value("model", "file", "model.pt"), *losses(1)])

    assert import_neptune(tmp_path, "--no-upload") == 0
    assert of_kind(messages(), "file") == []

    files = tmp_path / "moved" / "files"
    assert import_neptune(tmp_path / "data", "--files-path", files) == 0
    assert len(of_kind(messages(), "file")) == 1


def test_hardware_of_the_first_process_becomes_that_of_the_run(tmp_path, messages):
    names = ("cpu", "memory", "gpu", "gpu_power_1", "io", "cpu_1")
    rows = [row for name in names for row in losses(1, f"monitoring/1a2b3c4d/{name}")]
    later = losses(1, "monitoring/5e6f/gpu")
    write_run(tmp_path, "RUN-1", rows, later)

    assert import_neptune(tmp_path) == 0

    found = messages()
    assert paths_of(found) == {
        "monitoring/main/host/cpu_percent",
        "monitoring/main/host/memory_used_bytes",
        "monitoring/main/gpu/0/utilization_percent",
        "monitoring/main/gpu/1/power_watts",
        "neptune/monitoring/1a2b3c4d/io",
        "neptune/monitoring/1a2b3c4d/cpu_1",
        "neptune/monitoring/5e6f/gpu",
    }
    memory = values_at(found, "monitoring/main/host/memory_used_bytes")
    assert memory == [2.0**30]


def printed(path, *texts):
    """Return the rows of console output, a second apart."""
    return [
        point(path, "string_series", number, text, number)
        for number, text in enumerate(texts)
    ]


def lines_of(messages):
    """Return the texts of each series."""
    found = {}
    for each in of_kind(messages, "records"):
        sizes = memoryview(each["sizes"]).cast("I")
        ends = list(accumulate(sizes))
        texts = [
            each["values"][end - size : end]
            for size, end in zip(sizes, ends, strict=True)
        ]
        found.setdefault(each["path"], []).extend(texts)
    return found


def test_the_console_of_the_first_process_becomes_that_of_the_run(tmp_path, messages):
    texts = ("epoch", " 1", "\n", "a\nb\n", "the", " end")
    first = printed("monitoring/1a2b/stdout", *texts)
    bar = printed("monitoring/1a2b/stderr", "\r 10 %", "\r100 %", "\n")
    later = printed("monitoring/5e6f/stdout", "resumed", "\n")
    write_run(tmp_path, "RUN-1", first[:5], [*first[5:], *bar, *later])

    assert import_neptune(tmp_path) == 0

    found = messages()
    assert lines_of(found) == {
        "monitoring/main/stdout": [b"epoch 1", b"a", b"b", b"the end"],
        "monitoring/main/stderr": [b"100 %"],
        "neptune/monitoring/5e6f/stdout": [b"resumed", b"\n"],
    }


@pytest.mark.parametrize("path", ["runtime/stdout", "monitoring/1a2b/stdout"])
def test_console_texts_without_line_ends_are_lines(tmp_path, messages, path):
    write_run(tmp_path, "RUN-1", printed(path, "epoch 1", "", "epoch 2"))

    assert import_neptune(tmp_path) == 0

    lines = [b"epoch 1", b"", b"epoch 2"]
    assert lines_of(messages()) == {"monitoring/main/stdout": lines}


def test_a_fork_continues_its_parent_which_comes_first(tmp_path, messages):
    origin = [
        value("sys/forking/parent", "string", "the-parent"),
        value("sys/forking/step", "int", 5),
    ]
    write_run(tmp_path, "a-child", [*origin, *losses(1)], name="child")
    write_run(tmp_path, "the-parent", losses(1), name="parent")

    assert import_neptune(tmp_path) == 0

    opened = {each["run"]: each for each in of_kind(messages(), "open")}
    assert (opened["child"]["fork_from"], opened["child"]["fork_step"]) == ("parent", 5)
    assert "fork_from" not in opened["parent"]


def test_a_fork_of_a_missing_parent_is_imported_alone(tmp_path, messages, capsys):
    origin = [
        value("sys/forking/parent", "string", "gone"),
        value("sys/forking/step", "float", 5.0),
    ]
    write_run(tmp_path, "child", [*origin, *losses(1)])

    assert import_neptune(tmp_path) == 0

    assert "fork_from" not in of_kind(messages(), "open")[0]
    assert "continues 'gone', which is not imported" in capsys.readouterr().err


def test_damaged_and_incomplete_runs_do_not_stop_the_others(tmp_path, messages, capsys):
    write_run(tmp_path, "good", losses(2), name="good")
    (half,) = write_run(tmp_path, "half", losses(200))
    half.write_bytes(half.read_bytes()[:2_000])
    first, _ = write_run(tmp_path, "partial", losses(1), losses(1))
    first.unlink()
    (other,) = write_run(tmp_path, "other", losses(1))
    pq.write_table(pa.table({"epoch": [1]}), other)

    assert import_neptune(tmp_path, "--json") == 1

    printed = json.loads(capsys.readouterr().out)
    assert [each["run"] for each in printed["runs"]] == ["good"]
    assert {each["code"] for each in printed["failed"]} == {"unreadable"}
    text = " ".join(each["message"] for each in printed["failed"])
    assert "damaged or cut off" in text
    assert "a part is missing" in text
    assert "no column project_id" in text
    assert [each["run"] for each in of_kind(messages(), "open")] == ["good"]


def test_unknown_types_and_columns_are_tolerated(tmp_path, messages, capsys):
    (file,) = write_run(
        tmp_path, "RUN-1", [value("strange", "hologram", None), *losses(1)]
    )
    table = pq.read_table(file)
    pq.write_table(table.append_column("extra", pa.array([1] * table.num_rows)), file)

    assert import_neptune(tmp_path) == 0

    assert paths_of(messages()) == {"train/loss"}
    assert "its type 'hologram' is unknown" in capsys.readouterr().err


def test_a_folder_without_an_export_is_rejected(tmp_path, capsys):
    assert import_neptune(tmp_path) == 1
    assert "No run of neptune-exporter" in capsys.readouterr().err

    assert import_neptune(tmp_path / "gone") == 1
    assert "File not found" in capsys.readouterr().err


def test_one_name_for_several_runs_is_rejected(tmp_path, capsys):
    for number in range(2):
        write_run(tmp_path, f"RUN-{number}", losses(1))

    assert import_neptune(tmp_path, "--run", "mine") == 2
    assert "--run names one run, but there are 2" in capsys.readouterr().err


def test_a_single_run_can_be_named(tmp_path, messages):
    files = [write_run(tmp_path, f"RUN-{number}", losses(1)) for number in range(2)]

    assert import_neptune(files[1][0], "--run", "mine") == 0

    (opened,) = of_kind(messages(), "open")
    assert opened["run"] == "mine"


def test_without_pyarrow_the_command_names_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    assert import_neptune(tmp_path) == 1
    assert "pip install pyarrow" in capsys.readouterr().err

"""Import of existing logs into a run, also without a server."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from pathlib import Path

import pytest

from seamark.commands import main
from seamark.commands.importing import files
from seamark.commands.importing.files import Imported, Importer, settings_of
from seamark.importers.reading import Reading
from tests.agent.commands.site import TOKEN, Site
from tests.agent.commands.spooled import of_kind, paths_of, points_of, values_of
from tests.agent.importers.traces import (
    START,
    kernel,
    step_events,
    steps_of,
    write_trace,
)

SMI = """\
timestamp, index, utilization.gpu [%], memory.used [MiB], name
2026/08/12 10:00:00.000, 0, 45 %, 1024 MiB, Tesla V100
2026/08/12 10:00:01.000, 0, 46 %, 1025 MiB, Tesla V100
2026/08/12 10:0
"""
TEN = 1_786_528_800_000_000  # 10:00 UTC of that day
SECOND, HOUR = 1_000_000, 3_600_000_000
UTILIZATION = "monitoring/main/gpu/0/utilization_percent"


RUN_FILE = Path(__file__).parents[1] / "importers" / "logs" / "run-0.31.wandb"


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("SEAMARK_MODE", "offline")


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "gpu.csv"
    path.write_text(SMI)
    return path


def test_a_log_becomes_a_run_that_was_when_the_log_was(log, messages, capsys):
    code = main(
        [
            "import",
            "nvidia-smi",
            str(log),
            "--run",
            "night",
            "--stage",
            "train",
            "--zone",
            "UTC",
        ]
    )

    assert code == 0
    found = messages()
    (opened,), (closed,) = of_kind(found, "open"), of_kind(found, "close")
    assert (opened["run"], opened["stage"], opened["time"]) == ("night", "train", TEN)
    assert (closed["state"], closed["time"]) == ("finished", TEN + 1_000_000)
    assert paths_of(found) == {
        "monitoring/train/gpu/0/utilization_percent",
        "monitoring/train/gpu/0/memory_used_bytes",
    }
    file_facts = values_of(found)
    assert file_facts.pop("monitoring/train/facts/gpu/0/name") == "Tesla V100"
    ((mark, name),) = file_facts.items()
    assert mark.startswith("monitoring/train/imported/")
    assert name == "gpu.csv"
    captured = capsys.readouterr()
    assert captured.out.startswith(
        "4 points from 2026-08-12T10:00:00Z to 2026-08-12T10:00:01Z"
    )
    assert "gpu.csv, line 4: it does not have 5 values" in captured.err


def test_that_an_import_has_begun_is_on_the_disk_before_its_second_point(messages):
    settings = settings_of(argparse.Namespace(run="r", project=None, stage=None))
    importer, mark = Importer(settings, Imported()), "monitoring/main/imported/1"

    def readings():
        yield Reading(TEN, {"gpu/0/power_watts": 70.5})
        assert values_of(messages()) == {mark: "begun/gpu.csv"}
        raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        importer.importing(mark, Path("log/gpu.csv")),
    ):
        importer.log_readings(readings())

    importer.finish()
    assert values_of(messages()) == {mark: "begun/gpu.csv"}


def test_of_files_that_hold_the_same_one_is_imported(log, tmp_path, messages, capsys):
    copy = tmp_path / "copy.csv"
    copy.write_text(SMI)

    assert main(["import", "nvidia-smi", str(log), str(log), str(copy), "--json"]) == 0

    captured = capsys.readouterr()
    assert json.loads(captured.out)["points"] == 4
    assert f"{str(log)!a} is skipped" in captured.err
    assert (
        f"{str(copy)!a} is skipped: {str(log)!a} has the same content" in captured.err
    )
    assert list(values_of(messages()).values()).count("gpu.csv") == 1


@pytest.mark.parametrize(("token", "is_told"), [(TOKEN, False), ("ingests", True)])
def test_that_nobody_says_whether_it_was_imported_before_is_told(
    token, is_told, log, monkeypatch, capsys
):
    site = Site()
    monkeypatch.setenv("SEAMARK_MODE", "online")
    monkeypatch.setenv("SEAMARK_URL", site.url)
    monkeypatch.setenv("SEAMARK_TOKEN", token)
    monkeypatch.setenv("SEAMARK_EXIT_SECONDS", "0")
    # It answers questions, and takes no points.
    monkeypatch.setattr(files, "_DELIVERY_SECONDS", 0.0)

    main(["import", "nvidia-smi", str(log), "--project", "p", "--run", "r"])

    site.stop()
    assert ("cannot check for an earlier import" in capsys.readouterr().err) is is_told


def test_a_file_that_gives_nothing_is_not_remembered(log, tmp_path, messages):
    headless = tmp_path / "headless.csv"
    headless.write_text("2026/08/12 10:00:02.000, 0, 47 %\n")

    assert main(["import", "nvidia-smi", str(log), str(headless), "--zone", "UTC"]) == 0

    file_facts = values_of(messages())
    marks = [value for path, value in file_facts.items() if "/imported/" in path]
    assert marks == ["gpu.csv"]


def test_a_run_begins_with_the_earliest_of_its_files(tmp_path, messages):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "wandb-events.jsonl").write_text(
        '{"system.gpu.0.gpu": 45, "_timestamp": 1700000010}\n'
    )
    (folder / "wandb-history.jsonl").write_text(
        '{"loss": 0.5, "_step": 1, "_timestamp": 1700000000}\n'
    )

    assert main(["import", "wandb", str(folder)]) == 0

    (opened,), (closed,) = (of_kind(messages(), kind) for kind in ("open", "close"))
    assert opened["time"] == 1_700_000_000_000_000
    assert closed["time"] == 1_700_000_010_000_000


def test_steps_go_on_with_time_whatever_the_order_of_files(log, tmp_path, messages):
    later = tmp_path / "later.csv"
    later.write_text(SMI.replace("10:0", "11:0"))

    command = ["import", "nvidia-smi", str(later), str(log), "--zone", "UTC"]
    assert main(command) == 0

    steps, times = zip(*points_of(messages(), UTILIZATION), strict=True)
    assert steps == (0, 1, 2, 3)
    assert [time - TEN for time in times] == [0, SECOND, HOUR, HOUR + SECOND]


def test_programs_are_told_what_was_not_understood(log, capsys):
    main(["import", "nvidia-smi", str(log), "--run", "r", "--zone", "UTC", "--json"])

    found = json.loads(capsys.readouterr().out)
    assert (found["run"], found["stage"], found["points"]) == ("r", "main", 4)
    assert found["from"] == "2026-08-12T10:00:00Z"
    (note,) = found["not_understood"]
    assert (note["cause"], note["lines"], note["count"]) == (
        "it does not have 5 values",
        [4],
        1,
    )


def test_a_file_in_which_nothing_is_understood_makes_no_run(tmp_path, messages, capsys):
    path = tmp_path / "diary.txt"
    path.write_text("Dear diary,\ntoday I trained.\n")

    assert main(["import", "nvidia-smi", str(path)]) == 1

    assert messages() == []
    assert "--columns" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["import"],
        ["import", "photographs", "x"],
        ["import", "nvidia-smi"],
        ["import", "nvidia-smi", "FILE", "--zone", "Nowhere/City"],
        ["import", "nvidia-smi", "FILE", "--start", "yesterday"],
        ["import", "nvidia-smi", "FILE", "--every", "0"],
        ["import", "nvidia-smi", "FILE", "--every", "nan"],
    ],
)
def test_what_cannot_be_meant_is_refused(words, log, messages):
    assert main([str(log) if word == "FILE" else word for word in words]) == 2
    assert messages() == []


def test_what_would_not_be_stored_is_refused(log, monkeypatch):
    monkeypatch.setenv("SEAMARK_MODE", "disabled")

    assert main(["import", "nvidia-smi", str(log)]) == 2


def test_a_file_that_there_is_not_is_refused(capsys):
    assert main(["import", "trace", "nothing.json", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "not_found"


def test_a_pipe_is_refused_with_what_to_do(messages, capsys):
    # A pipe, as a shell creates it for <(zcat gpu.csv.gz).
    reading, writing = os.pipe()
    os.write(writing, SMI.encode())
    os.close(writing)

    code = main(["import", "nvidia-smi", f"/dev/fd/{reading}", "--json"])

    os.close(reading)
    error = json.loads(capsys.readouterr().out)["error"]
    assert (code, error["code"]) == (1, "not_a_file")
    assert "Write it to a file first" in error["message"]
    assert messages() == []


def test_help_of_a_command_of_two_words(capsys):
    for words in (["help", "import", "trace"], ["import", "trace", "--help"]):
        with pytest.raises(SystemExit):
            main(words)
        assert "seamark import trace" in capsys.readouterr().out


def test_a_folder_of_wandb_becomes_a_run(tmp_path, messages, capsys):
    (tmp_path / "wandb-events.jsonl").write_text(
        '{"system.gpu.0.gpu": 45, "system.gpu.0.memoryAllocated": 50, "_timestamp": 1700000000}\n'
    )
    (tmp_path / "wandb-history.jsonl").write_text(
        '{"train/loss": 0.5, "_step": 3, "_timestamp": 1700000001}\n'
    )
    (tmp_path / "wandb-metadata.json").write_text(
        '{"gpu_nvidia": [{"name": "Tesla V100", "memoryTotal": "1000"}]}'
    )

    assert main(["import", "wandb", str(tmp_path), "--run", "r"]) == 0

    found = messages()
    assert paths_of(found) == {
        "monitoring/main/gpu/0/utilization_percent",
        "monitoring/main/gpu/0/memory_used_bytes",
        "train/loss",
    }
    assert values_of(found)["monitoring/main/facts/gpu/0/name"] == "Tesla V100"


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_wandbs_own_names_say_what_a_file_holds(tmp_path, messages, ending):
    row = b'{"gpu.0.gpu": 45, "_timestamp": 1700000000}\n'
    for name in ("wandb-events.jsonl", "wandb-history.jsonl"):
        # Not the same, as of such files one is imported.
        content = row + name.encode()
        path = tmp_path / f"{name}{ending}"
        path.write_bytes(gzip.compress(content) if ending else content)

    assert main(["import", "wandb", *map(str, sorted(tmp_path.glob("*.jsonl*")))]) == 0

    assert paths_of(messages()) == {
        "monitoring/main/gpu/0/utilization_percent",
        "gpu.0.gpu",
    }


def history_line(step, **more):
    row = {**more, "_step": step, "_timestamp": 1_700_000_000 + step}
    return json.dumps(row) + "\n"


def test_history_with_histograms_of_all_weights_is_read(tmp_path, messages, capsys):
    path = tmp_path / "wandb-history.jsonl"
    histogram = {"_type": "histogram", "values": [0.123456789] * 120_000}
    row = {"gradients/a": histogram, "loss": 0.5, "gradients/b": histogram}
    path.write_text(history_line(1, **row))
    assert path.stat().st_size > 3_000_000

    assert main(["import", "wandb", str(path), "--json"]) == 0

    printed = json.loads(capsys.readouterr().out)
    assert (printed["points"], paths_of(messages())) == (1, {"loss"})
    assert [note["cause"] for note in printed["not_understood"]] == [
        "'gradients/a' is skipped: its type 'histogram' cannot be read",
        "'gradients/b' is skipped: its type 'histogram' cannot be read",
    ]


def test_a_line_of_history_that_is_too_long_is_passed_over_and_named(
    tmp_path, messages, capsys
):
    path = tmp_path / "wandb-history.jsonl"
    lines = [history_line(step, loss=0.5) for step in range(3)]
    lines[1] = history_line(1, text="x" * (32 << 20), loss=0.5)
    path.write_text("".join(lines))

    assert main(["import", "wandb", str(path)]) == 0

    assert "line 2: it is longer than 33,554,432 characters" in capsys.readouterr().err
    (points,) = of_kind(messages(), "points")
    assert len(points["steps"]) == 2 * 8


def test_the_config_and_summary_of_wandb_are_values(tmp_path, messages):
    (tmp_path / "wandb-history.jsonl").write_text(history_line(1, loss=0.5))
    (tmp_path / "config.yaml").write_text(
        "wandb_version: 1\n\nlr:\n  desc: null\n  value: 0.1\n"
        "model:\n  desc: null\n  value:\n    depth: 12\n"
    )
    (tmp_path / "wandb-summary.json").write_text('{"loss": 0.5, "best": 0.4}')

    assert main(["import", "wandb", str(tmp_path), "--run", "r"]) == 0

    assert {
        path: value
        for path, value in values_of(messages()).items()
        if not path.startswith("monitoring/")
    } == {"params/lr": 0.1, "params/model/depth": 12, "summary/best": 0.4}


def test_a_config_that_is_too_large_is_named(tmp_path, capsys):
    path = tmp_path / "history.jsonl"
    path.write_text(history_line(1, loss=0.5))
    config = tmp_path / "config.yaml"
    config.write_text("_wandb: {}\n" + "#" * 2**20)

    assert main(["import", "wandb", str(path)]) == 0

    assert f"{config}, line 1: it is larger than 1 MiB" in capsys.readouterr().err


def test_an_offline_run_of_wandb_becomes_a_run(tmp_path, messages):
    folder = tmp_path / "offline-run-20261128_112102-lan9zsr1"
    folder.mkdir()
    (folder / RUN_FILE.name).write_bytes(RUN_FILE.read_bytes())

    assert main(["import", "wandb", str(folder), "--run", "r"]) == 0

    found = messages()
    values = values_of(found)
    assert {"train/loss", "val/accuracy", "job/memory_bytes"} <= {
        path.removeprefix("monitoring/main/") for path in paths_of(found)
    }
    steps, _ = zip(*points_of(found, "train/loss"), strict=True)
    assert sorted(steps) == [0, 10, 20, 30, 40, 50]
    assert values["params/lr"] == 0.1
    assert values["params/model/name"] == "resnet"
    assert values["summary/best"] == 0.5
    assert values["description"] == "first try"


def test_a_folder_without_wandbs_files_is_refused(tmp_path, capsys):
    assert main(["import", "wandb", str(tmp_path)]) == 1
    assert "Pass a run folder" in capsys.readouterr().err


def test_a_trace_becomes_steps_facts_and_a_file(tmp_path, messages, capsys):
    path = write_trace(tmp_path / "w.pt.trace.json.gz", steps_of(6))

    assert main(["import", "trace", str(path), "--run", "r"]) == 0

    found = messages()
    assert "monitoring/trace/step/data_wait_seconds" in paths_of(found)
    assert "monitoring/trace/gpu/0/utilization_percent" in paths_of(found)
    assert values_of(found)["monitoring/trace/facts/loader_workers"] == 0
    timeline, file = of_kind(found, "file")
    assert timeline["path"] == "monitoring/trace/timelines/w.pt.trace.json.gz"
    assert file["path"] == "monitoring/trace/traces/w.pt.trace.json.gz"
    assert file["size"] == path.stat().st_size
    # A file below another file could not be downloaded with it.
    assert not timeline["path"].startswith(f"{file['path']}/")


def test_the_trace_itself_can_stay_where_it_is(tmp_path, messages):
    path = write_trace(tmp_path / "w.json", steps_of(6))

    assert main(["import", "trace", str(path), "--run", "r", "--no-upload"]) == 0

    (file,) = of_kind(messages(), "file")
    assert file["path"] == "monitoring/trace/timelines/w.json"


def test_traces_of_ranks_are_ranks_of_one_run(tmp_path, messages):
    paths = [
        write_trace(tmp_path / f"{r}.json", steps_of(3), distributedInfo={"rank": r})
        for r in range(2)
    ]

    assert main(["import", "trace", *map(str, paths)]) == 0

    opened = of_kind(messages(), "open")
    assert sorted(each["rank"] for each in opened) == [0, 1]
    assert len({each["run"] for each in opened}) == 1
    assert "monitoring/trace/rank-1/step/seconds" in paths_of(messages())


def test_without_rank_0_the_lowest_rank_is_the_first_process(tmp_path, messages):
    paths = [
        write_trace(tmp_path / f"{r}.json", steps_of(3), distributedInfo={"rank": r})
        for r in (5, 3)
    ]

    assert main(["import", "trace", *map(str, paths)]) == 0

    found = paths_of(messages())
    assert "monitoring/trace/step/seconds" in found
    assert "monitoring/trace/rank-5/step/seconds" in found


def test_traces_of_one_name_are_both_kept_and_share_no_step(tmp_path, messages, capsys):
    later, earlier = (tmp_path / name / "w.json" for name in ("a", "b"))
    for path, start in ((later, START + 1e9), (earlier, START)):
        path.parent.mkdir()
        write_trace(path, steps_of(3, start=start))

    assert main(["import", "trace", str(later), str(earlier)]) == 0

    found = messages()
    (opened,) = of_kind(found, "open")
    assert opened["time"] < START + 1e6
    for path in ("step/seconds", "gpu/0/utilization_percent"):
        steps, times = zip(*points_of(found, f"monitoring/trace/{path}"), strict=True)
        assert steps == tuple(range(len(steps)))
        assert [*times] == sorted(times)
    first, second = (
        Path(each["path"])
        for each in of_kind(found, "file")
        if "/timelines/" not in each["path"]
    )
    assert first == Path("monitoring/trace/traces/w.json")
    assert re.fullmatch(r"[0-9a-f]{8}-w\.json", second.name)
    output = capsys.readouterr().err
    assert (
        f"{later}, line 1: its steps continue after those of the previous trace"
        in output
    )


def test_steps_that_no_other_trace_has_keep_their_numbers(tmp_path, messages, capsys):
    events = [event for number in (7, 8) for event in step_events(number)]
    paths = [
        write_trace(tmp_path / "1.json", steps_of(3)),
        write_trace(tmp_path / "2.json", events),
    ]

    assert main(["import", "trace", *map(str, paths), "--no-upload"]) == 0

    points = points_of(messages(), "monitoring/trace/step/seconds")
    assert [step for step, _ in points] == [0, 1, 2, 7, 8]
    assert "its steps continue after" not in capsys.readouterr().err


def test_times_that_count_from_a_base_are_dates(tmp_path, messages):
    events = steps_of(2, start=5e9)
    path = write_trace(tmp_path / "w.json", events, baseTimeNanoseconds=TEN * 1000)

    assert main(["import", "trace", str(path), "--no-upload"]) == 0

    (closed,) = of_kind(messages(), "close")
    assert closed["time"] == TEN + 5_000_000_000 + 200_000


def test_times_without_a_date_end_when_the_file_was_written(tmp_path, messages, capsys):
    path = write_trace(tmp_path / "w.json", steps_of(2, start=5e9))

    assert main(["import", "trace", str(path), "--no-upload"]) == 0

    (closed,) = of_kind(messages(), "close")
    assert abs(closed["time"] / 1e6 - path.stat().st_mtime) < 1
    assert "the file's date is used" in capsys.readouterr().err


def test_of_a_trace_that_is_cut_off_the_beginning_counts(tmp_path, messages, capsys):
    path = write_trace(tmp_path / "w.json", steps_of(50))
    path.write_bytes(path.read_bytes()[:-6_000])

    assert main(["import", "trace", str(path), "--no-upload"]) == 0

    assert "it is truncated or damaged" in capsys.readouterr().err
    assert "monitoring/trace/step/seconds" in paths_of(messages())


def test_a_trace_without_steps_says_how_to_have_some(tmp_path, capsys):
    path = write_trace(tmp_path / "w.json", [kernel(0, 10)])

    assert main(["import", "trace", str(path), "--no-upload"]) == 0

    assert "call the profiler's step() after each" in capsys.readouterr().err


def test_a_trace_without_steps_and_kernels_is_refused(tmp_path, capsys):
    operator = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 5}
    path = write_trace(tmp_path / "w.json", [operator])

    assert main(["import", "trace", str(path), "--no-upload"]) == 1

    assert "it has neither steps nor GPU kernels" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 1000, b"\x1f\x8bnot gzip", b"[" * 10_000]
)
@pytest.mark.parametrize("kind", ["csv", "nvidia-smi", "tensorboard", "trace", "wandb"])
def test_no_file_can_do_harm(tmp_path, kind, content, capsys):
    path = tmp_path / "file"
    path.write_bytes(content)

    assert main(["import", kind, str(path)]) == 1
    assert "Unexpected error" not in capsys.readouterr().err


def test_a_long_log_is_imported_whole(tmp_path, messages):
    path = tmp_path / "long.csv"
    head, row, *_ = SMI.splitlines()
    with path.open("w") as file:
        file.write(f"{head}\n")
        for second in range(60_000):
            hour, minute = second // 3600, second // 60 % 60
            time = f"{hour:02}:{minute:02}:{second % 60:02}"
            file.write(row.replace("10:00:00", time) + "\n")

    assert main(["import", "nvidia-smi", str(path), "--zone", "UTC"]) == 0

    found = messages()
    count = sum(len(each["steps"]) // 8 for each in of_kind(found, "points"))
    assert count == 60_000
    assert of_kind(found, "drop") == []

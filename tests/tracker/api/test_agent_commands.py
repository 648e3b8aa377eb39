"""The agent's reading commands, in subprocesses, with a real server."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import struct
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pyarrow.parquet
import pytest

from seamark.commands import export, main
from seamark.commands.export import folder_name
from seamark.reading import client
from tests.builders import (
    START,
    Process,
    close_message,
    make_member,
    make_project,
    make_run,
    points_message,
    records_message,
    write,
    write_series,
    write_tags,
    write_values,
)
from tests.tracker.api.v1.test_files import add, deliver, file_message
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.api.v1 import points as endpoint
from tracker.models import Attribute, Run, State, Token
from tracker.series.compaction import compact_run
from tracker.server.processes import ROOT

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "../../../\x1b]0;owned\x07/=1+1"


@pytest.fixture
def project():
    return make_project(make_member(), "vision")


@pytest.fixture
def seamark(project, live_server, tmp_path):
    """Run a command to its end, signed in with a token of this scope."""

    def run(*words, scope=Scope.MANAGE, said=""):
        member = project.workspace.members.get()
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("SEAMARK_")
        }
        return subprocess.run(
            [sys.executable, "-m", "seamark", *words],
            cwd=tmp_path,
            env={
                **environment,
                "PYTHONPATH": str(ROOT),
                "HOME": str(tmp_path),
                "XDG_CONFIG_HOME": str(tmp_path / "config"),
                "XDG_STATE_HOME": str(tmp_path / "state"),
                "SEAMARK_URL": live_server.url,
                "SEAMARK_TOKEN": make_token(member, "test", scope),
                "SEAMARK_PROJECT": "vision",
            },
            input=said,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def stored(project):
    run = make_run(project, "baseline", State.FINISHED)
    write_series(run, "train/loss", [1.0, math.nan, 0.25], steps=[0, 1, 2.5])
    write_series(run, "=1+1", [1.0])
    write_values(run, {"params/lr": 0.1, "params/name": "-x"})
    write_tags(run, "dali")
    compact_run(run.id)
    return run


def test_projects_are_listed_when_none_is_named(seamark, stored, project):
    done = seamark("ls", "projects")

    assert done.stdout.split()[:2] == ["project", "runs"]
    assert f"{project.workspace.slug}/vision" in done.stdout
    (row,) = json.loads(seamark("ls", "projects", "--json").stdout)["projects"]
    assert (row["slug"], row["run_count"]) == ("vision", 1)


def test_runs_are_found_sorted_and_shown_with_columns(seamark, stored, project):
    make_run(project, "other")
    words = ("ls", "runs", "--columns", "params/lr,train/loss", "--sort", "name")

    done = seamark(*words)
    found = json.loads(seamark(*words, "--json").stdout)
    output = seamark("ls", "runs", "--where", 'tags contains "dali"', "--json").stdout

    assert done.stdout.splitlines()[1].split()[0] == "baseline"
    assert "0.25" in done.stdout
    assert [run["name"] for run in found["runs"]] == ["baseline", "other"]
    assert found["runs"][0]["attributes"] == {"params/lr": 0.1, "train/loss": 0.25}
    assert found["runs"][1]["attributes"] == {"params/lr": None, "train/loss": None}
    assert found["more"] is False
    assert [run["name"] for run in json.loads(output)["runs"]] == ["baseline"]


def test_a_truncated_list_is_reported(seamark, stored, project):
    make_run(project, "other")

    done = seamark("ls", "runs", "--limit", "1")

    assert len(done.stdout.splitlines()) == 2
    assert "use --limit to show more" in done.stderr
    assert json.loads(seamark("ls", "--limit", "1", "--json").stdout)["more"] is True


def test_a_name_cannot_speak_to_the_terminal_or_the_spreadsheet(seamark, project):
    make_run(project, HOSTILE)
    make_run(project, "=1+1")

    table = seamark("ls", "runs").stdout
    rows = list(csv.reader(seamark("ls", "--format", "csv").stdout.splitlines()))

    assert "\x1b" not in table
    assert "\\x1b]0;owned" in table
    assert "'=1+1" in [row[0] for row in rows]


def test_a_runs_attributes_are_listed(seamark, stored):
    done = seamark("ls", "attributes", "baseline", "--prefix", "params/")
    found = json.loads(seamark("ls", "attributes", "baseline", "--json").stdout)

    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        *("path", "params/lr", "params/name")
    ]
    assert found["run"]["id"] == str(stored.id)
    loss = next(a for a in found["attributes"] if a["path"] == "train/loss")
    assert (loss["count"], loss["value"]) == (3, 0.25)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("ls", "attributes", "absent"), 1, "no run 'absent'"),
        (("ls", "--project", "absent"), 1, "there are: vision"),
        (("ls", "--where", "loss <"), 1, "query"),
        (("export", "absent", "--to", "out"), 1, "no run 'absent'"),
    ],
)
def test_a_failed_lookup_is_reported_in_one_line(seamark, project, words, code, said):
    done = seamark(*words)

    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_token_without_read_scope_is_pointed_to_seamark_login(seamark, project):
    done = seamark("ls", scope=Scope.LOG)

    assert done.returncode == 1
    assert "seamark login" in done.stderr


def test_the_real_server_knows_who_signs_in(seamark, project, live_server):
    token = make_token(project.workspace.members.get(), "mine", Scope.MANAGE)

    done = seamark("login", "--url", live_server.url, "--token-stdin", said=token)

    assert done.returncode == 0, done.stderr
    assert "(owner); the API key can write and read" in done.stdout


def test_the_doctor_finds_nothing_wrong_with_a_real_server(seamark, project):
    done = seamark("doctor")

    assert done.returncode == 0, done.stdout
    assert "No problems found." in done.stdout


def exported(folder, run):
    return folder / folder_name(run.name, str(run.id))


def test_values_and_points_are_exported_as_csv(seamark, stored, tmp_path):
    done = seamark("export", "baseline", "--to", "out")

    assert done.returncode == 0, done.stderr
    folder = exported(tmp_path / "out", stored)
    with (folder / "points.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["path"], float(row["step"])) for row in rows] == [
        *(("'=1+1", 0.0), ("train/loss", 0.0), ("train/loss", 1.0)),
        ("train/loss", 2.5),
    ]
    assert math.isnan(float(rows[2]["value"]))
    with (folder / "attributes.csv").open() as file:
        values = {row["path"]: row["value"] for row in csv.DictReader(file)}
    assert values["params/lr"] == "0.1"
    assert values["params/name"] == "'-x"
    assert json.loads((folder / "run.json").read_text())["points"] == 4
    assert not list((tmp_path / "out").rglob("*.part"))


def test_points_are_exported_as_json_lines(seamark, stored, tmp_path):
    seamark("export", "baseline", "--to", "out", "--format", "json")

    folder = exported(tmp_path / "out", stored)
    lines = (folder / "points.jsonl").read_text().splitlines()
    points = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert points[0]["path"] == "=1+1"
    assert [point["value"] for point in points[1:]] == [1.0, "NaN", 0.25]
    kept = json.loads((folder / "attributes.json").read_text())["attributes"]
    assert {row["path"] for row in kept} >= {"params/lr", "train/loss", "tags"}


def test_points_are_exported_as_parquet(seamark, stored, tmp_path):
    done = seamark("export", "baseline", "--to", "out", "--format", "parquet")

    assert done.returncode == 0, done.stderr
    folder = exported(tmp_path / "out", stored)
    points = pyarrow.parquet.read_table(folder / "points.parquet")
    assert points.column_names == ["path", "step", "time", "value"]
    assert points["path"].to_pylist() == ["=1+1", *3 * ["train/loss"]]
    values = pyarrow.parquet.read_table(folder / "attributes.parquet").to_pylist()
    assert next(v for v in values if v["path"] == "train/loss")["count"] == 3


def test_texts_and_histograms_are_exported_beside_points(seamark, stored, tmp_path):
    even = struct.pack("<Bd5d", 1, 2.0, 0.0, 3.0, 1, 0, 5)
    histograms = records_message("grads", [even], kind="histogram")
    write(stored, [records_message("log", ["one", "größe"]), histograms])

    done = seamark("export", "baseline", "--to", "out")

    assert done.returncode == 0, done.stderr
    folder = exported(tmp_path / "out", stored)
    lines = (folder / "records.jsonl").read_text().splitlines()
    records = [(row["path"], row["value"]) for row in map(json.loads, lines)]
    assert records == [
        ("grads", {"edges": [0.0, 1.0, 2.0, 3.0], "counts": [1, 0, 5], "others": 2}),
        *(("log", "one"), ("log", "größe")),
    ]
    assert json.loads((folder / "run.json").read_text())["points"] == 4


def test_pictures_of_a_series_are_exported_by_what_their_files_are(
    seamark, stored, tmp_path
):
    digest = hashlib.sha256(b"a picture").digest()
    picture = digest + struct.pack("<Q", 9) + b"image/png"
    write(stored, [records_message("samples", [picture], kind="image")])

    done = seamark("export", "baseline", "--to", "out")

    assert done.returncode == 0, done.stderr
    folder = exported(tmp_path / "out", stored)
    (line,) = (folder / "records.jsonl").read_text().splitlines()
    assert json.loads(line)["value"] == {
        "digest": digest.hex(),
        "size": 9,
        "type": "image/png",
        "caption": "",
    }


def test_files_are_exported_where_that_is_asked_for(
    seamark, stored, settings, tmp_path
):
    settings.DATA_FOLDER = tmp_path / "data"
    add(stored, "model/best", b"weights", name="best.pt")
    add(stored, "../hostile", b"x", name="../../hostile")
    words = ("export", "baseline", "--to", "out", "--json")
    folder = exported(tmp_path / "out", stored)
    seamark(*words)
    assert not (folder / "files").exists()

    done = seamark(*words, "--files")

    assert done.returncode == 0, done.stderr
    found = {
        str(path.relative_to(folder / "files")): path.read_bytes()
        for path in (folder / "files").rglob("*")
        if path.is_file()
    }
    assert found.pop("model/best.pt") == b"weights"
    assert [*found.values()] == [b"x"]
    again = json.loads(seamark(*words, "--files").stdout)["runs"]
    assert [run["was_there"] for run in again] == [True]


def test_a_file_that_has_not_arrived_is_named_and_exported_later(
    seamark, stored, settings, tmp_path
):
    settings.DATA_FOLDER = tmp_path / "data"
    add(stored, "model/best", b"weights", name="best.pt")
    write(stored, [file_message("model/last", b"late", name="last.pt")])
    words = ("export", "baseline", "--to", "out", "--files", "--prefix", "model/")
    folder = exported(tmp_path / "out", stored)

    done = seamark(*words)

    assert "1 file of 2 not uploaded yet, including 'model/last'" in done.stderr
    assert [path.name for path in (folder / "files").iterdir()] == ["model"]
    deliver(stored, b"late")
    assert "2 files" in seamark(*words).stdout
    assert (folder / "files/model/last.pt").read_bytes() == b"late"


def test_unchanged_exports_are_skipped(seamark, stored, tmp_path):
    words = ("export", "--where", "", "--to", "out", "--json")
    first = json.loads(seamark(*words).stdout)["runs"]
    points = exported(tmp_path / "out", stored) / "points.csv"
    before = points.stat().st_mtime_ns

    second = json.loads(seamark(*words).stdout)["runs"]
    again = json.loads(seamark(*words, "--again").stdout)["runs"]

    assert [run["was_there"] for run in (*first, *second, *again)] == [
        *(False, True, False)
    ]
    assert points.stat().st_mtime_ns > before


def test_a_run_whose_tags_were_changed_is_exported_again(seamark, stored, tmp_path):
    words = ("export", "baseline", "--to", "out", "--json")
    seamark(*words)
    write_tags(stored, "chosen")

    (run,) = json.loads(seamark(*words).stdout)["runs"]

    assert not run["was_there"]
    kept = json.loads((exported(tmp_path / "out", stored) / "run.json").read_text())
    assert "chosen" in kept["tags"]


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_an_export_that_breaks_off_leaves_no_half_file(
    seamark, stored, tmp_path, monkeypatch, kind
):
    def broken(*arguments, **options):
        yield from ()
        raise OSError("the disk is gone")

    monkeypatch.setattr("tracker.api.v1.points.read_all_points", broken)

    done = seamark("export", "baseline", "--to", "out", "--format", kind)

    assert done.returncode == 1
    folder = exported(tmp_path / "out", stored)
    assert not list(folder.glob("*points*"))
    assert not (folder / "run.json").exists()
    monkeypatch.undo()
    assert seamark("export", "baseline", "--to", "out").returncode == 0
    assert (folder / "run.json").exists()


def test_no_name_leads_out_of_the_folder(seamark, project, tmp_path):
    names = [HOSTILE, "..", "/etc/passwd", "a" * 255, "CON", "-rf", "数"]
    for name in names:
        write_series(make_run(project, name), "../../x", [1.0])

    done = seamark("export", "--where", "", "--to", "out/deep")

    assert done.returncode == 0, done.stderr
    made = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(made) == 3 * len(names)
    assert {path.parents[1] for path in made} == {tmp_path / "out/deep"}
    assert "\x1b" not in done.stdout


def test_a_run_without_series_is_exported_too(seamark, project, tmp_path):
    run = make_run(project, "empty")

    for kind in ("csv", "json", "parquet"):
        done = seamark("export", "empty", "--to", "out", "--format", kind, "--again")
        assert done.returncode == 0, done.stderr

    folder = exported(tmp_path / "out", run)
    assert (folder / "points.csv").read_text() == "path,step,time,value\n"


@pytest.fixture
def here(signed_in, tmp_path, monkeypatch):
    """Run a command in this process, where tests can trigger the events it waits for."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: main(words)


@pytest.fixture
def pauses(monkeypatch):
    """Functions that run while an export waits; the wait ends after them."""
    pauses = []

    def pause(seconds):
        for action in pauses:
            action(seconds)

    monkeypatch.setattr(export, "time", SimpleNamespace(sleep=pause))
    return pauses


def table(folder, name):
    with (folder / name).open() as file:
        return list(csv.DictReader(file))


def summary(folder, path="loss"):
    return next(row for row in table(folder, "attributes.csv") if row["path"] == path)


@pytest.fixture
def ended(project):
    """A run whose last points are not in a summary yet."""
    run = make_run(project, "baseline", State.FINISHED)
    write_series(run, "loss", [3.0, 1.0, 2.0])
    return run


def test_summaries_are_waited_for_after_the_end_of_a_run(
    here, ended, pauses, tmp_path, capsys
):
    pauses.append(lambda _: compact_run(ended.id))

    code = here("export", "baseline", "--to", "out")

    folder = exported(tmp_path / "out", ended)
    found = summary(folder)
    assert code == 0
    assert (found["count"], found["mean"], found["value"]) == ("3", "2.0", "2.0")
    assert len(table(folder, "points.csv")) == 3
    assert "waiting for the server to summarize 3 points" in capsys.readouterr().err
    assert json.loads((folder / "run.json").read_text())["settled"] is True


def test_an_export_that_was_incomplete_is_written_again(
    here, ended, pauses, tmp_path, capsys
):
    other = make_run(ended.project, "other", State.FINISHED)
    write_series(other, "loss", [1.0])
    waited = []
    pauses.append(waited.append)
    words = ("export", "--where", "", "--to", "out")

    late = here(*words)
    errors = capsys.readouterr().err
    folder = exported(tmp_path / "out", ended)
    kept = json.loads((folder / "run.json").read_text())
    for run in (ended, other):
        compact_run(run.id)
    in_time = here(*words, "--json")

    assert (late, in_time) == (1, 0)
    # In total for both.
    assert sum(waited) == 30
    assert kept["settled"] is False
    assert "baseline: its attributes' counts, means and last values lack 3" in errors
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["was_there"], run["settled"]) for run in runs] == 2 * [(False, True)]
    assert summary(folder)["count"] == "3"


def test_a_run_that_goes_on_is_not_waited_for(here, project, pauses, tmp_path):
    run = make_run(project, "live")
    write_series(run, "loss", [1.0])
    pauses.append(pytest.fail)

    assert here("export", "live", "--to", "out") == 0
    assert len(table(exported(tmp_path / "out", run), "points.csv")) == 1


def test_points_that_were_logged_again_are_not_waited_for_for_ever(
    here, project, pauses, tmp_path
):
    first = Process(project, "baseline")
    first.send([first.opening], [points_message("loss", [1.0] * 10)])
    compact_run(first.run.id)
    again = START + 3_600_000_000
    second = Process(project, "baseline", time=again)
    rewind = {"t": "rewind", "paths": ["loss"], "time": again}
    second.send(
        [second.opening],
        [{**rewind, "steps": struct.pack("<d", 6.0)}],
        [points_message("loss", [2.0], steps=[6], times=[again + 1])],
        [close_message(time=again + 2)],
    )
    first.send([close_message(time=again)])
    # The count includes points that are not shown, and is still incomplete.
    pauses.append(lambda _: compact_run(first.run.id))

    code = here("export", "baseline", "--to", "out")

    folder = exported(tmp_path / "out", first.run)
    assert code == 0
    assert len(table(folder, "points.csv")) == 7
    assert summary(folder)["count"] == "11"


def test_a_second_stage_that_takes_no_time_is_exported_too(here, ended, tmp_path):
    compact_run(ended.id)
    # The time of the last data is written only every few seconds.
    soon = datetime.now(UTC) + timedelta(hours=1)
    Run.objects.filter(id=ended.id).update(last_seen_at=soon)
    here("export", "baseline", "--to", "out")
    folder = exported(tmp_path / "out", ended)
    before = len(table(folder, "points.csv"))

    write_series(ended, "test/loss", [5.0], stage="test")
    compact_run(ended.id)
    here("export", "baseline", "--to", "out")

    assert Run.objects.get(id=ended.id).last_seen_at == soon
    assert (before, len(table(folder, "points.csv"))) == (3, 4)


def listed_before(action, monkeypatch):
    """Run an action after the runs were listed and before they are read."""
    listed = export.read_runs

    def read_runs(*arguments, **options):
        runs = listed(*arguments, **options)
        action()
        return runs

    monkeypatch.setattr(export, "read_runs", read_runs)


def test_a_run_that_vanishes_keeps_no_other_from_being_exported(
    here, stored, monkeypatch, tmp_path, capsys
):
    gone = make_run(stored.project, "gone", started_at=START - 10)

    def vanish():
        Run.objects.filter(id=gone.id).update(trashed_at=datetime.now(UTC))

    listed_before(vanish, monkeypatch)
    code = here("export", "--where", "", "--to", "out", "--json")

    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    assert code == 1
    assert [run["name"] for run in printed["runs"]] == ["baseline"]
    assert [(run["name"], run["code"]) for run in printed["failed"]] == [
        ("gone", "not_found")
    ]
    assert "1 run of 2 not exported: gone" in captured.err.splitlines()[-1]
    assert (exported(tmp_path / "out", stored) / "run.json").exists()
    assert not (exported(tmp_path / "out", gone) / "run.json").exists()


def test_a_run_whose_points_break_off_keeps_no_other_from_being_exported(
    here, stored, project, monkeypatch, tmp_path
):
    broken = make_run(project, "broken", started_at=START - 10)
    write_series(broken, "loss", [1.0])
    read = endpoint.read_all_points

    def read_all_points(wanted, **options):
        if wanted[0][0].id == broken.id:
            raise OSError("the disk is gone")
        yield from read(wanted, **options)

    monkeypatch.setattr(endpoint, "read_all_points", read_all_points)

    assert here("export", "--where", "", "--to", "out") == 1
    assert (exported(tmp_path / "out", stored) / "run.json").exists()
    assert not (exported(tmp_path / "out", broken) / "run.json").exists()


@pytest.mark.parametrize("is_gone", [False, True])
def test_an_error_common_to_all_runs_is_printed_once(
    here, stored, monkeypatch, capsys, is_gone
):
    make_run(stored.project, "other")

    def refuse():
        Token.objects.update(revoked_at=datetime.now(UTC))

    def leave():
        monkeypatch.setattr(client, "_open", lambda *_: gone())

    def gone():
        raise ConnectionRefusedError

    listed_before(leave if is_gone else refuse, monkeypatch)

    assert here("export", "--where", "", "--to", "out") == 1
    output = capsys.readouterr().err
    assert len(output.splitlines()) == 1
    assert ("Connection refused" if is_gone else "valid API key") in output


def test_an_id_needs_no_project(here, stored, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SEAMARK_PROJECT", "absent")

    assert here("export", str(stored.id), "--to", "out") == 0
    assert here("ls", "attributes", str(stored.id)) == 0
    assert len(table(exported(tmp_path / "out", stored), "points.csv")) == 4
    assert here("export", str(stored.id), "--to", "out", "--project", "absent") == 1
    assert "no project 'absent'" in capsys.readouterr().err


def test_exported_times_have_one_shape(here, project, tmp_path):
    run = make_run(project, "baseline")
    times = [START, START + 500_000]
    write_series(run, "loss", [1.0, 2.0], times=times)
    write(run, [records_message("log", ["a", "b"], times=times)])
    whole = datetime(2026, 1, 2, 12, tzinfo=UTC)
    Attribute.objects.filter(path="log").update(updated_at=whole)
    expected = ["2026-01-02T12:00:00.000000+00:00", "2026-01-02T12:00:00.500000+00:00"]

    here("export", "baseline", "--to", "out")
    folder = exported(tmp_path / "out", run)
    rows = table(folder, "points.csv")
    records = (folder / "records.jsonl").read_text().splitlines()
    here("export", "baseline", "--to", "out", "--format", "json")
    lines = (folder / "points.jsonl").read_text().splitlines()

    assert [row["time"] for row in rows] == expected
    assert [json.loads(line)["time"] for line in records] == expected
    assert [json.loads(line)["time"] for line in lines] == expected
    assert summary(folder, "log")["updated_at"] == expected[0]


def test_a_table_for_programs_has_every_digit(here, project, capsys):
    run = make_run(project, "baseline", State.FINISHED)
    write_series(run, "loss", [0.1234567890123], steps=[1_234_567])
    write_values(run, {"lr": 1e-07, "seed": 12345678901, "when": whole_second()})
    compact_run(run.id)
    run.refresh_from_db()

    def rows(*words):
        here("ls", *words, "--format", "csv")
        return list(csv.DictReader(capsys.readouterr().out.splitlines()))

    (listed,) = rows("runs", "--columns", "loss,lr,seed,when")
    attributes = {row["path"]: row for row in rows("attributes", "baseline")}
    (project_row,) = rows("projects")

    assert (listed["loss"], listed["lr"]) == ("0.1234567890123", "1e-07")
    assert (listed["seed"], listed["when"]) == (
        *("12345678901", "2026-01-02T12:00:00.000000+00:00"),
    )
    assert listed["started"] == "2026-01-02T12:00:00.000000+00:00"
    assert listed["duration"] == repr((run.ended_at - run.started_at).total_seconds())
    assert attributes["loss"]["minimum"] == "0.1234567890123"
    assert float(attributes["loss"]["last step"]) == 1_234_567
    assert datetime.fromisoformat(project_row["last activity"]).tzinfo is not None


def whole_second():
    return datetime(2026, 1, 2, 12, tzinfo=UTC)


def test_a_table_for_people_has_whole_steps(here, project, capsys):
    run = make_run(project, "baseline")
    write_series(run, "loss", [0.1234567890123], steps=[1_234_567])
    compact_run(run.id)

    here("ls", "attributes", "baseline")

    row = capsys.readouterr().out.splitlines()[1].split()
    assert row == [
        "loss",
        "float_series",
        "0.123457",
        "1",
        *2 * ["0.123457"],
        "1234567",
    ]

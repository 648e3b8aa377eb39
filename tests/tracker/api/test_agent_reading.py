"""The agent reads stored data through a real server."""

from __future__ import annotations

import hashlib
import math
import re
import struct
from datetime import UTC, datetime, timedelta, timezone
from threading import BoundedSemaphore

import numpy as np
import pytest

import agent
from seamark.reading import client
from tests.builders import (
    START,
    make_member,
    make_project,
    make_run,
    records_message,
    write,
    write_series,
    write_tags,
    write_values,
)
from tests.tracker.api.v1.test_files import add, deliver
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.api import tables
from tracker.models import State
from tracker.series.compaction import compact_run
from tracker.server.processes import ROOT

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project():
    return make_project(make_member(), "vision")


@pytest.fixture(autouse=True)
def _server(signed_in):
    """Let every test read from a live server."""


@pytest.fixture
def stored(project):
    run = make_run(project, "baseline", State.FINISHED)
    write_series(run, "train/loss", [1.0, math.nan, 0.25], steps=[0, 1, 2.5])
    write_values(
        run,
        {
            "params/lr": 0.1,
            "params/epochs": 3,
            "params/amp": True,
            "params/name": "Infinity",
            "params/kinds": ["a", "b"],
        },
    )
    write_tags(run, "dali")
    # From here on its summaries are available.
    compact_run(run.id)
    return run


def test_files_are_downloaded_and_checked(stored, settings, tmp_path):
    settings.DATA_FOLDER = tmp_path / "data"
    add(stored, "model/best", b"weights" * 500_000, name="best.pt")
    add(stored, "model/deep/notes", b"hello", name="notes.txt")
    run = agent.open_run("baseline")

    assert run["model/best"].download(tmp_path) == [tmp_path / "best.pt"]
    assert (tmp_path / "best.pt").read_bytes() == b"weights" * 500_000
    found = run["model"].download(tmp_path / "all")
    assert found == [tmp_path / "all/best.pt", tmp_path / "all/deep/notes.txt"]
    assert [file.path for file in run.files()] == ["model/best", "model/deep/notes"]
    with pytest.raises(agent.CannotRead, match="nothing at"):
        run["other"].download(tmp_path)


def test_runs_come_with_what_was_asked_for(project, stored):
    make_run(project, "other")

    found = agent.runs('tags contains "dali"', columns=["train/loss", "params/none"])

    (run,) = found
    assert (run.name, run.state, run.tags) == ("baseline", "finished", ("dali",))
    assert run.id == str(stored.id)
    assert run.started_at == datetime.fromtimestamp(START / 1e6, UTC)
    assert run.values == {"train/loss": 0.25, "params/none": None}
    assert [one.name for one in agent.runs(sort="-name")] == ["other", "baseline"]
    assert repr(found[:1]) == "<1 runs>"


def test_more_runs_than_a_page_holds_are_all_there(project, monkeypatch):
    monkeypatch.setattr("seamark.reading.runs._PAGE", 2)
    for number in range(5):
        make_run(project, f"run-{number}")

    assert len(agent.runs()) == 5
    assert [run.name for run in agent.runs(sort="name", limit=3)] == [
        *("run-0", "run-1", "run-2")
    ]


def test_values_have_the_kinds_they_were_logged_with(stored):
    run = agent.open_run("baseline")

    assert run.attributes("params/") == {
        "params/lr": 0.1,
        "params/epochs": 3,
        "params/amp": True,
        "params/name": "Infinity",
        "params/kinds": frozenset({"a", "b"}),
    }
    assert run.attributes()["train/loss"] == 0.25
    assert run.series_paths() == ["train/loss"]


def test_more_attributes_than_a_page_holds_are_all_there(stored, monkeypatch):
    write_values(stored, {"notes/long": "z" * 65_536})
    whole = agent.open_run("baseline").attributes()
    monkeypatch.setattr("seamark.reading.run._MAX_ATTRIBUTES", 2)

    assert agent.open_run("baseline").attributes() == whole
    assert whole["notes/long"] == "z" * 65_536
    assert len(whole) > 2 * 2


def test_the_latest_of_several_runs_of_a_name_is_opened(project, stored):
    later = make_run(project, "base", started_at=START + 10_000_000)

    assert agent.open_run("base").id == str(later.id)
    assert agent.open_run(str(stored.id)).name == "baseline"


def test_a_series_and_its_points_are_what_was_logged(stored):
    run = agent.open_run("baseline")

    series = run.series("train/loss")
    points = list(run.points())

    assert series.x == [0.0, 1.0, 2.5]
    assert series.is_exact
    assert math.isnan(series.mean[1])
    assert (series.minimum[2], series.maximum[2], series.count) == (0.25, 0.25, 3)
    assert run.series("train/loss", low=2).x == [2.5]
    assert [point[:2] for point in points] == [
        *(("train/loss", 0.0), ("train/loss", 1.0), ("train/loss", 2.5))
    ]
    assert math.isnan(points[1][3])
    assert points[0][2].tzinfo is not None
    assert [point[1] for point in run.points("train/loss", low=1)] == [1.0, 2.5]


def test_points_and_buckets_are_those_between_two_moments(stored):
    run = agent.open_run("baseline")
    _, second, third = (time for _, _, time, _ in run.points("train/loss"))
    between = {"axis": "time", "low": second, "high": second}

    assert [p[2] for p in run.points("train/loss", **between)] == [second]
    assert run.series("train/loss", **between).x == [1000 * second.timestamp()]
    # In another time zone, or in the units of the axis.
    india = third.astimezone(timezone(timedelta(hours=5, minutes=30)))
    for low in (india, 1000 * third.timestamp()):
        assert [p[2] for p in run.points_of(["train/loss"], axis="time", low=low)] == [
            third
        ]


def test_each_moment_of_a_point_is_a_place_in_its_range(project):
    run = make_run(project, "long")
    # Including milliseconds that rounding to float seconds changes.
    write_series(run, "a", [0.0] * 100, times=START + np.arange(100) * 10_001 + 185)
    stored = agent.open_run("long")

    for moment in [time for _, _, time, _ in stored.points("a")]:
        between = {"axis": "time", "low": moment, "high": moment}
        assert len(list(stored.points("a", **between))) == 1


def test_points_are_those_between_two_seconds_since_the_run_started(stored):
    run = agent.open_run("baseline")
    times = [time for _, _, time, _ in run.points("train/loss")]
    second = (times[1] - run.started_at).total_seconds()

    found = run.points("train/loss", axis="relative", low=second)

    assert [p[2] for p in found] == times[1:]


def test_a_moment_is_no_step(stored):
    run = agent.open_run("baseline")
    now = datetime.now(UTC)

    for read in (run.points, run.series):
        with pytest.raises(ValueError, match="needs axis='time'"):
            read("train/loss", high=now)


def test_a_long_series_keeps_its_extremes(project):
    run = make_run(project, "long")
    values = [0.0] * 9_000
    values[4_321] = 99.0
    write_series(run, "a", values)

    series = agent.open_run("long").series("a", buckets=50)

    assert not series.is_exact
    assert len(series) <= 100
    assert (max(series.maximum), series.count) == (99.0, 9_000)


@pytest.mark.parametrize(
    ("ask", "code", "words"),
    [
        (lambda: agent.open_run("absent"), "not_found", "no run 'absent'"),
        (lambda: agent.runs(project="absent"), "not_found", "no project 'absent'"),
        (lambda: agent.runs("loss <"), "invalid_input", "query"),
        (
            lambda: agent.open_run("00000000-0000-4000-8000-000000000000"),
            *("not_found", "no run"),
        ),
    ],
)
def test_a_failed_read_raises_with_a_code(ask, code, words):
    with pytest.raises(agent.CannotRead, match=words) as refused:
        ask()

    assert refused.value.code == code


def test_a_token_without_read_scope_is_not_allowed(project, monkeypatch):
    member = project.workspace.members.get()
    monkeypatch.setenv("SEAMARK_TOKEN", make_token(member, "write", Scope.LOG))

    with pytest.raises(agent.CannotRead) as refused:
        agent.runs()

    assert refused.value.code == "not_allowed"


def test_a_missing_server_url_names_the_settings(monkeypatch):
    monkeypatch.delenv("SEAMARK_URL")

    with pytest.raises(agent.InvalidSetting, match="SEAMARK_TOKEN"):
        agent.runs()


def test_an_unreachable_server_raises_no_answer(monkeypatch):
    monkeypatch.setenv("SEAMARK_URL", "http://127.0.0.1:9")

    with pytest.raises(agent.CannotRead) as refused:
        agent.runs()

    assert refused.value.code == "no_answer"


def test_points_come_as_a_table_of_arrow(stored):
    table = agent.open_run("baseline").points("train/loss").to_arrow()

    assert table.column_names == ["run", "path", "step", "time", "value"]
    assert table["step"].to_pylist() == [0.0, 1.0, 2.5]


def test_data_frames_have_a_row_for_each(stored):
    run = agent.open_run("baseline")

    found = agent.runs(columns=["params/lr"]).to_pandas()

    assert list(found.columns[-2:]) == ["tags", "params/lr"]
    assert found["params/lr"].tolist() == [0.1]
    assert run.series("train/loss").to_pandas()["x"].tolist() == [0.0, 1.0, 2.5]
    assert run.points().to_pandas()["path"].tolist() == 3 * ["train/loss"]
    assert agent.runs('tags contains "absent"').to_pandas().empty


def test_runs_and_series_come_as_tables_of_arrow(stored):
    table = agent.runs(columns=["params/lr"]).to_arrow()
    series = agent.open_run("baseline").series("train/loss").to_arrow()

    assert table.column_names[-2:] == ["tags", "params/lr"]
    assert table["params/lr"].to_pylist() == [0.1]
    assert series["x"].to_pylist() == [0.0, 1.0, 2.5]
    assert agent.runs('tags contains "absent"').to_arrow().num_rows == 0


def test_a_column_of_numbers_and_texts_is_one_of_texts(stored, project):
    write_values(make_run(project, "other"), {"params/lr": "from the schedule"})

    found = agent.runs(columns=["params/lr"], sort="name").to_arrow()

    assert found["params/lr"].to_pylist() == ["0.1", "from the schedule"]


def test_the_examples_of_the_documentation_read(project, stored, capsys):
    page = ROOT / "docs/how-to/read-data-in-python.md"
    examples = re.findall(
        r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S
    )

    exec("".join(examples), {})

    assert capsys.readouterr().out == "baseline finished 0.25\n"


def test_names_that_spreadsheets_take_for_formulas_come_back_as_they_are(project):
    run = make_run(project, "hostile")
    for path in ("=1+1", "'quoted", 'a,"b"\nc'):
        write_series(run, path, [1.0])

    points = agent.open_run("hostile").points()

    assert {point[0] for point in points} == {"=1+1", "'quoted", 'a,"b"\nc'}
    assert {*points.to_arrow()["path"].to_pylist()} == {"=1+1", "'quoted", 'a,"b"\nc'}


def test_an_answer_that_breaks_off_is_never_taken_for_a_whole_one(stored, monkeypatch):
    def broken(*arguments, **options):
        yield from ()
        raise OSError("the disk is gone")

    monkeypatch.setattr("tracker.api.v1.points.read_all_points", broken)
    points = agent.open_run("baseline").points("train/loss")

    for read in (list, lambda points: points.to_arrow()):
        with pytest.raises(agent.CannotRead) as refused:
            read(points)
        assert refused.value.code == "no_answer"


def test_a_run_without_series_has_no_points(project):
    make_run(project, "empty")

    points = agent.open_run("empty").points()

    assert list(points) == []
    assert points.to_arrow().num_rows == 0


def test_texts_and_histograms_come_back_as_they_were_logged(stored, monkeypatch):
    monkeypatch.setattr("seamark.reading.records._PAGE", 2)
    histogram = agent.Histogram([0.0, 1.0, 1.0, math.nan], bins=2).encoded()
    write(
        stored,
        [
            records_message("logs/stdout", ["one", "zwei €", "three"], steps=[0, 1, 5]),
            records_message("grads", [histogram], kind="histogram"),
        ],
    )

    run = agent.open_run("baseline")

    first, *_, last = run["logs/stdout"]
    assert first == (0.0, datetime.fromtimestamp(START / 1e6, UTC), "one")
    assert (last[0], last[2]) == (5.0, "three")
    frame = run["logs/stdout"].to_pandas()
    assert list(frame.columns) == ["step", "time", "value"]
    assert frame["value"].tolist() == ["one", "zwei €", "three"]
    table = run["logs/stdout"].to_arrow()
    assert table.column_names == ["step", "time", "value"]
    assert table["value"].to_pylist() == ["one", "zwei €", "three"]
    assert table["time"][0].as_py() == first[1]
    assert run["grads"].to_arrow()["value"][0].as_py()["counts"] == [1, 2]
    later = run.records("logs/stdout", low=1)
    assert [value for _, _, value in later] == ["zwei €", "three"]
    ((_, _, found),) = run["grads"]
    assert (found.edges, found.counts, found.others) == ([0, 0.5, 1], [1, 2], 1)
    assert run.attributes("logs/") == {"logs/stdout": "three"}
    assert run.series_paths() == ["train/loss"]


def test_a_path_says_what_a_run_has_there(stored):
    run = agent.open_run("baseline")

    assert run["params/lr"] == 0.1
    assert [step for _, step, _, _ in run["train/loss"]] == [0.0, 1.0, 2.5]
    with pytest.raises(agent.CannotRead, match="nothing at 'params'"):
        run["params"]


def test_a_value_is_read_though_files_lie_below_it(stored, settings, tmp_path):
    settings.DATA_FOLDER = tmp_path / "data"
    write_values(stored, {"model": "resnet50"})
    add(stored, "model/best", b"weights", name="best.pt")
    add(stored, "train/loss/plot", b"drawn", name="plot.png")
    run = agent.open_run("baseline")

    assert run["model"] == "resnet50"
    assert len(list(run["train/loss"])) == 3
    assert len(run["train"].download(tmp_path / "there")) == 1


def test_pictures_below_a_path_are_downloaded_by_their_steps(
    stored, settings, tmp_path
):
    settings.DATA_FOLDER = tmp_path / "data"
    contents = [b"first", b"second"]
    pictures = [
        hashlib.sha256(content).digest()
        + struct.pack("<Q", len(content))
        + b"image/png"
        for content in contents
    ]
    steps = [1_234_567, 1_234_568]
    message = records_message("samples/val", pictures, kind="image", steps=steps)
    write(stored, [message])
    for content in contents:
        deliver(stored, content)
    add(stored, "samples/notes", b"text", name="notes.txt")

    written = agent.open_run("baseline")["samples"].download(tmp_path / "there")

    assert {str(path.relative_to(tmp_path / "there")) for path in written} == {
        "val-1234567.png",
        "val-1234568.png",
        "notes.txt",
    }


def test_a_run_that_is_opened_by_its_id_says_when_it_ended(stored):
    by_id = agent.open_run(str(stored.id))

    assert by_id.ended_at is not None
    assert by_id == agent.open_run("baseline")


def test_no_question_is_longer_than_proxies_take(stored, monkeypatch):
    for number in range(120):
        write_series(stored, f"monitoring/train/host/cpu/größe-{number}", [1.0])
    asked = []

    def noted(address, *arguments):
        asked.append(address)
        return opened(address, *arguments)

    opened = client._open
    monkeypatch.setattr(client, "_open", noted)

    points = list(agent.open_run("baseline").points())

    assert len(points) == 123
    # Proxies accept URLs of 8 KiB, and may lengthen them.
    assert max(map(len, asked)) < 6_000


def test_a_series_of_no_records_makes_a_table_with_its_columns(stored):
    write(stored, [records_message("logs/stdout", ["one"])])

    frame = agent.open_run("baseline").records("logs/stdout", low=7).to_pandas()

    assert frame.empty
    assert list(frame.columns) == ["step", "time", "value"]


def test_logged_values_are_read_back_unchanged(project, monkeypatch, tmp_path):
    member = project.workspace.members.get()
    monkeypatch.setenv("SEAMARK_TOKEN", make_token(member, "both", Scope.MANAGE))
    monkeypatch.setenv("SEAMARK_SPOOL", str(tmp_path / "spool"))
    with agent.init("live", monitor=False) as run:
        for number in range(300):
            run.log({"loss": 1.0, "logs/stdout": f"line {number} – größe"})
        run["grads"].append(agent.Histogram(edges=[0, 1, 10], counts=[3, 0.5]), step=7)

    stored = agent.open_run("live")

    lines = [(step, text) for step, _, text in stored["logs/stdout"]]
    assert lines == [(number, f"line {number} – größe") for number in range(300)]
    ((step, _, histogram),) = stored["grads"]
    assert (step, histogram.edges, histogram.counts) == (7, [0, 1, 10], [3, 0.5])
    assert stored.series("loss").count == 300


def test_integers_stay_what_they_are_where_other_runs_have_none(stored, project):
    # An integer that is not a float, one beyond 64 bits, and one that both runs have.
    values = {"seed": 1234567890123456789, "large": 2**63 + 1, "layers": 3}
    write_values(stored, values)
    write_values(make_run(project, "other"), {"layers": 4})

    found = agent.runs(columns=[*values], sort="name")
    frame, table = found.to_pandas(), found.to_arrow()

    assert str(frame["seed"].dtype) == "Int64"
    assert frame["seed"][0] == 1234567890123456789
    assert frame["seed"].isna().tolist() == [False, True]
    assert frame["large"].tolist() == [2**63 + 1, None]
    assert str(frame["layers"].dtype) == "int64"
    assert table["seed"].to_pylist() == [1234567890123456789, None]


def test_a_logged_path_called_name_does_not_replace_the_name_of_the_run(stored):
    write_values(stored, {"name": "ResNet", "state": 7})

    found = agent.runs(columns=["name", "state", "params/lr"])
    frame = found.to_pandas()

    assert [*frame.columns] == found.to_arrow().column_names
    assert [*frame.columns[-4:]] == ["tags", "path:name", "path:state", "params/lr"]
    assert frame.iloc[0][["name", "path:name"]].tolist() == ["baseline", "ResNet"]
    assert found.to_arrow()["path:state"].to_pylist() == [7]
    assert found[0].values["name"] == "ResNet"


def test_one_column_may_be_named_as_a_text(stored):
    (run,) = agent.runs(columns="params/lr")

    assert run.values == {"params/lr": 0.1}


def test_runs_are_keys_of_a_dictionary(stored, project):
    make_run(project, "other")
    losses = {run: run.name for run in agent.runs(columns=["params/lr"])}

    opened = agent.open_run("baseline")

    assert losses[opened] == "baseline"
    assert len(losses) == 2
    assert opened != "baseline"


def test_an_id_needs_no_project(stored, monkeypatch):
    monkeypatch.setenv("SEAMARK_PROJECT", "absent")

    run = agent.open_run(str(stored.id))

    assert (run.name, run.project) == ("baseline", "ada-workspace/vision")
    assert run.series("train/loss").count == 3
    assert len(list(run.points())) == 3
    for project in ("vision", "ada-workspace/vision"):
        assert agent.open_run(str(stored.id), project=project) == run


def test_an_id_of_another_project_is_refused(stored, project):
    member = project.workspace.members.get()
    make_project(member, "speech")

    for wanted, words in {
        "speech": "belongs to ada-workspace/vision",
        "absent": "no project 'absent'",
    }.items():
        with pytest.raises(agent.CannotRead, match=words) as refused:
            agent.open_run(str(stored.id), project=wanted)
        assert refused.value.code == "not_found"


READS = {
    "points": list,
    "arrow": lambda points: points.to_arrow(),
    "batches": lambda points: [r for b in points.batches() for r in b.to_pylist()],
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_the_error_for_an_absent_series_lists_similar_names(stored, read):
    run = agent.open_run("baseline")

    for path, words in {
        "train/los": "no series of numbers at 'train/los'; there are: train/loss",
        "params/lr": "but a float, which run",
        "zzz": "at 'zzz'.",
    }.items():
        with pytest.raises(agent.CannotRead, match=re.escape(words)) as refused:
            read(run.points("train/loss", path))
        assert refused.value.code == "not_found"


def test_the_error_for_an_absent_curve_lists_similar_names(stored):
    with pytest.raises(agent.CannotRead, match="there are: train/loss"):
        agent.open_run("baseline").series("train/los")


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_range_without_points_is_empty(stored, read):
    run = agent.open_run("baseline")
    some = run.points("train/loss", low=100)

    assert len(read(some)) == 0
    assert len(read(run.points(low=100))) == 0
    assert len(read(run.points_of([]))) == 0
    assert len(run.series("train/loss", low=100)) == 0


class Impatience:
    """A clock on which every wait ends at once."""

    def __init__(self):
        self.now = 0.0

    def time(self):
        return self.now

    monotonic = time

    def sleep(self, seconds):
        self.now += seconds


def test_who_reads_several_tables_at_once_is_told_that_they_wait_for_themselves(
    stored, monkeypatch
):
    monkeypatch.setattr(client, "time", Impatience())
    monkeypatch.setattr(tables, "WAIT_SECONDS", 0)
    places = BoundedSemaphore(1)
    monkeypatch.setattr(tables, "_exports", places)
    run = agent.open_run("baseline")
    first = iter(run.points())
    next(first)
    # As with a table so long that the server has not finished sending it.
    places.acquire()

    with pytest.raises(agent.CannotRead, match="one table at a time") as refused:
        list(run.points())
    first.close()
    with pytest.raises(agent.CannotRead) as alone:
        list(run.points())

    assert refused.value.code == alone.value.code == "unavailable"
    assert "one table at a time" not in str(alone.value)


def test_a_table_is_waited_for(stored, monkeypatch):
    full = BoundedSemaphore(1)
    full.acquire()
    clock = Impatience()
    clock.sleep = lambda _: full.release()
    monkeypatch.setattr(client, "time", clock)
    monkeypatch.setattr(tables, "WAIT_SECONDS", 0)
    monkeypatch.setattr(tables, "_exports", full)

    assert len(list(agent.open_run("baseline").points())) == 3


def test_a_run_says_when_something_has_arrived_and_when_it_is_summed_up(stored):
    run = agent.open_run("baseline")
    before = run.version()
    assert (run.version(), run.waiting_points()) == (before, 0)

    write_series(stored, "train/loss", [1.0], steps=[3])
    after = run.version()

    assert after != before
    assert run.waiting_points() == 1
    compact_run(stored.id)
    assert (run.version(), run.waiting_points()) == (after, 0)

"""run.url, run.id, the line at the start, and runs of the past."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

import agent
from tests.agent.conftest import wait_until


@pytest.fixture(autouse=True)
def _with_the_line(monkeypatch):
    monkeypatch.delenv("SEAMARK_QUIET")


def spool_id(tracker):
    return next(iter(tracker.frames))


def test_the_url_is_there_at_once_and_names_the_spool(tracker):
    run = agent.init("r", monitor=False)
    url = run.url
    assert pickle.loads(pickle.dumps(run)).url == url
    run.finish()

    assert url == run.url == f"{tracker.url}/r/{spool_id(tracker)}"


@pytest.mark.parametrize("mode", ["offline", "disabled"])
def test_without_a_server_there_is_no_url_and_no_id(tracker, mode, capsys):
    with agent.init("r", monitor=False, mode=mode) as run:
        run["a"].append(1.0)
        assert (run.url, run.id) == (None, None)

    assert " is at " not in capsys.readouterr().err


def test_the_id_is_what_the_server_answered(tracker):
    tracker.run_id = str(uuid4())
    run = agent.init("r", monitor=False)
    wait_until(lambda: run.id)
    run.finish()

    assert run.id == tracker.run_id


def test_a_server_that_answers_no_id_leaves_it_unknown(tracker):
    run = agent.init("r", monitor=False)
    run.finish()

    assert run.id is None


def test_the_start_prints_one_line_with_the_address(tracker, capsys):
    run = agent.init("r", monitor=False)
    assert agent.init("r", monitor=False) is run

    assert capsys.readouterr().err == f"seamark: run 'r' is at {run.url}\n"


@pytest.mark.parametrize(
    ("options", "environment"),
    [({"quiet": True}, {}), ({}, {"SEAMARK_QUIET": "1"}), ({"rank": 1}, {})],
    ids=["argument", "environment", "another rank"],
)
def test_the_line_is_left_out_if_quiet_and_by_other_ranks(
    tracker, capsys, monkeypatch, options, environment
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    run = agent.init("r", monitor=False, **options)

    assert run.url is not None
    assert capsys.readouterr().err == ""


def test_import_prints_nothing(tracker, run_script):
    done = run_script("import agent")

    assert (done.stdout, done.stderr) == ("", "")


START = datetime(2026, 3, 1, 12, tzinfo=UTC)
END = START + timedelta(hours=2)


def microseconds(moment):
    return round(moment.timestamp() * 1_000_000)


@pytest.mark.parametrize("convert", [lambda m: m, datetime.timestamp])
def test_a_run_of_the_past_has_its_own_start_and_end(tracker, convert):
    run = agent.init("r", monitor=False, started_at=convert(START))
    run["loss"].append(0.5, time=convert(START + timedelta(hours=1)))
    run.finish(ended_at=convert(END))

    assert tracker.of_kind("open")[0]["time"] == microseconds(START)
    assert tracker.of_kind("close")[0]["time"] == microseconds(END)


@pytest.mark.parametrize("value", ["yesterday", -1, datetime(2999, 1, 1, tzinfo=UTC)])
def test_a_start_that_cannot_be_is_refused(tracker, value):
    with pytest.raises(agent.InvalidSetting, match="started_at must"):
        agent.init("r", monitor=False, started_at=value)


@pytest.mark.parametrize("value", ["now", START, datetime(2999, 1, 1, tzinfo=UTC)])
def test_an_end_that_cannot_be_is_warned_of_and_the_run_ends_now(
    tracker, caplog, value
):
    run = agent.init("r", monitor=False, started_at=START + timedelta(days=1))
    run.finish(ended_at=value)

    assert "the current time is used as the end: ended_at must" in caplog.text
    assert tracker.of_kind("close")[0]["time"] > microseconds(END)


def test_an_end_that_cannot_be_raises_if_strict(tracker):
    run = agent.init("r", monitor=False, strict=True)

    with pytest.raises(agent.InvalidSetting, match="started_at"):
        run.finish(ended_at=START)
    run.finish()
    assert tracker.states() == ["finished"]

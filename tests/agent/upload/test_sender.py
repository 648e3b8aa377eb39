from __future__ import annotations

import json
import socket
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent
from seamark.lifecycle.background import Background
from seamark.queue.writer import Writer
from seamark.servers import Server, find_server, store_server
from seamark.upload import delivery, worker
from seamark.upload.sender import seconds_until_writing
from tests.agent.conftest import wait_until
from tests.agent.tracker_double import TOKEN, Scripted, TrackerDouble


def test_a_silent_run_says_that_it_is_alive(tracker, monkeypatch):
    monkeypatch.setattr(worker, "_HEARTBEAT_SECONDS", 0.1)
    run = agent.init("r", monitor=False)

    wait_until(lambda: any(body == b"" for _, _, body in tracker.requests))
    run.finish()

    assert len(tracker.of_kind("open")) == 1


def test_what_is_in_the_spool_is_sent_though_no_more_can_be_put_there(
    tracker, monkeypatch
):
    tried = []

    def fail(writer):
        tried.append(writer)
        raise KeyError("no such layout")

    monkeypatch.setattr(Writer, "catch_up", fail)
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    run["said"].append("a text, with which the writer moves all that is there")

    wait_until(lambda: tracker.values("a") == [1.0])
    assert tried
    run.finish()


def test_a_new_token_is_used_without_a_restart(tracker, monkeypatch):
    monkeypatch.setattr(delivery, "HOLD_SECONDS", 0.1)
    tracker.token = "smk_new"
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    wait_until(lambda: tracker.requests)

    monkeypatch.setenv("SEAMARK_TOKEN", "smk_new")

    wait_until(lambda: tracker.values("a") == [1.0])
    run.finish()


@pytest.fixture
def store(tmp_path):
    """Store an address and a token, as `seamark login` does."""

    def write(url, token):
        path = tmp_path / "config" / "seamark" / "agent.json"
        store_server(path, Server(url, token))

    return write


def test_a_stored_token_takes_the_place_of_a_refused_one_of_the_environment(
    tracker, monkeypatch, store
):
    monkeypatch.setattr(worker, "_UNKNOWN_SERVER_SECONDS", 0.1)
    tracker.token = "smk_new"
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    wait_until(lambda: tracker.requests)

    store(tracker.url, "smk_new")

    # Long before a minute is over.
    wait_until(lambda: tracker.values("a") == [1.0])
    run.finish()
    assert tracker.of_kind("close")


def test_a_stored_token_that_was_there_before_is_left_alone(
    tracker, monkeypatch, store
):
    monkeypatch.setattr(worker, "_UNKNOWN_SERVER_SECONDS", 0.01)
    store(tracker.url, "smk_new")
    tracker.token = "smk_new"
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    wait_until(lambda: tracker.requests)
    time.sleep(0.5)

    # The stored token may be for another run, and the retry interval has not passed.
    assert len(tracker.requests) == 1
    assert tracker.messages() == []
    run.finish(timeout=0)


def test_an_address_that_is_put_right_is_used_without_a_restart(store):
    double = TrackerDouble()
    store("http://127.0.0.1:9", TOKEN)
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    time.sleep(0.5)

    store(double.url, TOKEN)

    wait_until(lambda: double.values("a") == [1.0])
    run.finish()
    double.stop()


def test_what_one_server_cannot_read_goes_whole_to_the_next(
    tracker, monkeypatch, spool_root
):
    monkeypatch.setattr(worker, "_UNKNOWN_SERVER_SECONDS", 0.1)
    other = TrackerDouble()
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    wait_until(lambda: tracker.values("a") == [1.0])
    malformed = Scripted(400, b'{"error": {"code": "malformed_batch"}}')
    tracker.script.extend([malformed, malformed, *[Scripted(401)] * 100])
    run["a"].append(2.0)
    wait_until(lambda: list(spool_root.glob("set-aside/*")))

    monkeypatch.setenv("SEAMARK_URL", other.url)

    wait_until(lambda: other.values("a") == [1.0, 2.0])
    run.finish()
    other.stop()
    assert other.of_kind("drop") == []


def test_a_server_that_is_started_later_gets_everything(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "_UNKNOWN_SERVER_SECONDS", 0.1)
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    double = TrackerDouble()
    folder = tmp_path / "config" / "seamark"
    folder.mkdir(parents=True)

    stored = {"url": double.url, "token": TOKEN}
    (folder / "agent.json").write_text(json.dumps(stored))

    wait_until(lambda: double.values("a") == [1.0])
    run.finish()
    double.stop()


def test_what_an_earlier_process_left_is_delivered_by_the_next(tracker, spool_root):
    tracker.token = "smk_other"
    first = agent.init("first", monitor=False)
    first["a"].append(1.0)
    first.finish(timeout=0.5)
    assert len(list(spool_root.iterdir())) == 1
    tracker.token = TOKEN

    second = agent.init("second", monitor=False)

    wait_until(lambda: tracker.values("a") == [1.0])
    wait_until(lambda: len(list(spool_root.iterdir())) == 1)
    second.finish()
    assert sorted(m["run"] for m in tracker.of_kind("open")) == ["first", "second"]


def test_a_leftover_is_not_sent_to_another_server(tracker, monkeypatch, spool_root):
    with agent.init("offline", monitor=False, mode="offline") as run:
        run["a"].append(1.0)
    (spool,) = spool_root.iterdir()
    description = json.loads((spool / "spool.json").read_text())
    description["url"] = "https://tracker.example"
    (spool / "spool.json").write_text(json.dumps(description))

    with agent.init("r", monitor=False) as other:
        other["b"].append(1.0)
        wait_until(lambda: tracker.values("b"))

    assert tracker.values("a") == []
    assert spool.exists()


def kill(background):
    """End the thread of the background for good, which takes more than one error."""
    wait_until(lambda: background.is_alive)
    thread, turn = background._thread, background._turn

    def die(_seconds=0.0):
        raise SystemExit

    background._turn = background._wait = die
    background.wake()
    wait_until(lambda: not thread.is_alive())
    background._turn = turn
    del background._wait


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_dead_thread_is_started_again(tracker):
    run = agent.init("r", monitor=False)
    kill(run._session._sender.background)
    run["a"].append(1.0)

    wait_until(lambda: tracker.values("a") == [1.0])
    run.finish()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_dead_writer_is_started_again_without_a_server():
    run = agent.init("r", monitor=False, mode="offline")
    session = run._session
    background = session._writer.background
    kill(background)
    run["a"].append(1.0)

    wait_until(lambda: background.is_alive)
    wait_until(lambda: session.is_all_written)
    run.finish()


def test_a_thread_that_dies_again_and_again_is_told_of_once(caplog, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("seamark.lifecycle.background.time.monotonic", lambda: now[0])
    started = []
    monkeypatch.setattr("threading.Thread.start", lambda _: started.append(now[0]))
    background = Background("seamark-test", lambda: 1.0)

    for second in range(300):
        now[0] = float(second)
        background.ensure()

    assert started == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]
    assert caplog.text.count("died") == 1


def test_a_server_that_accepts_and_never_answers_delays_the_end_by_little(monkeypatch):
    listener = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setenv("SEAMARK_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")
    monkeypatch.setenv("SEAMARK_TOKEN", TOKEN)
    before = set(threading.enumerate())
    run = agent.init("r", monitor=False)
    run["a"].append(1.0)
    began = time.monotonic()

    run.finish(timeout=0.5)

    assert time.monotonic() - began < 10
    # Its request ends with the connection, and with it the daemon thread.
    listener.close()
    wait_until(
        lambda: (
            not any(
                thread.name == "seamark-sender"
                for thread in set(threading.enumerate()) - before
            )
        )
    )


def test_no_thread_is_left_behind(tracker):
    before = set(threading.enumerate())
    for number in range(10):
        agent.init(f"r{number}").finish()

    names = [thread.name for thread in set(threading.enumerate()) - before]
    assert not [name for name in names if name.startswith("seamark")]


def test_a_busy_server_does_not_keep_the_script_from_ending(tracker, capfd):
    tracker.script.extend([Scripted(503, headers={"Retry-After": "60"})] * 100)
    run = agent.init("r", monitor=False)
    began = time.monotonic()

    run.finish(timeout=0.5)

    assert time.monotonic() - began < 10
    assert capfd.readouterr().err.count("is not completely delivered") == 1
    assert find_server({"SEAMARK_URL": tracker.url}) is None


def test_a_leftover_that_the_server_cannot_take_delays_no_living_run(
    tracker, monkeypatch
):
    monkeypatch.setattr(delivery, "_FIRST_RETRY_SECONDS", 60.0)
    with agent.init("left behind", monitor=False, mode="offline") as left:
        left["a"].append(1.0)
    tracker.script.append(Scripted(200, b'{"stored": 1}', stores=True))
    tracker.script.append(Scripted(500))
    run = agent.init("r", monitor=False)
    wait_until(lambda: len(tracker.requests) == 2)

    run["b"].append(1.0)

    wait_until(lambda: tracker.values("b") == [1.0], seconds=5)
    run.finish()


@given(now=st.floats(0, 1e6), quiet=st.floats(0, 1e6))
def test_a_batch_is_sent_each_second_while_others_rest(now, quiet):
    wait = seconds_until_writing(now, quiet)

    assert 0.34 <= wait <= 1.34
    # The batch leaves 0.16 s later; others rest halfway.
    away = (now + wait + 0.08 - quiet) % 1
    assert min(away, 1 - away) < 1e-6
    # And then every second.
    assert seconds_until_writing(quiet + 0.083, quiet) == pytest.approx(0.837)
    assert seconds_until_writing(now, None) == pytest.approx(0.84)

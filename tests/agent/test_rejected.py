"""Points rejected by the server: a warning with the path, or an exception if strict."""

from __future__ import annotations

import threading

import pytest

import agent
from seamark.capture.capture import Capture
from seamark.lifecycle.background import own_threads
from seamark.lifecycle.exit_deadline import Ending
from seamark.queue.buffer import SetValue
from tests.agent.conftest import wait_until
from tests.agent.tracker_double import Scripted

REJECTED = Scripted(
    200,
    b'{"stored": 1, "refused": [{"path": "a/b", "code": "type_conflict",'
    b' "message": "The path holds a series."}], "refused_count": 1}',
    stores=True,
)


def is_raised_by(call):
    try:
        call()
    except agent.Rejected as error:
        return error.path == "a/b"
    return False


@pytest.mark.parametrize(
    "call",
    [
        lambda run: run["loss"].append(1.0),
        lambda run: run["loss"].extend([1.0]),
        lambda run: run.log({"loss": 1.0}),
        lambda run: run.__setitem__("lr", 0.1),
        lambda run: run["file"].upload(b"x"),
        lambda run: run.add_tags("x"),
    ],
    ids=["append", "extend", "log", "set", "upload", "tags"],
)
def test_a_strict_run_raises_what_the_server_refused_at_its_next_call(tracker, call):
    tracker.script.append(REJECTED)
    run = agent.init("r", monitor=False, capture=False, strict=True)
    run["loss"].append(1.0)

    wait_until(lambda: is_raised_by(lambda: call(run)))
    assert not is_raised_by(run.finish)


def test_a_strict_run_raises_what_the_server_refused_at_its_end(tracker):
    run = agent.init("r", monitor=False, capture=False, strict=True)
    tracker.script.append(REJECTED)

    assert is_raised_by(run.finish)


def test_a_run_warns_of_each_path_that_the_server_refused(tracker, caplog):
    tracker.script.extend([REJECTED] * 2)
    with agent.init("r", monitor=False, capture=False) as run:
        run["loss"].append(1.0)

    assert [text for text in caplog.messages if "a/b" in text] == [
        "not logged: the server rejected 'a/b': The path holds a series. (type_conflict)"
    ]


@pytest.mark.parametrize("is_own", [True, False], ids=["SDK", "script"])
def test_only_the_script_is_warned_that_the_run_is_finished(tracker, caplog, is_own):
    run = agent.init("r", monitor=False, capture=False)
    run.finish()

    def log_late():
        if is_own:
            own_threads.add(threading.get_ident())
        run._recorder.put(SetValue("late", 1))
        own_threads.discard(threading.get_ident())

    thread = threading.Thread(target=log_late)
    thread.start()
    thread.join()

    assert bool(caplog.messages) is not is_own


def test_the_end_leaves_all_but_a_second_to_what_is_captured(tracker, monkeypatch):
    waited = []
    monkeypatch.setattr(
        "seamark.lifecycle.background.Background.stop",
        lambda _, seconds: waited.append(seconds),
    )
    run = agent.init("r", mode="offline", monitor=False, capture=False)
    capture = Capture(run.settings, run._recorder, run._notices)

    capture.finish(Ending(5.0))

    assert waited
    assert min(waited) > 3.5
    monkeypatch.undo()
    run.finish()

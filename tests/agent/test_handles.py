from __future__ import annotations

import copy
import pickle

import pytest

import agent
from tests.agent.tracker_double import TOKEN


def test_a_closure_takes_a_run_along_without_the_token(tracker):
    cloudpickle = pytest.importorskip("cloudpickle")
    with agent.init("r", monitor=False) as run:
        data = cloudpickle.dumps(lambda: run["a"].append(1.0))
        pickle.loads(data)()

    assert TOKEN.encode() not in data
    assert tracker.values("a") == [1.0]


def test_a_handle_without_a_token_sends_nothing_and_keeps_what_is_logged(
    tracker, monkeypatch, spool_root
):
    run = agent.init("r", monitor=False)
    data = pickle.dumps(run)
    run.finish()
    monkeypatch.delenv("SEAMARK_TOKEN")
    before = len(tracker.requests)

    other = pickle.loads(data)
    other["a"].append(1.0)
    other.finish(timeout=0.2)

    assert len(tracker.requests) == before
    assert list(spool_root.glob("*/*.frames"))


def test_all_handles_of_a_run_are_ended_with_the_process(tracker, run_script):
    script = """
import pickle, agent
with agent.init("r", monitor=False) as run:
    data = pickle.dumps(run)
first, second = pickle.loads(data), pickle.loads(data)
first["a"].append(1.0)
second["b"].append(1.0)
"""
    run_script(script)

    assert (tracker.values("a"), tracker.values("b")) == ([1.0], [1.0])
    assert tracker.states() == ["finished"] * 3


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda held: pickle.loads(pickle.dumps(held))],
    ids=["deepcopy", "pickle"],
)
def test_what_a_model_holds_of_a_run_is_copied_with_it(tracker, copied):
    with agent.init("r", stage="train", monitor=False) as run:
        held = {"norm": run["/act/norm/"], "forward": run.phase("forward")}
        with held["forward"]:
            other = copied(held)
        other["norm"].append(1.0)
        with other["forward"]:
            pass

    assert other["norm"].path == "act/norm"
    assert tracker.values("act/norm") == [1.0]
    assert len(tracker.values("monitoring/train/step/phase/forward_seconds")) == 2


def test_what_is_copied_behind_the_end_does_not_open_the_run_again(tracker, caplog):
    with agent.init("r", monitor=False) as run:
        held = [run["a"]]
    copy.deepcopy(held)[0].append(1.0)

    assert len(tracker.frames) == 1
    assert tracker.paths() == set()
    assert "finished" in caplog.text


def test_a_copy_of_what_was_refused_stores_nothing(tracker):
    with agent.init("r", monitor=False) as run:
        copy.deepcopy(run["a\0"]).append(1.0)

    assert tracker.paths() == set()

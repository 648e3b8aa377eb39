from __future__ import annotations

import pytest

import agent
from tests.agent.tracker_double import doubles


def opened(tracker):
    return {m["run"]: m for m in tracker.of_kind("open")}


def init(name="b", **options):
    return agent.init(name, project="digits", monitor=False, **options)


def test_a_fork_names_its_source_and_step(tracker):
    init(fork_from="a", fork_step=1200).finish()
    init("c").finish()

    message = opened(tracker)["b"]
    assert (message["fork_from"], message["fork_step"]) == ("a", 1200.0)
    assert "fork_from" not in opened(tracker)["c"]


def test_a_source_is_a_run_a_name_or_an_id(tracker):
    with init("a") as source:
        agent.init("b", monitor=False, fork_from=source, fork_step=0).finish()

    message = opened(tracker)["b"]
    assert (message["project"], message["fork_from"]) == ("digits", "a")


@pytest.mark.parametrize(("fork_step", "first"), [(4, 5), (4.5, 5), (-1, 0)])
def test_automatic_steps_continue_after_the_fork(tracker, fork_step, first):
    with init(fork_from="a", fork_step=fork_step) as run:
        run["loss"].append(1.0)
        run["loss"].append(2.0)
        run.log({"loss": 3.0, "accuracy": 0.5})
        run.log({"x": 1.0, "y": 2.0})
        run["text"].append("hello")

    assert tracker.steps("loss") == [first, first + 1, first + 2]
    assert tracker.steps("accuracy") == [first + 2]
    assert tracker.steps("x") == [first + 2]
    (text,) = tracker.of_kind("records")
    assert doubles(text["steps"]) == (first,)


def test_explicit_steps_are_kept(tracker):
    with init(fork_from="a", fork_step=10) as run:
        run["loss"].append(1.0, step=20)
        run["loss"].append(1.0)

    assert tracker.steps("loss") == [20, 21]


def test_parameters_set_before_the_first_point_stay_parameters(tracker):
    with init(fork_from="a", fork_step=10) as run:
        run["lr"] = 0.1
        run["loss"].append(1.0)
        run["best"] = 1.0

    early = {m["path"]: m.get("early", False) for m in tracker.of_kind("set")}
    assert (early["lr"], early["best"]) == (True, False)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"fork_from": "a"}, "fork_step"),
        ({"fork_step": 3}, "fork_from"),
        ({"fork_from": "a", "fork_step": "x"}, "fork_step"),
        ({"fork_from": "a", "fork_step": float("nan")}, "fork_step"),
        ({"fork_from": "", "fork_step": 3}, "fork_from"),
    ],
)
def test_an_incomplete_fork_is_refused(options, reason):
    with pytest.raises(agent.InvalidSetting, match=reason):
        init(**options)


def test_a_source_of_another_project_is_refused(tracker):
    with init("a") as source, pytest.raises(agent.InvalidSetting, match="same project"):
        agent.init("b", project="other", fork_from=source, fork_step=1)

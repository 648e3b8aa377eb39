"""Ranks that log to separate paths."""

from __future__ import annotations

import pickle

import pytest

import agent
from seamark.frameworks.runs import run_of_rank

SCRIPT = """
import agent
run = agent.init("r", monitor=False, params={"lr": 0.1})
for step in range(3):
    run["train/loss"].append(run.rank, step=step)
    run.log({"acc": run.rank, "nested": {"b": run.rank}}, step=step)
run["texts"].append("hello")
run["best"] = run.rank
"""


def paths(tracker):
    return {path for message in tracker.of_kind("points") for path in message["paths"]}


def test_what_a_rank_logs_lies_below_its_name_and_what_it_assigns_is_the_runs(
    tracker, run_script
):
    for rank in "0", "1":
        done = run_script(SCRIPT, RANK=rank, SEAMARK_SEPARATE_RANKS="yes")
        assert done.returncode == 0, done.stderr

    own = {"train/loss", "acc", "nested/b"}
    assert paths(tracker) == own | {f"rank-1/{path}" for path in own}
    assert tracker.values("train/loss") == [0.0] * 3
    assert tracker.values("rank-1/acc") == [1.0] * 3
    assert {m["path"] for m in tracker.of_kind("records")} == {"texts", "rank-1/texts"}
    assert {m["path"] for m in tracker.of_kind("set")} == {"params/lr", "best"}


@pytest.mark.parametrize("rank", [0, 1])
def test_by_default_all_ranks_share_their_paths(tracker, rank):
    with agent.init("r", monitor=False, rank=rank) as run:
        run["train/loss"].append(1.0)

    assert paths(tracker) == {"train/loss"}


def test_a_rank_that_a_framework_names_is_as_its_run_was_meant(tracker):
    with agent.init(
        "r", monitor=False, capture=["failure"], separate_ranks=True
    ) as run:
        other = run_of_rank(run, 1)
        other["train/loss"].append(1.0)
        other.finish()

    assert paths(tracker) == {"rank-1/train/loss"}
    assert other.settings == run.settings._replace(rank=1)


def test_a_path_that_is_too_long_with_its_rank_is_refused(tracker, caplog):
    with agent.init("r", monitor=False, rank=1, separate_ranks=True) as run:
        run["a" * 1020].append(1.0)
        run.log({"b" * 1020: 1.0, "/c/": 2.0}, step=1)

    assert paths(tracker) == {"rank-1/c"}
    assert "longer than" in caplog.text


def test_a_process_that_a_run_travels_to_keeps_to_them(tracker):
    with agent.init("r", monitor=False, rank=2, separate_ranks=True) as run:
        restore, (handle, _) = run.__reduce__()
        run.finish()
        other = restore(handle)
        other["a"].append(1.0)
        other.finish()

    assert paths(tracker) == {"rank-2/a"}


def test_what_is_held_of_a_run_has_its_rank_once_when_it_travels(tracker):
    with agent.init("r", monitor=False, rank=1, separate_ranks=True) as run:
        pickle.loads(pickle.dumps(run["a"])).append(1.0)

    assert paths(tracker) == {"rank-1/a"}


def test_a_file_that_is_assigned_lies_where_it_is_uploaded(tracker):
    with agent.init("r", monitor=False, rank=1, separate_ranks=True) as run:
        run["a"].upload(b"a")
        run["b"] = agent.File(b"b")
        run["c"] = 1

    assert {m["path"] for m in tracker.of_kind("file")} == {"rank-1/a", "rank-1/b"}
    assert tracker.attributes() == {"c": 1}

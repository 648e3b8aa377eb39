"""User, machine, hardware and code of a run."""

from datetime import UTC, datetime
from typing import Any

from tests.web.stage_rows import process_row, stage_row
from tracker.queries.run.attributes import AttributeRow, Value
from tracker.queries.run.run import RunOverview
from web.pages.run.about_run import about_run, paths_about

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def rows(values: dict[str, Value]) -> dict[str, AttributeRow]:
    return {
        f"monitoring/{path}": AttributeRow(
            *(path, "", value, 0, None, None, None, None, None, NOW)
        )
        for path, value in values.items()
    }


def overview(*stages, facts=()) -> RunOverview:
    fields: dict[str, Any] = {
        "name": "run",
        "state": "finished",
        "started_at": NOW,
        "ended_at": NOW,
        "last_known": NOW,
        "last_seen_at": NOW,
        "duration": 0.0,
        "wall_time": 0.0,
        "may_go_on": False,
        "may_resume": False,
        "silent_for": None,
        "tags": (),
        "description": "",
        "stages": stages,
        "facts": rows(dict(facts)),
    }
    return RunOverview(**fields)


def test_tells_what_is_known():
    shown = overview(
        stage_row("train", process_row(0), process_row(1, host="node-2")),
        facts={"train/facts/gpu_count": 8, "train/facts/gpu/0/name": "NVIDIA H100"},
    )
    captured = rows(
        {
            "train/git/commit": "3179d2f0a1b2c3d4",
            "train/git/branch": "main",
            "train/git/is_dirty": True,
            "train/source/arguments": "python train.py",
        }
    )

    about = about_run(shown, "train", captured)

    assert about.hosts == ("node-1", "node-2")
    assert about.processes == 2
    assert about.gpus == "8 × NVIDIA H100"
    assert (about.short_commit, about.branch, about.is_dirty) == (
        *("3179d2f0a1", "main"),
        True,
    )
    assert about.command == "python train.py"
    assert set(paths_about("train")) == set(captured)


def test_what_is_not_known_is_empty_and_no_gpu_is_known_to_be_none():
    about = about_run(overview(), "", {})

    assert (about.hosts, about.gpus, about.commit, about.is_dirty) == ((), "", "", None)
    assert not about.has_no_gpu
    without = overview(stage_row("train"), facts={"train/facts/gpu_count": 0})
    assert about_run(without, "train", {}).has_no_gpu


def test_anything_may_stand_at_a_path():
    odd = rows({"train/git/commit": 3.5, "train/git/is_dirty": "yes"})
    counts = {"train/facts/gpu_count": True, "train/facts/gpu/0/name": ["a"]}

    about = about_run(overview(stage_row("train"), facts=counts), "train", odd)

    assert (about.commit, about.is_dirty, about.gpus) == ("", None, "")


def test_of_very_many_hosts_the_first_are_named():
    ranks = [process_row(rank, host=f"node-{rank}") for rank in range(64)]

    about = about_run(overview(stage_row("train", *ranks)), "train", {})

    assert (len(about.hosts), about.more_hosts) == (3, 61)

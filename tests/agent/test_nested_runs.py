from __future__ import annotations

import pytest

import agent


def opened(tracker):
    return {m["run"]: m for m in tracker.of_kind("open")}


def init(**options):
    return agent.init("sweep", project="digits", monitor=False, **options)


def test_a_child_names_its_parent(tracker):
    with init(stage="search") as run, run.child("trial") as trial:
        trial["loss"].append(1.0)

    message = opened(tracker)["trial"]
    assert message["parent"] == "sweep"
    assert (message["project"], message["stage"]) == ("digits", "search")
    assert "parent" not in opened(tracker)["sweep"]


def test_a_parent_that_the_server_knows_is_named_by_its_id(tracker):
    tracker.run_id = "0" * 32
    with init() as run:
        run["loss"].append(1.0)
        run.finish()
        run.child("trial").finish()

    assert opened(tracker)["trial"]["parent"] == tracker.run_id


def test_a_parent_is_a_run_a_name_or_an_id(tracker):
    with init() as run:
        agent.init("a", parent=run, monitor=False).finish()
    agent.init("b", parent="sweep", project="digits", monitor=False).finish()

    assert opened(tracker)["a"]["project"] == "digits"
    assert [opened(tracker)[name]["parent"] for name in "ab"] == ["sweep", "sweep"]


def test_a_child_takes_options_of_init(tracker):
    with init() as run:
        run.child("trial", stage="fold", params={"lr": 0.1}).finish()

    assert opened(tracker)["trial"]["stage"] == "fold"
    assert tracker.attributes()["params/lr"] == 0.1


def test_a_child_measures_no_hardware_by_default(tracker):
    with init() as run:
        assert not run.child("trial").settings.monitor
        assert run.child("other", monitor=True).settings.monitor


def test_a_parent_of_another_project_is_refused(tracker):
    with init() as run, pytest.raises(agent.InvalidSetting, match="same project"):
        agent.init("trial", project="other", parent=run)


@pytest.mark.parametrize("parent", ["", "a\0b", "x" * 256])
def test_a_name_that_is_none_is_refused(parent):
    with pytest.raises(agent.InvalidSetting, match="parent"):
        agent.init("trial", parent=parent)

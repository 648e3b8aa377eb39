from __future__ import annotations

import agent
from seamark.frameworks.runs import run_beside, run_for


def test_by_default_the_last_run_that_was_opened_is_meant(run):
    other = agent.init("other", monitor=False)

    assert run_for(None) is other


def test_a_name_means_the_open_run_whatever_its_project_and_stage(run):
    agent.init("other", monitor=False)

    assert run_for("r") is run


def test_a_name_means_the_rank_that_the_framework_says(run):
    other = run_for("r", rank=1)

    assert (other.project, other.stage, other.rank) == ("p", "train", 1)


def test_a_name_that_no_open_run_has_opens_one(run):
    assert run_for("new").name == "new"


def test_a_run_beside_another_is_set_up_the_same(run):
    assert run_beside(run, "r-2").settings == run.settings._replace(
        run="r-2", parent="r"
    )


def test_a_disabled_run_is_the_one_that_is_meant_too(run):
    disabled = agent.init("d", mode="disabled")

    assert run_for(None) is disabled
    assert run_for("d") is disabled

"""A ladder on paper."""

from __future__ import annotations

import pytest

from tests.builders import make_project, make_run
from tests.ladder_runs import DEMO, NOTES, make_measured_run
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.queries.ladders.ladders import read_ladder
from tracker.queries.ladders.verdicts import NOT_ENOUGH_STEPS
from web.pages.ladders.report import report_of

pytestmark = pytest.mark.django_db


def report(member, *jobs, per_example=True):
    project = make_project(member)
    runs = [make_measured_run(project, job) for job in jobs]
    return report_on(project, runs, per_example=per_example)


def report_on(project, runs, *, per_example=True):
    rungs = [
        RungRequest(str(run.id), note) for run, note in zip(runs, NOTES, strict=False)
    ]
    return report_of(
        read_ladder(create_ladder(project, "x", rungs)), per_example=per_example
    )


def test_says_in_a_sentence_what_the_ladder_came_to(member):
    sentence = report(member, *DEMO).sentence

    assert sentence.startswith("After 3 changes, “larger batch” has")
    assert "times the steady throughput of the baseline" in sentence
    assert "Most of the gain came from “decoded ahead”" in sentence


def test_says_when_nothing_can_be_compared(member):
    assert "yet" in report(member, DEMO[0]).sentence


def test_the_longest_bar_fills_its_line(member):
    bars = report(member, *DEMO[:2]).bars

    ends = [bar.parts[-1].start + bar.parts[-1].length for bar in bars]
    assert ends[0] == pytest.approx(100, abs=0.1)
    assert ends[1] < 60


def test_a_run_too_short_to_judge_says_so_in_place_of_a_bar(member):
    project = make_project(member)
    runs = [make_measured_run(project, DEMO[0]), make_run(project, "short")]

    bars = report_on(project, runs).bars

    assert bars[1].parts == ()
    assert bars[1].total == NOT_ENOUGH_STEPS

"""Processes that are measured at once have cores that no other has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from benchmarks.agent_faults.lanes import Lanes, usable_cores


def test_each_lane_has_two_cores_and_as_many_are_left_for_all_else():
    lanes = Lanes.of(range(4, 16))

    assert lanes.rest == {4, 5}
    assert [lane[-1] for lane in lanes.each] == [
        "6,7",
        "8,9",
        "10,11",
        "12,13",
        "14,15",
    ]
    assert lanes.words == ", 5 at once on 2 cores each"


def test_an_odd_core_is_left_for_all_else():
    lanes = Lanes.of([8, 1, 2, 3, 4, 5, 9])

    assert lanes.rest == {1, 2, 3}
    assert [lane[-1] for lane in lanes.each] == ["4,5", "8,9"]


@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_few_cores_are_one_lane_that_is_kept_to_nothing(count):
    lanes = Lanes.of(range(count))

    assert lanes.each == [()]
    assert lanes.words == ""


def test_one_lane_does_one_job_after_the_other_in_their_order():
    done = []

    answers = Lanes.of({0}).perform(
        lambda job, _lane: done.append(job) or -job, range(9)
    )

    assert done == [*range(9)]
    assert answers == [-job for job in range(9)]


def test_jobs_at_once_have_each_a_lane_and_their_answers_keep_their_order():
    lanes = Lanes([("first",), ("second",)], usable_cores())

    answers = lanes.perform(lambda job, lane: (job, lane[0]), range(20))

    assert [job for job, _ in answers] == [*range(20)]
    assert {lane for _, lane in answers} <= {"first", "second"}


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("taskset") is None,
    reason="keeping processes to cores takes taskset",
)
def test_a_process_is_kept_to_its_lane_and_threads_to_what_is_left():
    (core, *_) = sorted(usable_cores())
    lanes = Lanes([("taskset", "-c", str(core))] * 2, {core})
    asked = [sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"]

    def affinities(_job: int, lane: tuple[str, ...]) -> tuple[str, set[int]]:
        said = subprocess.check_output([*lane, *asked], text=True)
        return said.strip(), os.sched_getaffinity(0)

    assert lanes.perform(affinities, range(2)) == [(f"{{{core}}}", {core})] * 2
    assert usable_cores() >= {core}

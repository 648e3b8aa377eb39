"""The timeline of a trace."""

from __future__ import annotations

from seamark.importers.problems import Problems
from seamark.importers.trace import collect
from seamark.importers.trace_steps import find_steps
from seamark.importers.trace_timeline import (
    FIRST_BARS,
    MAX_BARS,
    Lanes,
    shown_interval,
    timeline,
)
from tests.agent.importers.traces import span, steps_of


def drawn(events):
    trace = collect(events, Problems())
    steps = [(step.start, step.end) for step in find_steps(trace)]
    interval = shown_interval(steps, trace.lanes)
    return {lane["name"]: lane for lane in timeline(trace.lanes, interval, "t")["data"]}


def test_three_steps_in_the_middle_are_shown_by_lane():
    lanes = drawn(steps_of(7))

    assert list(lanes) == ["Steps", "Script", "GPU 0 compute"]
    assert lanes["Steps"]["text"] == ["step 2", "step 3", "step 4"]
    assert lanes["GPU 0 compute"]["base"] == [40, 140, 240]
    assert lanes["GPU 0 compute"]["x"] == [50, 50, 50]


def test_communication_and_every_copy_have_lanes_of_their_own():
    lanes = drawn(
        [
            *steps_of(1),
            span("kernel", "ncclDevKernel_AllReduce", 90, 5, device=0),
            span("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 95, 5, device=0),
        ]
    )

    assert lanes["GPU 0 communication"]["text"] == ["ncclDevKernel_AllReduce"]
    assert lanes["GPU 0 copies"]["base"] == [95]


def test_of_very_many_kernels_the_first_are_shown():
    lanes = Lanes()
    for number in range(50_000):
        lanes.add("GPU 0 compute", number * 10.0, number * 10.0 + 9, f"k{number % 3}")

    interval = shown_interval([(0.0, 500_000.0)], lanes)

    assert interval == (0, 10 * MAX_BARS)
    figure = timeline(lanes, interval, "t")
    assert len(figure["data"][0]["x"]) == MAX_BARS
    # Gaps between kernels are visible at first.
    assert figure["layout"]["xaxis"]["range"] == [0, 10 * FIRST_BARS / 1000]

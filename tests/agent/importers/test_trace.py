"""Import of trace events, including hostile ones."""

from __future__ import annotations

import pytest

from seamark.importers import trace as module
from seamark.importers.problems import Problems
from seamark.importers.trace import collect
from seamark.importers.trace_facts import base_microseconds, facts_of, rank_of
from tests.agent.importers.traces import DEVICE, kernel, span, step_events


def collected(*events):
    problems = Problems()
    return collect(events, problems), problems


def test_categories_of_old_and_of_new_versions_are_understood():
    for category in ("Kernel", "kernel"):
        assert len(collected(span(category, "k", 0, 1, device=2))[0].kernels[2]) == 1
    for category in ("Operator", "cpu_op", "user_annotation"):
        assert collected(span(category, "ProfilerStep#3", 0, 1))[0].steps[0].number == 3


def test_the_gpus_own_copy_of_an_annotation_is_no_step():
    assert collected(span("gpu_user_annotation", "ProfilerStep#3", 0, 1))[0].steps == []


def test_copies_say_from_which_memory_they_are():
    found, _ = collected(
        span("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 1, bytes=10),
        span("Memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 1, bytes=10),
        span("Memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 1, bytes=10),
    )

    assert [copy.is_pinned for copy in found.copies] == [True, False]


def test_kernels_that_communicate_are_told_apart():
    found, _ = collected(kernel(0, 1, "ncclDevKernel_AllReduce_Sum_f32"), kernel(0, 1))

    assert len(found.collectives[0]) == len(found.kernels[0]) == 1


@pytest.mark.parametrize("name", ["Optimizer.step#SGD.step", "forward", "my phase/1"])
def test_annotations_are_phases(name):
    (phase,) = collected(span("user_annotation", name, 0, 1))[0].phases

    assert phase.name in {"optimizer", "forward", "my_phase_1"}


def test_phases_without_end_are_not_kept():
    events = [span("user_annotation", f"phase {n}", n, 1) for n in range(1_000)]

    assert len({phase.name for phase in collected(*events)[0].phases}) == 32


@pytest.mark.parametrize(
    "change",
    [
        {"ts": None},
        {"ts": "5"},
        {"ts": 10**400},
        {"ts": float("nan")},
        {"ts": True},
        {"dur": -1},
        {"dur": float("inf")},
        {"dur": []},
    ],
)
def test_an_event_without_a_usable_time_is_counted(change):
    found, problems = collected({**kernel(0, 1), **change})

    assert not found.kernels
    assert problems.causes["an event has no usable time"] == ([1], 1)


@pytest.mark.parametrize(
    "change",
    [
        {"cat": None},
        {"cat": 5},
        {"name": None},
        {"name": ["x"]},
        {"args": None},
        {"args": [1]},
        {"args": {"device": "0"}, "pid": "x"},
        {"args": {"device": -1}, "pid": []},
        {"args": {"device": 10**30}},
    ],
)
def test_other_members_may_be_anything(change):
    collected({**kernel(0, 1), **change})
    collected({**span("gpu_memcpy", "Memcpy HtoD", 0, 1), **change})
    collected({**span("cuda_runtime", "cudaMemcpyAsync", 0, 1), **change})
    collected({**span("user_annotation", "ProfilerStep#1", 0, 1), **change})


def test_what_is_no_event_is_counted():
    _, problems = collected(1, "x", None, [], {}, kernel(0, 1))

    assert problems.causes["an event is not an object"] == ([1, 2, 3], 4)


def test_a_million_events_take_little_room():
    events = (kernel(n, 0.5) for n in range(1_000_000))

    trace = collect(events, Problems())

    assert trace.events == len(trace.kernels[0]) == 1_000_000


def test_there_is_an_end_to_what_is_kept(monkeypatch):
    monkeypatch.setattr(module, "MAX_SPANS", 10)

    found, problems = collected(*(kernel(n, 1) for n in range(100)))

    assert len(found.kernels[0]) == 10
    assert "it has too many spans" in problems.causes


def test_more_devices_than_there_can_be_are_not_kept():
    found, _ = collected(*(kernel(0, 1, device=n) for n in range(1_000)))

    assert len(found.kernels) == 64


def test_facts_are_those_of_devices_that_worked():
    found, _ = collected(*step_events(0))
    found.header = {
        "deviceProperties": [DEVICE, {**DEVICE, "id": 1}],
        "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
        "cuda_driver_version": 12020,
    }

    facts = facts_of(found)

    assert facts["gpu/0/name"] == "Tesla V100"
    assert facts["gpu/0/compute_capability"] == "7.0"
    assert facts["gpu/0/memory_total_bytes"] == 34_000_000_000
    assert "gpu/1/name" not in facts
    assert (facts["torch/device_count"], facts["gpu_driver_cuda"]) == (2, "12.2")
    assert facts["distributed/world_size"] == 8
    assert rank_of(found.header) == 3
    assert facts["loader_workers"] == 0


@pytest.mark.parametrize("value", [None, 5, "x", [], [None, 5], {}, 10**40, -1, True])
def test_facts_of_odd_types_are_passed_over(value):
    found, _ = collected(*step_events(0))
    names = ("id", "name", "totalGlobalMem", "computeMajor")
    for header in (
        {"deviceProperties": value, "distributedInfo": value},
        {"deviceProperties": [dict.fromkeys(names, value)]},
        {"deviceProperties": [{**DEVICE, **dict.fromkeys(names[1:], value)}]},
        {"distributedInfo": {"rank": value, "world_size": value, "backend": value}},
        {"cuda_driver_version": value, "baseTimeNanoseconds": value},
    ):
        found.header = header
        facts_of(found)
        assert rank_of(header) in (0, 5)
        assert base_microseconds(header) in (0.0, 5 / 1000)

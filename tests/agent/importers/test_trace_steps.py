"""Time breakdown of traced steps."""

from __future__ import annotations

import pytest

from seamark.importers.problems import Problems
from seamark.importers.trace import collect
from seamark.importers.trace_steps import account
from tests.agent.importers.traces import (
    SEVERAL,
    SINGLE,
    kernel,
    span,
    step_events,
    steps_of,
)


def accounted(*events):
    return account(collect(events, Problems()))


def only_step(*events):
    (step,) = accounted(
        span("user_annotation", "ProfilerStep#1", 0, 100), *events
    ).steps
    return step.measured


def test_a_step_has_its_number_length_and_wait():
    first, second = accounted(*step_events(4), *step_events(5, wait=10)).steps

    assert (first.number, second.number) == (4, 5)
    assert first.measured["seconds"] == pytest.approx(0.1)
    assert first.measured["data_wait_seconds"] == pytest.approx(0.04)
    assert second.measured["data_wait_seconds"] == pytest.approx(0.01)


def test_waiting_that_kernels_hide_is_not_exposed():
    measured = only_step(span("cpu_op", SINGLE, 0, 40), kernel(30, 50))

    assert measured["data_wait_seconds"] == pytest.approx(0.04)
    assert measured["trace/exposed_wait_seconds"] == pytest.approx(0.03)


def test_kernels_that_overlap_count_once():
    measured = only_step(kernel(10, 20), kernel(20, 20), kernel(60, 10))

    assert measured["trace/gpu_busy_seconds"] == pytest.approx(0.04)
    assert measured["trace/longest_gap_seconds"] == pytest.approx(0.03)
    assert measured["trace/kernels"] == 3
    assert measured["trace/kernels_per_second"] == pytest.approx(30)


def test_a_kernel_counts_in_each_step_in_which_it_runs():
    first, second = accounted(*step_events(0, work=70), *step_events(1)).steps

    assert first.measured["trace/gpu_busy_seconds"] == pytest.approx(0.06)
    assert second.measured["trace/gpu_busy_seconds"] == pytest.approx(0.06)


def test_copies_are_exposed_while_no_kernel_runs():
    measured = only_step(
        span("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 20, bytes=500),
        kernel(15, 20),
    )

    assert measured["device/copy_seconds"] == pytest.approx(0.02)
    assert measured["trace/exposed_copy_seconds"] == pytest.approx(0.015)
    assert measured["trace/copied_bytes"] == 500


def test_the_hosts_part_of_a_copy_is_a_phase():
    measured = only_step(
        span("cuda_runtime", "cudaMemcpyAsync", 0, 30, correlation=9),
        span("cuda_runtime", "cudaMemcpyAsync", 50, 30, correlation=10),
        span("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 5, 20, correlation=9),
    )

    assert measured["phase/copy_seconds"] == pytest.approx(0.03)


def test_communication_is_exposed_while_nothing_computes():
    measured = only_step(kernel(0, 30), kernel(20, 40, "ncclKernel_AllReduce"))

    assert measured["device/compute_seconds"] == pytest.approx(0.03)
    assert measured["device/communicate_seconds"] == pytest.approx(0.04)
    assert measured["trace/exposed_communication_seconds"] == pytest.approx(0.03)
    assert measured["trace/gpu_busy_seconds"] == pytest.approx(0.06)


def test_phases_are_without_what_is_nested_in_them():
    measured = only_step(
        span("user_annotation", "train", 10, 80),
        span("user_annotation", "forward", 20, 30),
        span("user_annotation", "Optimizer.step#SGD.step", 60, 10),
        span("cpu_op", SINGLE, 80, 5),
    )

    assert measured["phase/train_seconds"] == pytest.approx(0.035)
    assert measured["phase/forward_seconds"] == pytest.approx(0.03)
    assert measured["phase/optimizer_seconds"] == pytest.approx(0.01)


def test_autograds_thread_is_the_backward_pass():
    name = "autograd::engine::evaluate_function: MmBackward0"
    measured = only_step(
        span("cpu_op", name, 10, 10, thread=8), span("cpu_op", name, 15, 10, thread=8)
    )

    assert measured["phase/backward_seconds"] == pytest.approx(0.015)


def test_launches_and_waiting_for_the_gpu_are_counted():
    measured = only_step(
        span("cuda_runtime", "cudaLaunchKernel", 0, 2),
        span("cuda_runtime", "cudaLaunchKernel", 4, 2),
        span("cuda_runtime", "cudaStreamSynchronize", 50, 20),
    )

    assert measured["trace/launches"] == 2
    assert measured["trace/launch_seconds"] == pytest.approx(0.004)
    assert measured["trace/synchronize_seconds"] == pytest.approx(0.02)


def test_what_a_trace_does_not_show_is_absent():
    measured = only_step()

    assert not any("wait" in name or "gpu" in name for name in measured)
    assert not any(name.startswith("device/") for name in measured)


def test_without_the_profilers_steps_batches_make_them():
    loads = [span("cpu_op", SEVERAL, 100 * n, 10) for n in range(4)]

    steps = accounted(*loads, kernel(20, 50)).steps

    assert [step.number for step in steps] == [0, 1, 2]
    assert steps[0].measured["seconds"] == pytest.approx(0.1)
    assert steps[0].measured["data_wait_seconds"] == pytest.approx(0.01)


def test_loaders_of_other_threads_are_not_waited_for():
    measured = only_step(span("cpu_op", SINGLE, 0, 50, thread=99))

    assert measured["data_wait_seconds"] == 0


def test_the_use_of_a_gpu_is_told_in_small_windows():
    windows = accounted(*steps_of(2, wait=40, work=60)).windows[0]

    percents = [window.measured["utilization_percent"] for window in windows]
    assert percents == pytest.approx([0, 0, 100, 100, 100] * 2)


def test_the_allocators_memory_is_told_where_it_was_profiled():
    held = {
        "ph": "i",
        "name": "[memory]",
        "ts": step_events(0)[0]["ts"] + 5,
        "args": {
            "Device Type": 1,
            "Device Id": 0,
            "Total Allocated": 5,
            "Total Reserved": 9,
        },
    }

    first, *others = accounted(*step_events(0), held).windows[0]

    assert first.measured["allocator/allocated_bytes"] == 5
    assert first.measured["allocator/reserved_bytes"] == 9
    assert all(len(window.measured) == 1 for window in others)


def test_nothing_of_nothing():
    found = accounted()

    assert (found.steps, found.windows) == ([], {})


def test_a_trace_that_lasts_for_ever_has_an_end_of_windows():
    far = span("user_annotation", "ProfilerStep#1", 0, 9e8)

    assert len(accounted(far, kernel(0, 1)).windows[0]) == 100_000


def test_steps_of_an_optimizer_divide_a_trace_without_step_and_loader():
    steps = [
        span("user_annotation", "Optimizer.step#SGD.step", start, 10)
        for start in (90, 190, 290)
    ]

    found = accounted(*steps, kernel(100, 60), kernel(200, 60)).steps

    assert [step.measured["seconds"] for step in found] == pytest.approx([0.1, 0.1])
    assert found[0].measured["trace/gpu_busy_seconds"] == pytest.approx(0.06)


def test_a_trace_without_any_steps_is_one_step():
    found = accounted(
        span("cuda_runtime", "cudaLaunchKernel", 0, 1), kernel(10, 20), kernel(50, 50)
    )

    (step,) = found.steps
    assert len(found.windows[0]) == 5
    assert step.measured["seconds"] == pytest.approx(0.1)
    assert step.measured["trace/kernels"] == 2

from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, readings, samples, stage
from tracker.diagnosis.engine.finding import Finding, Severity
from tracker.diagnosis.rules.memory_ran_out import check

FULL = {
    "failure_type": "torch.OutOfMemoryError",
    "out_of_memory_device": "cuda:0",
    "out_of_memory_requested_bytes": 2.0 * GIB,
    "out_of_memory_allocated_bytes": 78.0 * GIB,
    "out_of_memory_reserved_bytes": 79.0 * GIB,
    "out_of_memory_parameters_bytes": 8.0 * GIB,
    "out_of_memory_gradients_bytes": 8.0 * GIB,
    "out_of_memory_optimizer_bytes": 16.0 * GIB,
    "out_of_memory_activations_bytes": 46.0 * GIB,
}

ALARMS = [
    stage(facts={"stage_state": "failed"} | FULL),
    stage(facts={"stage_state": "failed", "failure_type": "MemoryError"}),
    stage(facts={"stage_state": "running"}, sampled={"cgroup_oom_kills": 1.0}),
]
SILENCES = [
    stage(facts={"stage_state": "finished"}, sampled={"cgroup_oom_kills": 0.0}),
    stage(facts={"stage_state": "failed", "failure_type": "ValueError"}),
]


def ask(**more):
    return check("failed", **(FULL | more))


def test_says_what_the_memory_was_full_of():
    finding = ask()

    assert isinstance(finding, Finding)
    assert finding.title == "Out of GPU memory"
    assert finding.summary == (
        "The memory of cuda:0 was full when 2 GiB more were requested. It held"
        " 46 GiB of activations, 16 GiB of optimizer, 8 GiB of parameters,"
        " 8 GiB of gradients."
    )


def test_suggests_the_largest_batch_that_fits():
    finding = ask(batch_size=64.0)

    assert isinstance(finding, Finding)
    way = next(way for way in finding.recommendations if way.current == "64")
    # 0.9 · 79 GiB minus 32 GiB of fixed memory, at 48 GiB for 64 examples.
    assert way.suggested == "52"


def test_half_the_batch_where_nothing_is_known():
    finding = check("failed", failure_type="torch.OutOfMemoryError", batch_size=64.0)

    assert isinstance(finding, Finding)
    assert "unknown" in finding.summary
    way = next(way for way in finding.recommendations if way.current == "64")
    assert way.suggested == "32"


def test_a_large_optimizer_is_cured_first():
    finding = ask(
        out_of_memory_optimizer_bytes=60.0 * GIB,
        out_of_memory_activations_bytes=2.0 * GIB,
        framework="pytorch",
    )

    assert isinstance(finding, Finding)
    assert "optimizer" in finding.recommendations[0].text


@pytest.mark.parametrize(
    ("levels", "is_kept"),
    [
        pytest.param(np.linspace(5, 78, 10), True, id="from step to step"),
        pytest.param(np.linspace(5, 78, 5), False, id="too few readings"),
        pytest.param(np.full(10, 20.0), False, id="the last step alone"),
        pytest.param(np.linspace(40, 78, 10), False, id="less than half of the GPU"),
        pytest.param(np.tile([10.0, 60.0], 5), False, id="up and down"),
    ],
)
def test_memory_that_grew_all_the_while_was_kept(levels, is_kept):
    allocated = samples(levels * GIB)
    finding = ask(
        gpus={
            0: {
                "gpu_allocator_allocated_bytes": allocated,
                "gpu_memory_total_bytes": 80.0 * GIB,
            }
        },
        step_times=allocated.times[0] + np.arange(-2, 98) * 100_000,
        batch_size=64.0,
        framework="pytorch",
    )

    assert isinstance(finding, Finding)
    assert ("keeps tensors" in finding.summary) is is_kept
    assert ("Keep numbers, not tensors" in finding.recommendations[0].text) is is_kept
    assert any("batch" in w.text for w in finding.recommendations) is not is_kept


def test_growth_while_the_model_loads_is_not_a_leak():
    allocated = samples(np.linspace(5, 78, 10) * GIB)
    card = {
        "gpu_allocator_allocated_bytes": allocated,
        "gpu_memory_total_bytes": 80.0 * GIB,
    }
    late = allocated.times[-1] + np.arange(30) * 1_000

    for step_times in (None, late):
        finding = ask(gpus={0: card}, step_times=step_times)
        assert isinstance(finding, Finding)
        assert "kept" not in finding.summary


def test_fragmented_free_memory_is_reported():
    finding = ask(out_of_memory_allocated_bytes=50.0 * GIB, framework="pytorch")

    assert isinstance(finding, Finding)
    assert "was free in blocks" in finding.summary
    assert "expandable_segments" in finding.recommendations[0].code


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("torch.cuda.OutOfMemoryError", ""),
        ("jaxlib.XlaRuntimeError", "RESOURCE_EXHAUSTED: Out of memory"),
        ("tensorflow.python.framework.errors_impl.ResourceExhaustedError", ""),
    ],
)
def test_knows_each_framework_s_way_to_say_it(kind, message):
    assert check("failed", failure_type=kind, failure_message=message) is not None


def test_a_refusal_on_the_cpu_is_the_host_s():
    finding = ask(out_of_memory_device="cpu")

    assert isinstance(finding, Finding)
    assert finding.title == "Out of host memory"


@pytest.mark.parametrize(
    ("state", "severity"),
    [("failed", Severity.CRITICAL), ("running", Severity.WARNING)],
)
def test_a_killed_worker_need_not_end_the_run(state, severity):
    finding = check(
        state,
        cgroup_oom_kills=samples([0.0, 0.0, 1.0]),
        job_memory_bytes=readings(30 * GIB),
        memory_limit_bytes=32.0 * GIB,
    )

    assert isinstance(finding, Finding)
    assert finding.severity == severity
    assert "killed 1 process" in finding.summary
    assert "30 GiB of 32 GiB" in finding.summary


def test_a_crash_with_full_memory_is_a_guess():
    full = samples(np.linspace(10, 31.9, 60) * GIB)
    limit = 32.0 * GIB

    finding = check("crashed", cgroup_memory_used_bytes=full, memory_limit_bytes=limit)
    assert isinstance(finding, Finding)
    assert finding.quality < 0.8
    assert check("failed", cgroup_memory_used_bytes=full, memory_limit_bytes=limit) is (
        None
    )

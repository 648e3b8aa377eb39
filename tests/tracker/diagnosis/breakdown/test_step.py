from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import stage, steps, with_facts
from tracker.diagnosis.breakdown.step import (
    EXAMPLES,
    StepBreakdown,
    break_down,
    compare_throughput,
)
from tracker.diagnosis.engine.measurements import Measurements


def broken_down(*, total=0.1, waiting=0.0, count=300, **columns) -> StepBreakdown:
    rows = steps(total=total, waiting=waiting, count=count)
    extra = {
        path: np.broadcast_to(np.asarray(value, dtype=np.float64), count)
        for path, value in columns.items()
    }
    rows = replace(rows, columns={**rows.columns, **extra})
    found = break_down(
        stage(
            step_rows=rows,
            sampled={"job_cpu_cores": 1.5},
            facts={"effective_cores": 4.0},
        )
    )
    assert found is not None
    return found


def noisy(mean: float, *, count: int = 300, spread: float = 0.05, seed: int = 0):
    return mean * (1 + spread * np.random.default_rng(seed).standard_normal(count))


def test_parts_add_up_to_the_step():
    found = broken_down(
        waiting=0.04,
        **{"step/phase/forward_seconds": 0.02, "step/phase/backward_seconds": 0.03},
    )

    assert [part.name for part in found.parts] == [
        "data wait",
        "forward",
        "backward",
        "other",
    ]
    assert [part.seconds for part in found.parts] == pytest.approx(
        [0.04, 0.02, 0.03, 0.01]
    )
    assert found.data_wait_share == pytest.approx(0.4)


def test_a_phase_that_a_step_does_not_enter_takes_no_time():
    evaluating = np.full(300, np.nan)
    evaluating[::10] = 0.05

    found = broken_down(**{"step/phase/evaluate_seconds": evaluating})

    part = next(part for part in found.parts if part.name == "evaluate")
    assert found.step_count == 290
    assert part.seconds == pytest.approx(0.005)


def test_phases_longer_than_the_step_leave_nothing_over():
    found = broken_down(**{"step/phase/threads_seconds": 0.3})

    assert found.parts[-1].seconds == 0.0


def test_warm_up_does_not_count():
    slow_start = np.full(300, 0.1)
    slow_start[:60] = 2.0

    found = broken_down(total=slow_start)

    assert found.mean_step_seconds == pytest.approx(0.1)


def test_throughput_is_in_examples():
    found = broken_down(**{EXAMPLES: 32.0})

    assert found.examples_per_second == pytest.approx(320.0)
    assert found.blocks == pytest.approx([320.0] * len(found.blocks))


def test_the_loaders_batch_size_stands_in_for_examples():
    found = break_down(with_facts(stage(), batch_size=16.0))

    assert found is not None
    assert found.examples_per_second == pytest.approx(160.0)


def test_without_examples_and_batch_size_the_throughput_is_unknown():
    found = broken_down()

    assert found.examples_per_second is None
    assert found.blocks == pytest.approx([10.0] * len(found.blocks))


def test_hardware_is_the_mean_over_the_window():
    found = broken_down()

    assert found.cpu_cores == pytest.approx(1.5)
    assert found.cpu_percent == pytest.approx(37.5)
    assert found.gpu_percent is None


def test_gpus_are_averaged():
    found = break_down(stage(gpus=2, gpu_percent=40.0))

    assert found is not None
    assert found.gpu_percent == pytest.approx(40.0)


def test_a_stage_without_steps_has_no_breakdown():
    assert break_down(Measurements()) is None


@pytest.mark.parametrize("count", [60, 100, 600, 100_000])
def test_there_are_some_but_not_too_many_blocks(count):
    assert 3 <= len(broken_down(count=count).blocks) <= 300


def test_twice_the_speed_is_a_ratio_of_two():
    ratio = compare_throughput(
        broken_down(total=noisy(0.2)), broken_down(total=noisy(0.1, seed=1))
    )

    assert ratio is not None
    assert ratio.ratio == pytest.approx(2.0, rel=0.02)
    assert ratio.low < ratio.ratio < ratio.high


def test_the_same_twice_has_an_interval_around_one():
    ratio = compare_throughput(
        broken_down(total=noisy(0.1, seed=1)), broken_down(total=noisy(0.1, seed=2))
    )

    assert ratio is not None
    assert ratio.low < 1 < ratio.high


def test_batches_of_different_sizes_are_compared_by_examples():
    ratio = compare_throughput(
        broken_down(total=0.1, **{EXAMPLES: 16.0}),
        broken_down(total=0.2, **{EXAMPLES: 64.0}),
    )

    assert ratio is not None
    assert ratio.ratio == pytest.approx(2.0)


def test_the_same_comparison_says_the_same():
    pair = broken_down(total=noisy(0.2)), broken_down(total=noisy(0.1, seed=1))

    assert compare_throughput(*pair) == compare_throughput(*pair)


def test_steps_and_examples_are_not_compared():
    assert compare_throughput(broken_down(), broken_down(**{EXAMPLES: 8.0})) is None


def test_too_few_blocks_are_not_compared():
    assert compare_throughput(broken_down(count=25), broken_down()) is None


def test_the_ratio_is_of_the_time_that_all_steps_took():
    uneven = replace(broken_down(), blocks=(1.0, 1.0, 4.0))
    even = replace(broken_down(), blocks=(2.0, 2.0, 2.0))

    ratio = compare_throughput(uneven, even)

    assert ratio is not None
    # 1 + 1 + 1/4 s per example of each block, compared with three times 1/2 s.
    assert ratio.ratio == pytest.approx(2.25 / 1.5)


@pytest.mark.parametrize("blocks", [(0.0, 2.0, 2.0), (2.0, float("nan"), 2.0)])
def test_blocks_without_examples_are_not_compared(blocks):
    whole = broken_down()

    assert compare_throughput(replace(whole, blocks=blocks), whole) is None
    assert compare_throughput(whole, replace(whole, blocks=blocks)) is None

from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, samples, stage, steps
from tracker.diagnosis.analysis.steady import find_steady_part, warm_up_steps
from tracker.diagnosis.engine.measurements import Measurements, clean


def test_level_steps_lose_only_the_least_warm_up():
    assert warm_up_steps(np.full(1000, 0.1)) == (10, True)
    assert warm_up_steps(np.full(1000, 0.1), fewest=25) == (25, True)


def test_warm_up_ends_where_three_blocks_agree():
    seconds = np.full(1000, 0.1)
    seconds[:150] = 0.5

    dropped, is_steady = warm_up_steps(seconds)

    assert is_steady
    assert 150 <= dropped <= 200


def test_never_drops_more_than_thirty_percent():
    seconds = np.full(1000, 0.1)
    seconds[:500] = np.geomspace(1.0, 0.1, 500)

    assert warm_up_steps(seconds) == (300, False)


def test_blocks_last_at_least_ten_seconds():
    # Every fifth second is slow, which blocks of twenty short steps would report as a change.
    seconds = np.tile(np.r_[np.full(80, 0.05), np.full(20, 0.1)], 60)

    assert warm_up_steps(seconds)[1]


@pytest.mark.parametrize("count", [60, 65, 70, 100])
def test_short_runs_keep_fifty_steps(count):
    dropped, _ = warm_up_steps(np.geomspace(1.0, 0.1, count))

    assert count - dropped >= 50
    assert dropped >= 10


@pytest.mark.parametrize("count", [1, 2, 5, 15, 30])
def test_very_short_runs_still_lose_no_more_than_their_share(count):
    dropped, _ = warm_up_steps(np.full(count, 0.1))

    assert dropped <= 0.3 * count


def test_the_window_begins_where_the_last_warm_up_step_ended():
    rows = steps(total=0.1, count=100)

    part = find_steady_part(stage(step_rows=rows))

    assert part is not None
    assert part.window.start == rows.times[9]
    assert part.window.end == rows.times[-1]
    assert part.step_count == 90


def test_without_steps_the_working_part_counts():
    cpu = np.zeros(100)
    cpu[20:80] = 2.0
    measurements = Measurements(
        samples={"job_cpu_cores": samples(cpu)}, facts={"effective_cores": 4.0}
    )

    part = find_steady_part(measurements)

    assert part is not None
    assert part.window.seconds == pytest.approx(59, abs=0.01)
    assert part.is_steady


def test_a_working_gpu_is_work_too():
    gpu = np.zeros(100)
    gpu[50:] = 90.0
    measurements = clean(
        Measurements(gpus={0: {"gpu_utilization_percent": samples(gpu)}})
    )

    part = find_steady_part(measurements)

    assert part is not None
    assert part.window.seconds == pytest.approx(49, abs=0.01)


def test_a_stage_that_does_nothing_has_no_steady_state():
    part = find_steady_part(Measurements(samples={"job_cpu_cores": readings(0.0)}))

    assert part is not None
    assert not part.is_steady


def test_nothing_measured_is_nothing_to_judge():
    assert find_steady_part(Measurements()) is None


def of_a_trace(count, seconds=0.1):
    rows = steps(total=seconds, count=count)
    return Measurements(steps=rows, facts={"traced_with": "torch.profiler"})


def test_the_first_step_of_a_longer_trace_is_left_out():
    steady = find_steady_part(of_a_trace(6))

    assert (steady.step_count, steady.is_long_enough) == (5, True)
    assert not steady.is_steady


@pytest.mark.parametrize("count", [1, 3])
def test_a_short_trace_is_judged_as_a_whole(count):
    steady = find_steady_part(of_a_trace(count))

    assert (steady.step_count, steady.is_long_enough) == (count, True)

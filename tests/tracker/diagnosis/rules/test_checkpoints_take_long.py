from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START, samples, stage, steps
from tracker.diagnosis.engine.finding import INFERRED, Abstention, Finding
from tracker.diagnosis.rules.checkpoints_take_long import check


def saving(seconds, *, total=100.0):
    return stage(
        spans={"checkpoint": samples([seconds, seconds])},
        facts={"stage_seconds": total},
    )


def bursting(watching, busy):
    rows = steps(total=1.0, count=200)
    is_burst = np.arange(200) % 10 == 0
    return stage(
        step_rows=rows,
        gpus=1,
        gpu_percent=np.where(is_burst, busy, 95.0),
        sampled={"job_write_bytes_per_second": np.where(is_burst, watching, 0.0)},
        facts={"stage_seconds": 200.0},
    )


ALARMS = [saving(5.0), bursting(400e6, 0.0)]
SILENCES = [
    saving(1.0),
    bursting(400e6, 95.0),
    bursting(1e6, 0.0),
]


def ask(seconds, **more):
    return check(1000.0, spans={"save": samples([seconds])}, **more)


@pytest.mark.parametrize(
    ("seconds", "is_found"),
    [pytest.param(31.0, True, id="just"), pytest.param(29.0, False, id="just not")],
)
def test_judges_near_its_limit(seconds, is_found):
    assert (ask(seconds) is not None) == is_found


def test_checkpoints_within_steps_count_as_well():
    within = np.where(np.arange(100) % 50, 0.0, 30.0)
    finding = check(
        1000.0,
        phase_seconds={"checkpoint": within},
        step_end_seconds=1e9 + np.arange(100.0),
    )

    assert isinstance(finding, Finding)
    assert finding.summary == "2 checkpoints took 60 s, 30 s each, 6 % of the stage."


def test_a_guess_from_bursts_of_writing_is_called_one():
    written = samples(np.tile([400e6] + [0.0] * 9, 10))
    idle = samples(np.tile([0.0] + [90.0] * 9, 10))
    finding = check(100.0, job_write_bytes_per_second=written, busiest_gpu_percent=idle)

    assert isinstance(finding, Finding)
    assert finding.quality == INFERRED


def test_is_not_judged_where_nothing_shows_checkpoints():
    assert isinstance(check(100.0), Abstention)
    assert isinstance(check(100.0, spans={"evaluate": samples([50.0])}), Abstention)


def test_an_open_finding_stays_above_the_limit():
    assert ask(25.0, already_open=True) is not None
    assert ask(15.0, already_open=True) is None


def test_slow_steps_that_write_files_are_taken_for_checkpoints():
    seconds = np.full(1000, 0.05)
    seconds[99::100] += 0.4
    rows = steps(total=seconds, count=1000)
    written = np.zeros(60)
    written[((rows.times[99::100] - START) // SECOND).astype(int)] = 150e6

    finding = check(
        float(seconds.sum()),
        step_seconds=seconds,
        step_end_seconds=rows.times / SECOND,
        job_write_bytes_per_second=samples(written),
    )

    assert isinstance(finding, Finding)
    assert "10 steps took 400 ms longer than the others" in finding.summary
    assert "143 MiB in each" in finding.summary
    assert finding.recommendations[-1].code == 'with run.phase("checkpoint"):'

from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START, samples, stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.rules.steps_are_slow_now_and_then import check
from tracker.diagnosis.signals import Tracked

COUNT = 1000
NOISE = np.random.default_rng(1).normal(0.1, 0.004, COUNT)
# Shares of batches with one to four units of length.
LENGTHS = (0.80, 0.15, 0.03, 0.02)


def every(period, extra, *, count=COUNT):
    added = np.zeros(count)
    added[period - 1 :: period] = extra
    return added


ALARMS = [
    stage(step_rows=steps(total=NOISE + every(50, 0.4), count=COUNT)),
    stage(
        step_rows=steps(total=NOISE + every(50, 0.4), count=COUNT),
        phases={"checkpoint": every(50, 0.4)},
    ),
]
SILENCES = [
    stage(step_rows=steps(total=NOISE, count=COUNT)),
    stage(step_rows=steps(total=NOISE + every(50, 0.1), count=COUNT)),
    stage(step_rows=steps(total=NOISE + every(3, 0.4), count=COUNT)),
]


def ask(extra, **more):
    return check(NOISE + extra, **more)


@pytest.mark.parametrize(
    ("extra", "is_found"),
    [
        pytest.param(every(40, 0.14), True, id="just enough excess"),
        pytest.param(every(40, 0.10), False, id="just too little"),
        pytest.param(every(500, 2.0), False, id="two of them"),
    ],
)
def test_judges_near_each_limit(extra, is_found):
    assert (ask(extra) is not None) == is_found


def test_finds_the_period_and_what_the_steps_do():
    extra = every(50, 0.4)
    finding = ask(extra, phase_seconds={"forward": NOISE / 2, "save": extra})

    assert isinstance(finding, Finding)
    assert "about every 50 steps" in finding.summary
    assert "100 % of it is save." in finding.summary
    assert finding.recommendations[0].text.startswith("Save less often")


def test_slow_steps_that_wait_for_data_belong_to_the_loader():
    extra = every(20, 0.4)
    finding = ask(extra, data_wait_seconds=extra, loader_workers=20.0)

    assert isinstance(finding, Finding)
    assert "waiting for data" in finding.summary
    assert "20 workers" in finding.recommendations[1].text


def test_first_steps_of_epochs_are_slow_while_workers_fill_their_queue():
    extra = every(50, 0.2)
    gaps = np.where(extra > 0, 0.03, 0.0)

    assert ask(extra, gap_before_step_seconds=gaps, loader_workers=2.0) is None
    assert ask(extra, gap_before_step_seconds=gaps, loader_workers=0.0) is not None
    assert ask(extra, gap_before_step_seconds=0 * gaps, loader_workers=2.0) is not None


def test_irregular_steps_have_no_period():
    extra = np.zeros(COUNT)
    extra[np.random.default_rng(3).choice(np.arange(320, COUNT), 20, False)] = 0.5
    finding = ask(extra)

    assert isinstance(finding, Finding)
    assert "every" not in finding.summary
    assert finding.recommendations[0].code == 'with run.phase("log"):'


def test_jitter_of_a_shared_machine_is_silent_unless_it_is_regular():
    often = np.random.default_rng(3).choice(np.arange(320, COUNT), 60, False)
    jitter = np.zeros(COUNT)
    jitter[often] = 0.08

    assert ask(jitter) is None
    assert ask(jitter, phase_seconds={"save": jitter}) is not None
    assert ask(every(48, 0.18)) is not None


def test_larger_batches_are_no_outliers():
    sizes = np.where(np.arange(COUNT) % 40, 32.0, 128.0)

    assert ask(0.003 * (sizes - 32), step_examples=sizes) is None
    assert ask(0.003 * (sizes - 32)) is not None


def test_few_steps_are_not_judged():
    assert check(np.ones(50)) == Abstention(("at least 100 steps",))


def test_an_open_finding_stays_above_the_limit():
    assert ask(every(40, 0.10), already_open=True) is not None
    assert ask(every(40, 0.07), already_open=True) is None


def test_stalls_stand_out_of_jitter():
    """Half a second every 37 steps, while another job slows each ninth step slightly."""
    noise = np.random.default_rng(1)
    seconds = 0.015 + 0.0004 * noise.random(2_000)
    seconds[noise.random(2_000) < 0.12] *= 1.6
    seconds[::37] += 0.5

    finding = check(seconds)

    assert isinstance(finding, Finding)
    assert "about every 37 steps" in finding.summary


def test_a_phase_that_is_most_of_each_step_is_not_the_cause_of_slow_ones():
    """Another program uses the core: all phases of a slow step take twice as long."""
    seconds = np.full(1_000, 0.1)
    seconds[::40] = 0.25

    finding = check(seconds, phase_seconds={"forward": 0.8 * seconds})

    assert isinstance(finding, Finding)
    assert "forward" not in finding.summary


def test_steps_that_update_the_weights_are_no_outliers():
    """Gradient accumulation: every 16th step runs the optimizer."""
    jitter = np.random.default_rng(5).random(COUNT)
    update = every(16, 0.2) + np.where(jitter < 0.03, 0.06, 0.0)

    assert ask(update) is None
    assert ask(every(16, 0.6)) is not None


def test_batches_of_two_lengths_are_no_outliers():
    two = np.random.default_rng(6).random(COUNT)

    assert ask(np.where(two < 0.08, 0.3, 0.0)) is None
    # The same number of slow steps, each with another length.
    assert ask(np.where(two < 0.08, 5.0 * two + 0.1, 0.0)) is not None


def ends_of(seconds):
    return (START / SECOND) + np.cumsum(seconds)


def test_steps_in_which_an_evaluation_is_logged_are_no_outliers():
    seconds = NOISE + every(50, 0.5)
    ends = ends_of(seconds)
    times = ((ends[49::50] - 0.001) * SECOND).astype(np.int64)
    logged = Tracked(np.arange(20.0), times, np.ones(20))

    def found(series):
        return check(seconds, step_end_seconds=ends, evaluations={"val/loss": series})

    assert found(logged) is None
    elsewhere = Tracked(logged.steps, times + SECOND, logged.values)
    assert isinstance(found(elsewhere), Finding)


def test_slow_steps_that_wait_for_a_core_are_the_work_of_other_jobs():
    extra = np.zeros(COUNT)
    extra[np.random.default_rng(3).choice(np.arange(320, COUNT), 20, False)] = 0.5
    seconds = NOISE + extra
    ends = ends_of(seconds)

    def found(share):
        waits = samples(np.full(int(ends[-1] - START / SECOND) + 1, share))
        return check(
            seconds, step_end_seconds=ends, job_main_thread_core_wait_share=waits
        )

    assert found(0.5) == Abstention((CROWDED,))
    assert isinstance(found(0.05), Finding)


def test_slow_steps_among_steps_that_all_wait_are_the_loaders():
    seconds = NOISE + 0.3 + every(40, 2.0)

    assert check(seconds, data_wait_seconds=0.25 + every(40, 2.0)) is None


def irregular(share, count=COUNT):
    return np.random.default_rng(4).random(count) < share


@pytest.mark.parametrize(
    ("seconds", "is_found"),
    [
        pytest.param(
            np.random.default_rng(2).lognormal(-4.6, 0.6, COUNT),
            False,
            id="lengths of sentences",
        ),
        pytest.param(
            NOISE * np.random.default_rng(2).choice([1, 2, 3, 4], COUNT, p=LENGTHS),
            False,
            id="buckets of lengths",
        ),
        pytest.param(
            np.random.default_rng(2).lognormal(-4.6, 0.2, COUNT)
            * np.where(irregular(0.05), 10.0, 1.0),
            True,
            id="incidents between varying lengths",
        ),
    ],
)
def test_long_batches_are_no_incidents(seconds, is_found):
    assert (check(seconds) is not None) == is_found

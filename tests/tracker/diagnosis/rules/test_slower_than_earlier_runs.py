from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START, samples, stage, steps
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import NO_EARLIER_RUN, Abstention, Finding
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.rules.slower_than_earlier_runs import check
from tracker.diagnosis.signals import EarlierRun

COUNT = 400
NOISE = np.random.default_rng(1).normal(1.0, 0.05, COUNT)


def before(*medians):
    middle = sorted(medians)[len(medians) // 2]
    return EarlierRun("baseline", step_seconds=middle, medians=medians)


def slower(change, *medians):
    rows = steps(total=0.1 * (1 + change) * NOISE, count=COUNT)
    return stage(step_rows=rows, earlier={"same_name_runs": before(*medians)})


ALARMS = [slower(0.2, 0.1, 0.101, 0.099), slower(0.3, 0.1)]
SILENCES = [
    slower(0.0, 0.1, 0.1),
    slower(-0.3, 0.1, 0.1),
    # One earlier run was equally slow.
    slower(0.2, 0.1, 0.1, 0.13),
]


def ask(change, *medians, **more):
    return check(0.1 * (1 + change) * NOISE, before(*medians), **more)


@pytest.mark.parametrize(
    ("change", "medians", "is_found"),
    [
        pytest.param(0.09, (0.1, 0.1), True, id="just above the limit"),
        pytest.param(0.07, (0.1, 0.1), False, id="just below"),
        pytest.param(0.082, (0.1,), False, id="hardly above a single run"),
        pytest.param(0.11, (0.1,), True, id="above a single run"),
    ],
)
def test_judges_near_each_limit(change, medians, is_found):
    assert isinstance(ask(change, *medians), Finding) == is_found


def test_names_the_runs_and_the_change():
    finding = ask(0.25, 0.1, 0.101, 0.099)

    assert isinstance(finding, Finding)
    assert "of the last 3 runs of baseline" in finding.summary
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(1.25, rel=0.01)


def test_steps_that_wait_for_a_core_are_not_slower():
    seconds = 0.125 * NOISE
    ends = START / SECOND + np.cumsum(seconds)
    waits = samples(np.full(60, 0.22))

    answer = check(
        seconds,
        before(0.1, 0.1),
        step_end_seconds=ends,
        job_main_thread_core_wait_share=waits,
    )

    assert answer == Abstention((CROWDED,))


def test_a_first_run_has_nothing_to_compare_with():
    alone = stage(facts={"effective_cores": 4.0})

    found = diagnose(alone).unanswered["slower-than-earlier-runs"]

    assert found == (NO_EARLIER_RUN,)

from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, rules_of, stage, steps
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.one_loader_worker_is_slow import check


def late(*workers, every=4, wait=0.1, count=400):
    """Return waits for the batches of some workers, with a period of `every` steps."""
    return np.where(np.isin(np.arange(count) % every, workers), wait, 0.0)


def loading(waits, *, most=0.9, mean=0.3, **sampled):
    return stage(
        step_rows=steps(total=0.02 + waits, waiting=waits, count=len(waits)),
        sampled={
            "job_cpu_cores": 1.3,
            "job_main_cpu_cores": 0.1,
            "job_workers": 4.0,
            "worker_cpu_cores": mean,
            "worker_cpu_cores_max": most,
            **sampled,
        },
        facts={"effective_cores": 8.0, "loader_workers": 4.0},
    )


READS = {
    "worker_read_bytes_per_second": 10e6,
    "worker_read_bytes_per_second_max": 36e6,
}

ALARMS = [
    loading(late(1)),
    loading(late(1), most=0.05, mean=0.04, **READS),
]
SILENCES = [
    # All workers compute equally much.
    loading(late(1), most=0.4, mean=0.35),
    # A different worker is late each time.
    loading(late(1, every=5)),
    loading(late(1, 2, 3)),
    # Occasional batches that cost more.
    loading(late(1, every=8)),
]


def ask(waits, *, most=0.9, mean=0.3, **more):
    return check(
        step_seconds=0.02 + waits,
        data_wait_seconds=waits,
        loader_workers=4.0,
        worker_cpu_cores=readings(mean),
        worker_cpu_cores_max=readings(most),
        **more,
    )


@pytest.mark.parametrize(
    ("mean", "is_found"),
    [
        # The others use 0.44 and 0.47 cores each.
        pytest.param(0.555, True, id="just twice the others"),
        pytest.param(0.575, False, id="just less"),
    ],
)
def test_judges_near_the_limit(mean, is_found):
    assert isinstance(ask(late(1), mean=mean), Finding) == is_found


def test_advises_to_look_at_that_worker():
    finding = ask(late(1))

    assert isinstance(finding, Finding)
    assert "100 % of the waiting" in finding.summary
    assert "One worker uses 0.9 cores, the others 0.1 cores each." in finding.summary
    assert finding.recommendations[0].text.startswith("Inspect that worker")
    assert not any("ahead" in each.text for each in finding.recommendations)


def test_it_is_the_cause_of_bursts_and_of_waiting():
    found = diagnose(loading(late(1)))

    assert rules_of(found)[0] == "one-loader-worker-is-slow"
    assert [j.rule for j in found.findings if not j.explained_by] == [
        "one-loader-worker-is-slow"
    ]


def test_says_what_it_lacks():
    answer = check(0.02 + late(1), late(1), 4.0)

    assert answer == Abstention(("worker_cpu_cores_max",))

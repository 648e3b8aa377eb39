from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, SECOND, samples, service, stage
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.engine.measurements import Steps
from tracker.diagnosis.rules.service_is_idle import check


def gpu(busy: float, held: float = 10.0, *, hours: float = 3.0):
    count = int(hours * 360) + 1
    return {
        0: {
            "gpu_utilization_percent": samples(np.full(count, busy), every=10 * SECOND),
            "gpu_job_memory_bytes": samples(np.full(count, held * GIB)),
        }
    }


def measured(busy: float):
    return stage(
        step_rows=Steps.none(),
        gpus=1,
        gpu_percent=np.full(3 * 3600, busy),
        gpu_memory=np.full(3 * 3600, 10.0 * GIB),
        spans=service(),
    )


ALARMS = [measured(1.0)]
SILENCES = [measured(30.0)]


@pytest.mark.parametrize(
    ("busy", "held", "is_found"),
    [
        pytest.param(4.9, 10.0, True, id="just idle"),
        pytest.param(5.1, 10.0, False, id="just used"),
        pytest.param(1.0, 0.5, True, id="just holds something"),
        pytest.param(1.0, 0.4, False, id="holds nothing"),
    ],
)
def test_judges_near_each_limit(busy, held, is_found):
    assert isinstance(check(service(), gpu(busy, held)), Finding) == is_found


def test_says_what_it_served_and_what_it_held():
    finding = check(service(), gpu(1.0))

    assert isinstance(finding, Finding)
    assert "200 requests" in finding.summary
    held = next(e for e in finding.evidence if e.statistic == "GPU time held")
    assert held.value == pytest.approx(3.0 * 3600)


def test_an_hour_says_nothing():
    assert check(service(), gpu(1.0, hours=1.9)) == Abstention(
        ("samples over at least 2.0 h",)
    )


def test_an_open_finding_stays_above_the_limit():
    assert check(service(), gpu(8.0), already_open=True) is not None


def test_memory_in_use_is_needed():
    only = {0: {"gpu_utilization_percent": gpu(1.0)[0]["gpu_utilization_percent"]}}

    assert isinstance(check(service(), only), Abstention)

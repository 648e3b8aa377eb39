from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import readings
from tracker.diagnosis.hardware.contention import is_crowded


@pytest.mark.parametrize(
    ("job", "host_percent", "expected"),
    [
        pytest.param(0.5, 100.0, True, id="others take the rest"),
        pytest.param(3.9, 100.0, False, id="the job fills it alone"),
        pytest.param(0.5, 85.0, False, id="there is room"),
        pytest.param(0.5, 95.0, True, id="nearly full"),
    ],
)
def test_other_jobs_crowd_a_full_host(job, host_percent, expected):
    assert is_crowded(readings(job), readings(host_percent), 4.0) is expected


def test_unknown_host_load_is_not_crowded():
    assert not is_crowded(readings(0.5), None, 4.0)
    assert not is_crowded(readings(0.5), readings(100.0), None)

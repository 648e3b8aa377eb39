from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, samples, stage, with_facts
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.rules.gpu_reports_errors import check

HEALTHY = {
    "gpu_ecc_uncorrected": 0.0,
    "gpu_remapped_rows_pending": 0.0,
    "gpu_remapped_rows_failed": 0.0,
    "gpu_nvlink_errors": 3.0,
}


def reporting(**more):
    return stage(gpus=1, gpu=HEALTHY | more)


ALARMS = [
    reporting(gpu_xid=79.0),
    reporting(gpu_ecc_uncorrected=np.arange(30.0)),
    reporting(gpu_remapped_rows_pending=1.0),
    reporting(gpu_nvlink_errors=np.arange(30.0)),
    reporting(gpu_state="lost: GPU is lost"),
]
SILENCES = [
    reporting(),
    reporting(gpu_xid=45.0),  # cleanup after a process was killed
    with_facts(stage(gpus=1), driver_errors_probe="measured"),
]


def ask(**more):
    return check(80.0 * GIB, **more)


@pytest.mark.parametrize(
    ("number", "severity"),
    [
        pytest.param(79, Severity.CRITICAL, id="the card is gone"),
        pytest.param(31, Severity.WARNING, id="a fault of the program"),
        pytest.param(12345, Severity.CRITICAL, id="an unknown number"),
    ],
)
def test_the_number_says_how_bad_it_is(number, severity):
    finding = ask(gpu_xid=samples([number]))

    assert isinstance(finding, Finding)
    assert finding.severity == severity
    assert f"error {number} 1 time" in finding.summary


def test_a_failed_kernel_is_no_damaged_card():
    finding = ask(gpu_xid=samples([13, 13]))

    assert isinstance(finding, Finding)
    assert finding.title == "Code on the GPU failed"
    assert "Do not trust" not in finding.summary


def test_errors_from_before_weigh_less():
    before = ask(gpu_ecc_uncorrected=samples([2.0, 2.0]))
    during = ask(gpu_ecc_uncorrected=samples([2.0, 5.0]))

    assert isinstance(before, Finding)
    assert isinstance(during, Finding)
    assert before.severity == Severity.WARNING
    assert during.severity == Severity.CRITICAL
    assert "3 uncorrected memory errors" in during.summary


@pytest.mark.parametrize(("errors", "is_found"), [(9.0, False), (10.0, True)])
def test_a_few_repeats_on_a_link_are_daily_work(errors, is_found):
    answer = ask(gpu_nvlink_errors=samples([0.0, errors]))

    assert (answer is not None) == is_found


def test_abstains_if_errors_are_not_monitored():
    assert isinstance(ask(), Abstention)
    assert isinstance(ask(driver_errors_probe="not here: …"), Abstention)

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import GIB, readings, samples, stage
from tracker.diagnosis.engine.finding import ONE_GPU, Abstention, Finding, Severity
from tracker.diagnosis.rules.gpus_are_loaded_unequally import check


def fleet(*gpus: tuple[float, float], total=80 * GIB):
    return {
        number: {
            "gpu_utilization_percent": readings(busy),
            "gpu_memory_used_bytes": readings(share * 80 * GIB),
            "gpu_memory_total_bytes": total,
        }
        for number, (busy, share) in enumerate(gpus)
    }


def measured(*gpus):
    return replace(stage(), gpus=fleet(*gpus), gpu_count=len(gpus))


ALARMS = [measured((90, 0.5), (40, 0.5)), measured((90, 0.8), (90, 0.4))]
SILENCES = [measured((90, 0.5), (88, 0.5))]


@pytest.mark.parametrize(
    ("other", "is_found"),
    [
        pytest.param((69.5, 0.5), True, id="works just less enough"),
        pytest.param((70.5, 0.5), False, id="works just not less enough"),
        pytest.param((90, 0.49), True, id="holds just less enough"),
        pytest.param((90, 0.51), False, id="holds just not less enough"),
    ],
)
def test_judges_near_each_limit(other, is_found):
    assert (check(fleet((90, 0.7), other)) is not None) == is_found


def test_memory_of_gpus_with_much_room_is_no_fault():
    assert check(fleet((90, 0.58), (90, 0.05))) is None


def test_gpus_that_work_in_turns_are_equal():
    first = samples(np.tile([100.0, 0.0], 30))
    second = samples(np.tile([0.0, 100.0], 30))
    gpus = {
        0: {"gpu_utilization_percent": first},
        1: {"gpu_utilization_percent": second},
    }

    assert check(gpus) is None


def test_a_gpu_without_work_is_another_rules():
    assert isinstance(check(fleet((90, 0.5), (0, 0.0))), Abstention)
    assert check(fleet((90, 0.5))) == Abstention((ONE_GPU,))


def test_different_cards_are_not_compared():
    gpus = fleet((90, 0.5)) | {1: fleet((20, 0.1), total=40 * GIB)[0]}

    assert check(gpus) == Abstention(("GPUs of one kind",))


def test_reserved_memory_says_nothing():
    assert check(fleet((90, 0.8), (90, 0.4)), framework="jax") is None


def test_memory_alone_is_a_notice():
    finding = check(fleet((90, 0.8), (90, 0.4)))

    assert isinstance(finding, Finding)
    assert finding.severity == Severity.NOTICE
    assert finding.summary == "Peak memory is 80 % on GPU 0 and 40 % on GPU 1."


def test_an_open_finding_stays_below_the_limit():
    assert check(fleet((90, 0.5), (73, 0.5)), already_open=True) is not None

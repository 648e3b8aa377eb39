from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import GIB, readings, stage
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.model_is_in_memory_several_times import check


def serving(processes, memory, *, model=8.0):
    use = {
        "gpu_job_processes": float(processes),
        "gpu_job_memory_bytes": memory * GIB,
    }
    return stage(gpus=1, gpu=use, facts={"model_parameter_bytes": model * GIB})


ALARMS = [serving(4, 40.0)]
SILENCES = [
    serving(1, 40.0),
    serving(4, 12.0),  # one copy, and helper processes
    serving(4, 4.0, model=0.1),
]


@pytest.mark.parametrize(("memory", "is_found"), [(17.2, True), (16.8, False)])
def test_each_has_to_hold_a_copy(memory, is_found):
    answer = check(readings(2.0), readings(memory * GIB), 8.0 * GIB)

    assert (answer is not None) == is_found


def test_says_what_the_copies_take():
    finding = check(readings(3.0), readings(60 * GIB), 8.0 * GIB)

    assert isinstance(finding, Finding)
    assert "The extra copies take 16 GiB" in finding.summary


def test_shards_are_no_copies():
    answer = check(
        readings(2.0), readings(40 * GIB), 8.0 * GIB, model_wrapper="FSDPModule"
    )

    assert isinstance(answer, Abstention)

from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import GIB, readings, service, stage
from tracker.diagnosis.analysis.requests import NO_PARTS
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.engine.measurements import Steps
from tracker.diagnosis.rules.memory_bounds_concurrency import check


def measured(memory: float, queue: float = 0.1):
    return stage(
        step_rows=Steps.none(),
        gpus=1,
        gpu_memory=memory * 80 * GIB,
        spans=service(queue=queue),
    )


ALARMS = [measured(0.99)]
SILENCES = [measured(0.5), measured(0.99, queue=0.001)]


def ask(*, share=0.97, queue=0.1, busy=60.0, more=None, **options):
    gpu = {
        "gpu_utilization_percent": readings(busy),
        "gpu_memory_used_bytes": readings(share * 80 * GIB),
        "gpu_memory_total_bytes": 80.0 * GIB,
        **(more or {}),
    }
    return check(service(queue=queue), {0: gpu}, **options)


@pytest.mark.parametrize(
    ("differs", "is_found"),
    [
        ({"share": 0.951}, True),
        ({"share": 0.949}, False),
        ({"queue": 0.012}, True),
        ({"queue": 0.010}, False),
        ({"busy": 94.0}, True),
        ({"busy": 96.0}, False),
    ],
)
def test_judges_near_each_limit(differs, is_found):
    assert isinstance(ask(**differs), Finding) == is_found


def test_an_open_finding_stays_below_the_limits():
    assert ask(share=0.94, queue=0.009, already_open=True) is not None


def test_reserved_memory_is_not_full():
    assert isinstance(ask(framework="jax"), Abstention)
    held = {"gpu_allocator_allocated_bytes": readings(20.0 * GIB)}
    assert ask(more=held) is None


def test_processors_that_work_are_the_limit():
    assert ask(more={"gpu_sm_active_percent": readings(80.0)}) is None


def test_says_what_is_missing():
    assert check(service(), {}) == Abstention((NO_PARTS,))
    assert isinstance(check(service(queue=0.1), {}), Abstention)

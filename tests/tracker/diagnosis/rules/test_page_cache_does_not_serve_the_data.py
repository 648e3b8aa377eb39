from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    GIB,
    stage,
    steps_in_epochs,
    with_facts,
    without_facts,
)
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.measurements import Measurements
from tracker.diagnosis.rules import RULES

NAME = "page-cache-does-not-serve-the-data"
RULE = next(rule for rule in RULES if rule.name == NAME)
MB = 1e6


def in_epochs(
    *rates: float,
    waits=(0.02, 0.02, 0.02),
    requested: float = 200 * MB,
    compute: float = 0.1,
    length: int = 200,
    memory: float = 1 * GIB,
) -> Measurements:
    """Three epochs, each with its read rate from storage and its wait per step."""
    waiting = np.repeat(waits, length)
    rows = steps_in_epochs([length] * 3, total=compute + waiting, waiting=waiting)
    ends = (rows.times - rows.times[0]) / 1e6
    seconds = np.arange(int(ends[-1]) + 1)
    epoch = np.searchsorted(ends[[length - 1, 2 * length - 1]], seconds)
    return stage(
        step_rows=rows,
        sampled={
            "job_read_bytes_per_second": np.array(rates)[epoch],
            "job_requested_bytes_per_second": requested,
        },
        facts={"memory_limit_bytes": memory},
    )


COLD = in_epochs(150 * MB, 1 * MB, 1 * MB, waits=(0.1, 0.005, 0.005))
# 200 MB/s for half a minute, with 1 GiB of memory.
TOO_SMALL = in_epochs(150 * MB, 150 * MB, 150 * MB, waits=(0.05, 0.05, 0.05))
ALARMS = [COLD, TOO_SMALL]
SILENCES = [
    in_epochs(150 * MB, 1 * MB, 1 * MB, waits=(0.005, 0.005, 0.005)),
    with_facts(TOO_SMALL, memory_limit_bytes=64.0 * GIB),
]


def found_in(measurements: Measurements):
    findings = diagnose(measurements, rules=[RULE]).findings
    return findings[0] if findings else None


def test_a_first_epoch_that_waits_longer_is_cold():
    found = found_in(COLD)

    assert found is not None
    assert found.title == "The first epoch reads from a cold page cache"
    assert "19 s in total" in found.finding.summary
    assert found.finding.gain is not None


@pytest.mark.parametrize(("times", "is_found"), [(2.8, False), (3.2, True)])
def test_the_first_epoch_must_read_three_times_as_much(times, is_found):
    later = 100 * MB
    # The first epoch also takes longer, so its rate is lower than the bytes suggest.
    rate = times * later * 105.0 / 200.0
    cold = in_epochs(rate, later, later, waits=(0.1, 0.005, 0.005), memory=64 * GIB)

    assert (found_in(cold) is not None) == is_found


def test_a_first_epoch_that_computes_longer_is_not_cold():
    rows = in_epochs(150 * MB, 1 * MB, 1 * MB, waits=(0.1, 0.005, 0.005))
    rows.steps.columns["data_wait_seconds"][:] = 0.005

    assert found_in(rows) is None


def test_data_larger_than_memory_are_read_again():
    found = found_in(TOO_SMALL)

    assert found is not None
    assert found.title == "The data does not fit in the page cache"
    assert "75 % of the bytes" in found.finding.summary
    assert "data-wait-dominates" in found.finding.explains


def test_a_cache_that_fills_up_is_not_too_small():
    assert found_in(in_epochs(190 * MB, 120 * MB, 20 * MB, waits=(0.05,) * 3)) is None


def test_says_what_it_lacks():
    one_epoch = stage(
        step_rows=steps_in_epochs([300], total=0.1, waiting=0.05),
        sampled={"job_read_bytes_per_second": 100 * MB},
    )
    no_limit = without_facts(TOO_SMALL, "memory_limit_bytes")

    for measured, lack in (
        (one_epoch, "two whole epochs over the same data"),
        (no_limit, "memory_limit_bytes"),
    ):
        assert lack in diagnose(measured, rules=[RULE]).unanswered[NAME]


def test_a_job_that_reads_nothing_needs_no_epochs():
    one_epoch = stage(
        step_rows=steps_in_epochs([300], total=0.1, waiting=0.05),
        sampled={"job_read_bytes_per_second": 0.0},
    )

    assert diagnose(one_epoch, rules=[RULE]).healthy == (NAME,)

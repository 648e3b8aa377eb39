from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START, samples, service
from tracker.diagnosis.analysis.requests import measure_requests
from tracker.diagnosis.analysis.sawtooth import find_sawtooth
from tracker.diagnosis.breakdown.phases import PhaseKind
from tracker.diagnosis.signals import Samples


def test_a_request_is_its_parts_and_what_lies_between():
    found = measure_requests(service(queue=0.1, load_model=0.2, compute=0.3, own=0.4))

    assert found is not None
    assert found.seconds[1:] == pytest.approx(1.0)
    assert found.share(PhaseKind.LOAD_MODEL) == pytest.approx(0.2, rel=0.01)
    assert found.share(PhaseKind.QUEUE) == pytest.approx(0.1, rel=0.01)
    assert found.loads == {"load_model": 200}


def test_an_untimed_phase_has_no_share():
    found = measure_requests(service())

    assert found is not None
    assert found.share(PhaseKind.QUEUE) == 0.0
    assert found.times_of(PhaseKind.QUEUE) == 0


def test_a_computation_for_several_requests_counts_once():
    found = measure_requests(service(computed_together=8))

    assert found is not None
    assert found.times_of(PhaseKind.COMPUTE) == 25


def test_few_requests_say_nothing():
    assert measure_requests(service(count=9)) is None
    assert measure_requests({}) is None


def test_memory_that_rises_and_falls_is_counted():
    tooth = find_sawtooth(samples(np.tile([0.0, 0.0, 10.0, 10.0, 10.0], 20)))

    assert (tooth.height, tooth.rises) == (10.0, 20)


def test_small_waves_are_no_rises():
    assert find_sawtooth(samples(np.tile([9.0, 10.0], 50) + np.eye(1, 100)[0])).rises
    noisy = np.concatenate([np.zeros(50), 10 + np.tile([0.0, 0.5], 25)])

    assert find_sawtooth(samples(noisy)).rises == 1
    assert find_sawtooth(samples(np.empty(0))).rises == 0


def test_loading_before_the_first_request_is_none_of_its_time():
    ends = START + np.arange(1, 21) * SECOND
    requests = {
        "request": Samples(ends, np.full(20, 0.02)),
        "load_model": Samples(ends[:1] - SECOND // 2, np.array([1.4])),
    }

    found = measure_requests(requests)

    assert found is not None
    assert found.seconds[0] == pytest.approx(0.02)


ENDS = START + np.arange(1, 21) * SECOND


def overlapping() -> dict[str, Samples]:
    """Requests of half a second, each starting before the previous one ends."""
    ends = START + np.arange(1, 21) * SECOND // 10
    return {
        "request": Samples(ends, np.full(20, 0.1)),
        "load_model": Samples(ends - SECOND // 4, np.full(20, 0.4)),
    }


def test_phases_within_overlapping_requests_are_counted():
    requests = overlapping()
    held = {"load_model": Samples(requests["request"].times, np.full(20, 0.4))}

    found = measure_requests(requests, held)

    assert found is not None
    assert found.seconds == pytest.approx(0.5)
    assert found.share(PhaseKind.LOAD_MODEL) == pytest.approx(0.8)
    assert found.first_load_seconds == pytest.approx(0.4)
    assert found.times_of(PhaseKind.LOAD_MODEL) == 20


def test_phases_of_any_name_are_part_of_the_request_that_held_them():
    held = {"tokenise": Samples(ENDS, np.full(20, 0.3))}

    found = measure_requests({"request": Samples(ENDS, np.full(20, 0.1))}, held)

    assert found is not None
    assert found.seconds == pytest.approx(0.4)


def test_a_request_within_a_request_is_one_of_its_own():
    held = {"request": Samples(ENDS, np.full(20, 0.3))}

    found = measure_requests({"request": Samples(ENDS, np.full(20, 0.1))}, held)

    assert found is not None
    assert found.seconds == pytest.approx(0.1)


def test_parts_that_no_known_request_held_are_passed_over():
    held = {"compute": Samples(ENDS + 1, np.full(20, 0.3))}

    found = measure_requests({"request": Samples(ENDS, np.full(20, 0.1))}, held)

    assert found is not None
    assert found.seconds == pytest.approx(0.1)

from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import GIB, readings
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.engine.measurements import Measurements
from tracker.diagnosis.rules.gpu_differs_from_its_peers import check


def card(*, busy=95.0, celsius=60.0, clock=1900.0, watts=600.0, name="H100"):
    return {
        "gpu_name": name,
        "gpu_utilization_percent": readings(busy, seconds=90),
        "gpu_temperature_celsius": readings(celsius, seconds=90),
        "gpu_sm_clock_mhz": readings(clock, seconds=90),
        "gpu_power_watts": readings(watts, seconds=90),
    }


def cards(**last):
    return {0: card(), 1: card(celsius=63.0), 2: card(watts=620.0), 3: card(**last)}


def measured(gpus):
    return Measurements(gpus=gpus, gpu_count=len(gpus))


ALARMS = [measured(cards(celsius=82.0, clock=1500.0))]
SILENCES = [
    measured(cards()),
    # Another load explains another temperature.
    measured({**cards(), 4: card(busy=50.0, celsius=40.0, clock=1300.0, watts=200.0)}),
]


@pytest.mark.parametrize(
    ("last", "is_found"),
    [
        pytest.param({"celsius": 77.0}, True, id="just warmer"),
        pytest.param({"celsius": 73.0}, False, id="a little warmer"),
        pytest.param({"clock": 1790.0}, True, id="just slower"),
        pytest.param({"clock": 1820.0}, False, id="a little slower"),
        pytest.param({"clock": 2100.0}, False, id="faster"),
        pytest.param({"watts": 500.0}, True, id="just less power"),
        pytest.param({"watts": 560.0}, False, id="a little less power"),
    ],
)
def test_judges_near_each_limit(last, is_found):
    assert (check(cards(**last)) is not None) == is_found


def test_a_card_of_another_program_is_no_peer():
    def with_memory(one, gib):
        return {**one, "gpu_memory_used_bytes": readings(gib * GIB, seconds=90)}

    peers = {gpu: with_memory(card(), 52.0) for gpu in range(3)}
    busier = card(watts=740.0)

    assert check({**peers, 3: with_memory(busier, 13.0)}) is None
    assert check({**peers, 3: with_memory(busier, 60.0)}) is not None


def test_names_the_card_and_the_difference():
    finding = check(cards(celsius=80.0, clock=1500.0))

    assert isinstance(finding, Finding)
    assert finding.title == "GPU 3 differs from its peers"
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(1 / (1 - 0.95 * 0.21), rel=0.02)


@pytest.mark.parametrize(
    "gpus",
    [
        pytest.param({0: card(), 1: card(celsius=90.0)}, id="two cards"),
        pytest.param(
            {0: card(), 1: card(), 2: card(celsius=90.0, name="A100")},
            id="another model",
        ),
        pytest.param({n: card(busy=1.0) for n in range(4)}, id="idle cards"),
        pytest.param({}, id="none"),
    ],
)
def test_without_peers_nothing_is_judged(gpus):
    assert isinstance(check(gpus), Abstention)


def test_an_open_finding_stays_above_the_lower_limit():
    assert check(cards(celsius=74.0)) is None
    assert check(cards(celsius=74.0), already_open=True) is not None

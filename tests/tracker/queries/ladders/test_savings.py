from __future__ import annotations

import pytest

from tracker.diagnosis.breakdown.categories import Ledger, Use
from tracker.diagnosis.engine.finding import Gain
from tracker.queries.ladders.savings import worth_of

GAIN = Gain(bound=4.0, likely=2.0, basis="Measured.")
LEDGER = Ledger(2, {Use.COMPUTING: 3600.0, Use.DATA_WAIT: 3600.0, Use.IDLE: 1e6})


def test_half_of_the_time_of_steps_is_saved_and_what_lies_around_stays():
    worth = worth_of(GAIN, LEDGER, 10.0, 5.0, "EUR")

    assert worth is not None
    assert worth.seconds == pytest.approx(50)
    assert worth.gpu_seconds == pytest.approx(3600)
    assert worth.money == pytest.approx(5)


def test_without_times_of_steps_the_idle_time_can_be_saved():
    ledger = Ledger(1, {Use.COMPUTING: 100.0, Use.IDLE: 900.0, Use.INITIALIZATION: 50})

    worth = worth_of(GAIN, ledger, None, None, "")
    assert worth is not None
    assert (worth.seconds, worth.gpu_seconds) == (None, pytest.approx(500))


def test_unknown_savings_are_left_out():
    on_cpus = Ledger(0, LEDGER.seconds)

    assert worth_of(GAIN, on_cpus, None, 5.0, "EUR") is None
    worth = worth_of(GAIN, on_cpus, 10.0, 5.0, "EUR")
    assert worth is not None
    assert (worth.gpu_seconds, worth.money) == (None, None)
    assert worth_of(GAIN, LEDGER, 1.0, None, "").money is None
    assert worth_of(None, LEDGER, 1.0, 1.0, "EUR") is None
    assert worth_of(Gain(1.0, 1.0, "None."), LEDGER, 1.0, 1.0, "EUR") is None

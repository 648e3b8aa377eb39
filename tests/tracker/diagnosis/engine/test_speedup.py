from __future__ import annotations

import math

import pytest

from tracker.diagnosis.engine.finding import Gain
from tracker.diagnosis.engine.speedup import (
    Floor,
    Pair,
    Recovery,
    expected_gain,
    learn_recoveries,
    recoverable_share,
    with_recovery,
)


def test_the_highest_floor_is_the_bound():
    gain = expected_gain(1.0, (Floor(0.2, "training"), Floor(0.5, "the CPU")))

    assert gain.bound == pytest.approx(2.0)
    assert gain.next_limit == "the CPU"
    assert "the CPU" in gain.basis


def test_half_of_the_difference_is_likely():
    gain = expected_gain(1.0, (Floor(0.5, "training"),))

    assert gain.likely == pytest.approx(1 / 0.75)
    assert recoverable_share(gain) == pytest.approx(0.25)


def test_an_expected_speedup_without_fixes_is_marked_as_a_default():
    gain = expected_gain(1.0, (Floor(0.5, "training"),))

    shown = with_recovery(gain, None)

    assert shown is not None
    assert shown.likely == gain.likely
    assert "50 % of the difference; no similar fix" in shown.basis


def test_nothing_is_promised_where_the_floor_is_above_the_step():
    gain = expected_gain(1.0, (Floor(1.3, "the CPU"),))

    assert (gain.bound, gain.likely) == (1.0, 1.0)
    assert with_recovery(gain, None) is gain


def test_a_step_without_any_work_promises_no_miracles():
    assert expected_gain(1.0, (Floor(0.0, "training"),)).bound == pytest.approx(100.0)


def test_a_finding_without_gain_recovers_nothing():
    assert recoverable_share(None) == 0.0


def test_few_pairs_stay_near_the_prior_and_many_do_not():
    one = learn_recoveries([Pair("a", 0.5, 0.5)])["a"]
    many = learn_recoveries([Pair("a", 0.5, 0.5)] * 96)["a"]

    assert (one.expected, one.observed, one.pairs) == (pytest.approx(0.6), 1.0, 1)
    assert many.expected == pytest.approx(0.98)


def test_a_recovery_is_clipped_to_0_and_1():
    pairs = [Pair("a", 0.5, 0.9), Pair("a", 0.5, -0.4)]

    assert learn_recoveries(pairs)["a"].expected == pytest.approx(0.5)


@pytest.mark.parametrize("pair", [Pair("a", 0, 1), Pair("a", 1, math.nan)])
def test_a_pair_that_says_nothing_teaches_nothing(pair):
    assert learn_recoveries([pair]) == {}


def test_a_likely_gain_follows_what_was_learned_and_says_from_how_much():
    gain = expected_gain(1.0, (Floor(0.5, "training"),))

    learned = with_recovery(gain, Recovery(0.8, 0.9, 12))

    assert learned is not None
    assert (learned.bound, learned.likely) == (gain.bound, pytest.approx(1 / 0.6))
    assert learned.basis.startswith("A step takes 1 s")
    assert "a default" not in learned.basis
    assert "12 earlier fixes on this server recovered 90 %" in learned.basis


def test_a_gain_of_another_kind_stays_what_it_is():
    gain = Gain(2.0, 1.9, "By a model of the batch size.")

    assert with_recovery(gain, Recovery(0.8, 0.9, 12)) is gain
    assert with_recovery(None, Recovery(0.8, 0.9, 12)) is None
    assert with_recovery(gain, None) is gain

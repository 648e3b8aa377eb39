from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import SECOND, START
from tracker.diagnosis.analysis.quality import (
    Curve,
    common_loss,
    compare_quality,
    curve_of,
)
from tracker.diagnosis.signals import Tracked


def learned(
    level: float,
    *,
    count: int = 400,
    batch: float = 16.0,
    step: float = 0.1,
    noise: float = 0.02,
    seed: int = 0,
) -> Curve:
    """A loss that falls with the processed examples to a given level."""
    times = START + (np.arange(1, count + 1) * step * SECOND).astype(np.int64)
    examples = np.arange(1, count + 1) * batch
    wave = noise * np.random.default_rng(seed).standard_normal(count)
    losses = level + 2 * np.exp(-examples / 1000) + wave
    found = curve_of(
        Tracked(np.arange(count), times, losses), times, np.full(count, batch)
    )
    assert found is not None
    return found


def test_the_same_twice_is_neither_worse_nor_better():
    change = compare_quality("train/loss", learned(0.5), learned(0.5, seed=1))

    for level in (change.at_equal_examples, change.at_equal_time):
        assert level is not None
        assert not level.is_worse
        assert not level.is_better
    assert not change.is_worse


@pytest.mark.parametrize(("level", "is_worse"), [(0.6, True), (0.4, False)])
def test_a_higher_loss_is_worse(level, is_worse):
    change = compare_quality("train/loss", learned(0.5), learned(level, seed=1))

    assert change.is_worse is is_worse
    assert change.costs_examples is is_worse


def test_noise_hides_what_is_smaller():
    noisy = compare_quality(
        "train/loss", learned(0.5, noise=0.5), learned(0.52, noise=0.5, seed=1)
    )

    assert not noisy.is_worse


def test_faster_can_be_better_by_time_although_each_example_teaches_less():
    # Four times the batch in twice the time, and slightly worse per example.
    change = compare_quality(
        "train/loss",
        learned(0.5, count=100, step=0.1),
        learned(0.6, count=100, step=0.2, batch=64.0, seed=1),
    )

    assert change.at_equal_time is not None
    assert change.at_equal_time.is_better
    assert not change.is_worse


def test_compares_where_the_shorter_of_both_ends():
    change = compare_quality(
        "train/loss", learned(0.5, count=400), learned(0.5, count=200, seed=1)
    )

    assert change.at_equal_examples is not None
    assert change.at_equal_examples.at == 200 * 16


def test_runs_of_very_different_length_have_little_in_common():
    change = compare_quality("train/loss", learned(0.5), learned(0.5, count=30))

    assert change.at_equal_examples is change.at_equal_time is None
    assert not change.is_worse


def test_a_loss_of_held_out_data_is_compared_first():
    assert common_loss(["train/loss", "val/loss"], ["val/loss", "train/loss"]) == (
        "val/loss"
    )
    assert common_loss(["train/loss"], ["val/loss"]) is None


def test_few_values_and_no_steps_are_no_curve():
    times = START + np.arange(5) * SECOND
    few = Tracked(np.arange(5), times, np.ones(5))

    assert curve_of(few, times, np.ones(5)) is None
    assert curve_of(few, np.empty(0, np.int64), np.empty(0)) is None


def test_values_that_are_no_numbers_do_not_count():
    times = START + np.arange(50) * SECOND
    losses = np.ones(50)
    losses[::2] = np.nan

    found = curve_of(Tracked(np.arange(50), times, losses), times, np.ones(50))

    assert found is not None
    assert len(found.losses) == 25

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import ranks_of
from tracker.diagnosis.analysis.stragglers import find_straggler
from tracker.diagnosis.signals import Ranks


def test_the_slow_one_waits_least():
    found = find_straggler(
        ranks_of(
            0.1, forward=[0.03, 0.03, 0.06, 0.03], backward=[0.06, 0.06, 0.03, 0.06]
        )
    )

    assert found is not None
    assert found.rank == 2
    assert found.met_in == "backward"
    assert found.share == pytest.approx(0.3)
    assert found.excess["phase/forward"] == pytest.approx(0.03)


def test_a_named_exchange_is_where_they_meet():
    found = find_straggler(
        ranks_of(
            0.1, ranks=2, backward=[0.04, 0.07], all_reduce=[0.05, 0.02], forward=0.01
        )
    )

    assert found is not None
    assert (found.rank, found.met_in) == (1, "all_reduce")
    assert found.share == pytest.approx(0.3)


def test_ranks_that_never_meet_are_compared_by_their_steps():
    found = find_straggler(ranks_of([0.1, 0.1, 0.2], ranks=3))

    assert found is not None
    assert (found.rank, found.met_in) == (2, "")
    assert found.share == pytest.approx(0.5)


def test_equal_steps_without_parts_say_nothing():
    assert find_straggler(ranks_of(0.1)) is None
    assert find_straggler(Ranks()) is None


def test_chance_has_no_rank():
    random = np.random.default_rng(1)
    work = random.normal(0.1, 0.03, (300, 2)).clip(0.01)
    step = np.repeat(work.max(axis=1, keepdims=True), 2, axis=1)

    found = find_straggler(ranks_of(step, ranks=2, forward=work, backward=step - work))

    assert found is not None
    assert found.tail_share < found.chance_share


def test_ranks_of_a_slow_machine_are_slow_together():
    noise = np.random.default_rng(1).normal(1.0, 0.03, (300, 8))
    work = noise * np.where(np.arange(8) >= 4, 0.06, 0.03)

    found = find_straggler(ranks_of(0.1, ranks=8, forward=work, backward=0.1 - work))

    assert found is not None
    assert found.ranks == (4, 5, 6, 7)
    assert found.share == pytest.approx(0.3, abs=0.03)
    assert found.tail_share == pytest.approx(1.0)
    assert found.excess["phase/forward"] == pytest.approx(0.03, abs=0.001)


def test_one_of_many_is_slow_in_nearly_all_steps_and_slowest_in_some():
    noise = np.random.default_rng(1).normal(1.0, 0.08, (300, 64)).clip(0.5)
    noise[:, 17] *= 1.25
    step = np.full((300, 64), 0.1)
    work = 0.06 * noise

    found = find_straggler(ranks_of(step, ranks=64, forward=work, backward=step - work))

    assert found is not None
    assert found.ranks == (17,)
    assert found.above_share > 0.9


def test_a_rank_that_waits_for_a_core_is_no_straggler():
    work = np.tile([0.03, 0.03, 0.06, 0.03], (300, 1))
    ranks = ranks_of(0.1, forward=work, backward=0.1 - work)
    waits = np.tile([0.0, 0.0, 0.05, 0.0], (300, 1))

    crowded = replace(ranks, columns={**ranks.columns, "core_wait_seconds": waits})

    assert find_straggler(ranks).share == pytest.approx(0.3)
    assert find_straggler(crowded).share == pytest.approx(0.0, abs=1e-9)

from __future__ import annotations

import pytest

from tracker.diagnosis.breakdown.categories import (
    Ledger,
    Use,
    added_up,
    grown_most,
    shares,
)


def test_shares_add_up_to_exactly_one():
    thirds = dict.fromkeys((Use.COMPUTING, Use.IDLE, Use.UNKNOWN), 1.0)

    assert sum(round(1000 * share) for share in shares(thirds).values()) == 1000
    assert shares(dict.fromkeys(Use, 0.0)) == {}


def test_ledgers_are_added_up():
    one = Ledger(2, {Use.COMPUTING: 10.0}, 5.0)
    other = Ledger(4, {Use.COMPUTING: 1.0, Use.IDLE: 2.0}, None)

    total = added_up([one, other])

    assert total is not None
    assert (total.gpus, total.energy_joules) == (4, 5.0)
    assert total.seconds[Use.COMPUTING] == pytest.approx(11)
    assert total.total == pytest.approx(13)
    assert added_up([]) is None


def test_the_category_that_grew_most_is_found_for_any_number_of_gpus():
    before = Ledger(
        2, {Use.COMPUTING: 20.0, Use.INITIALIZATION: 1.0, Use.DATA_WAIT: 8.0}
    )
    after = Ledger(
        4, {Use.COMPUTING: 80.0, Use.INITIALIZATION: 10.0, Use.DATA_WAIT: 4.0}
    )

    assert grown_most(before, after) == (Use.INITIALIZATION, 2.0)
    assert grown_most(after, after) is None
    assert grown_most(None, after) is None
    assert grown_most(before, None) is None
    assert grown_most(before, Ledger(0, {})) is None

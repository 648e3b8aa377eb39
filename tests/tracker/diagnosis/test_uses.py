from __future__ import annotations

import pytest

from tracker.diagnosis.uses import Ledger, Use, added_up, shares


def test_shares_add_up_to_exactly_one():
    thirds = dict.fromkeys((Use.USEFUL, Use.IDLE, Use.UNKNOWN), 1.0)

    assert sum(round(1000 * share) for share in shares(thirds).values()) == 1000
    assert shares(dict.fromkeys(Use, 0.0)) == {}


def test_ledgers_are_added_up():
    one = Ledger(2, {Use.USEFUL: 10.0}, 5.0)
    other = Ledger(4, {Use.USEFUL: 1.0, Use.IDLE: 2.0}, None)

    total = added_up([one, other])

    assert total is not None
    assert (total.gpus, total.energy_joules) == (4, 5.0)
    assert total.seconds[Use.USEFUL] == pytest.approx(11)
    assert total.total == pytest.approx(13)
    assert added_up([]) is None

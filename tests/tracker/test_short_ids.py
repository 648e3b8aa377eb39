from __future__ import annotations

from uuid import UUID

import pytest

from tracker.short_ids import LENGTH, read_id, shortened

# Ids with the fewest and the most bits, and a random one.
IDS = [UUID(int=0), UUID(int=2**128 - 1), UUID("b97d39db-e325-4b3b-9363-93eb6731245f")]


@pytest.mark.parametrize("an_id", IDS, ids=str)
def test_an_id_is_read_in_both_forms(an_id):
    assert len(shortened(an_id)) == LENGTH
    assert read_id(shortened(an_id)) == read_id(str(an_id)) == an_id


@pytest.mark.parametrize("text", ["", "x", "é" * LENGTH, "=" * LENGTH, "a b" * 7 + "a"])
def test_an_invalid_id_is_none(text):
    assert read_id(text) is None

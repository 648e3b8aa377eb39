from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from tracker.short_ids import LENGTH, read_id, shortened


@pytest.mark.parametrize("an_id", [UUID(int=0), UUID(int=2**128 - 1), uuid4()], ids=str)
def test_an_id_is_read_in_both_forms(an_id):
    assert len(shortened(an_id)) == LENGTH
    assert read_id(shortened(an_id)) == read_id(str(an_id)) == an_id


@pytest.mark.parametrize("text", ["", "x", "é" * LENGTH, "=" * LENGTH, "a b" * 7 + "a"])
def test_what_is_no_id_is_none(text):
    assert read_id(text) is None

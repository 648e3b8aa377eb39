from __future__ import annotations

from math import nan

import pytest

from benchmarks.diagnosis.faults import FAULTS, FIXED
from benchmarks.diagnosis.pairs import Pair, page


def pair(achieved: float, *, likely: float = 1.2, bound: float = 1.5) -> Pair:
    return Pair("no-workers", 1, "D3", likely, bound, achieved)


@pytest.mark.parametrize(
    ("achieved", "is_within", "is_inside"),
    [(1.1, True, False), (1.3, True, True), (1.54, True, True), (1.6, False, False)],
)
def test_a_promise_is_kept_between_likely_and_bound(achieved, is_within, is_inside):
    found = pair(achieved)

    assert (found.is_within_bound, found.is_inside) == (is_within, is_inside)


def test_what_promised_nothing_is_counted_apart():
    text = page([pair(1.3), pair(2.0, likely=nan, bound=nan)])

    assert "| pairs whose finding promised a gain | 1 of 2 |" in text
    assert "nothing promised" in text


@pytest.mark.parametrize("case", FIXED, ids=lambda case: case.name)
def test_a_fix_changes_what_it_names_and_nothing_else(case):
    for seed in (1, 2):
        before, after = case.fault.job_of(seed), case.job_of(seed)
        changed = {
            name
            for name in before.__dataclass_fields__
            if getattr(before, name) != getattr(after, name)
        }
        assert changed == set(case.change)


def test_every_fix_belongs_to_a_fault():
    assert {case.fault for case in FIXED} <= set(FAULTS)

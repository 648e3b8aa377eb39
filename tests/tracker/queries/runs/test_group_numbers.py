from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracker.queries.runs.group_numbers import Combined, Said, numbers_of_groups

VALUES = (None, "a", 1.0, ("x",), ("x", "y"), True)


@st.composite
def columns(draw) -> list[list[int]]:
    count = draw(st.integers(0, 12))
    code = st.integers(0, len(VALUES) - 1)
    column = st.lists(code, min_size=count, max_size=count)
    return draw(st.lists(column, min_size=1, max_size=4))


def groups_of(values) -> list:
    return list(product(*(v if isinstance(v, tuple) else (v,) for v in values)))


@given(columns())
def test_runs_are_in_the_groups_that_looking_at_each_would_find(codes):
    said = [Said(np.array(each, np.int64), VALUES) for each in codes]
    runs = [[VALUES[code] for code in run] for run in zip(*codes, strict=True)]
    expected = Counter(group for run in runs for group in groups_of(run))

    combined = Combined(said)

    assert combined.counts() == expected
    assert combined.membership_count == sum(expected.values())
    shown = {group: place for place, (group, _) in enumerate(expected.most_common(3))}
    members, places = combined.members(shown)
    found = sorted(zip(members.tolist(), places.tolist(), strict=True))
    assert found == sorted(
        (number, shown[group])
        for number, run in enumerate(runs)
        for group in groups_of(run)
        if group in shown
    )


def test_numbers_are_those_of_a_group_s_own_runs():
    numbers = np.array([1.0, 3.0, math.nan, -math.inf, 5.0])
    codes = np.array([0, 0, 0, 1, 2])

    first, second, third, none = numbers_of_groups(
        numbers, codes, 4, is_high_best=False
    )

    assert (first.count, first.mean, first.lowest, first.highest) == (2, 2, 1, 3)
    assert first.best == 1
    assert (second.count, second.mean) == (1, -math.inf)
    assert (third.lowest, third.highest) == (5, 5)
    assert (none.count, none.mean) == (0, None)

"""Points for tests, written by hand or drawn by Hypothesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tracker.series.points import Points
from tracker.series.table import Table

START = 1_767_355_200_000_000  # 2026-01-02 12:00 UTC
SECOND = 1_000_000


def points(
    values: Sequence[float] | np.ndarray,
    *,
    steps: Sequence[float] | np.ndarray | None = None,
    times: Sequence[int] | np.ndarray | None = None,
) -> Points:
    """Return one point per second, at steps 0, 1, 2, … by default."""
    numbers = np.arange(len(values))
    return Points(
        np.asarray(numbers if steps is None else steps, np.float64),
        np.asarray(START + numbers * SECOND if times is None else times, np.int64),
        np.asarray(values, np.float64),
    )


def table(rows: Mapping[int, Sequence[float] | np.ndarray], ticks: Points) -> Table:
    """Return a table of values by series id, at the steps and times of some points."""
    return Table(
        np.array(list(rows), np.int64),
        ticks.steps,
        ticks.times,
        np.array(list(rows.values()), np.float64),
    )


def noise(count: int, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=count)


def same(left: Points, right: Points) -> bool:
    """Compare bits, because NaN differs from itself and -0.0 equals 0.0."""
    return all(
        np.array_equal(a.view(np.uint64), b.view(np.uint64))
        for a, b in (
            (left.steps, right.steps),
            (left.times, right.times),
            (left.values, right.values),
        )
    )


# Every pattern of 64 bits is a float: NaNs with payloads, subnormals, -0.0.
any_bits = st.integers(0, 2**64 - 1).map(
    lambda bits: np.uint64(bits).view(np.float64).item()
)
narrow = st.floats(width=32)
whole = st.integers(-(2**60), 2**60).map(float)
percentages = st.integers(0, 1_000).map(lambda tenths: tenths / 10)
constant = st.sampled_from([0.0, -0.0, 0.1, float("nan"), float("-inf")])

number_lists = st.one_of(
    *(
        st.lists(numbers, max_size=60)
        for numbers in (any_bits, narrow, whole, percentages)
    ),
    st.builds(lambda number, count: [number] * count, constant, st.integers(0, 60)),
)
finite_steps = st.one_of(
    st.integers(-1_000, 1_000).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def any_points(
    draw: st.DrawFn, *, steps: st.SearchStrategy[float] = any_bits
) -> Points:
    """Return points with any values in any order, often with repeated steps."""
    values = np.array(draw(number_lists), np.float64)
    count = len(values)
    return Points(
        draw(arrays(np.float64, count, elements=steps)),
        draw(arrays(np.int64, count)),
        values,
    )

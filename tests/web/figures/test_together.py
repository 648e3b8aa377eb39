"""Several runs as one line, and how far apart they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from web.figures.series import NamedLine
from web.figures.together import MAX_PLACES, joined_line, lines_together


@dataclass(frozen=True)
class Line:
    x: np.ndarray
    mean: np.ndarray
    minimum: np.ndarray
    maximum: np.ndarray
    path: str = "train/loss"
    exact: bool = False


def line(x, mean, low=None, high=None):
    columns = [x, mean, mean if low is None else low, mean if high is None else high]
    return Line(*(np.array(column, float) for column in columns))


def test_the_mean_lies_between_the_lowest_and_the_highest():
    joined = joined_line([line([0, 1], [1, 2]), line([0, 1], [3, 6])])

    assert joined.x.tolist() == [0, 1]
    assert joined.mean.tolist() == [2, 4]
    assert joined.minimum.tolist() == [1, 2]
    assert joined.maximum.tolist() == [3, 6]


def test_between_its_points_a_run_is_straight():
    joined = joined_line([line([0, 2], [0, 2]), line([0, 1, 2], [3, 3, 3])])

    assert joined.mean.tolist() == [1.5, 2, 2.5]


def test_a_run_that_ended_says_nothing_of_what_follows():
    joined = joined_line([line([0, 1], [10, 10]), line([0, 1, 2], [0, 0, 0])])

    assert joined.mean.tolist() == [5, 5, 0]
    assert joined.maximum.tolist() == [10, 10, 0]


def test_what_is_not_finite_is_left_out():
    broken = line([0, 1, 2], [1, np.nan, 3], [-np.inf, 1, 3], [1, np.inf, 3])
    joined = joined_line([broken, line([0, 1, 2], [1, 5, 3])])

    assert joined.mean.tolist() == [1, 3.5, 3]
    assert joined.minimum.tolist() == [1, 2, 3]


def test_lines_without_a_point_change_nothing():
    joined = joined_line([line([], []), line([5], [1])])

    assert (joined.x.tolist(), joined.mean.tolist()) == ([5], [1])
    assert not len(joined_line([line([], [])]).x)


def test_no_spike_is_lost_where_there_are_more_points_than_places():
    x = np.arange(100_000)
    spiky = np.zeros(len(x))
    spiky[77_777] = 9
    joined = joined_line([line(x, spiky), line(x + 0.5, np.zeros(len(x)))])

    assert len(joined.x) == MAX_PLACES
    assert joined.maximum.max() == 9
    assert (joined.mean <= joined.maximum).all()


@example([[(0.0, 0.0)], [(-2.3e-309, -1.0), (2.3e-309, 0.0)]])
@given(
    st.lists(
        st.lists(
            st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)),
            max_size=20,
            unique_by=lambda point: point[0],
        ).map(sorted),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_joined_stays_within_what_was_logged(runs):
    joined = joined_line(
        [line(*zip(*run, strict=True)) if run else line([], []) for run in runs]
    )
    values = [value for run in runs for _, value in run]

    assert len(joined.x) == len({x for run in runs for x, _ in run})
    if values:
        slack = 1e-6 * max(1, *map(abs, values))
        assert joined.minimum.min() >= min(values) - slack
        assert joined.maximum.max() <= max(values) + slack
        assert (joined.mean >= joined.minimum - slack).all()
        assert (joined.mean <= joined.maximum + slack).all()


def test_lines_of_one_name_are_one_line_in_the_colour_of_the_first():
    lines = [
        NamedLine(line([0, 1], [level, level]), name, position)
        for position, (name, level) in enumerate([("adam", 1), ("sgd", 5), ("adam", 3)])
    ]
    adam, sgd = lines_together(lines)

    assert (adam.name, adam.position) == ("adam (2 runs)", 0)
    assert adam.line.mean.tolist() == [2, 2]
    assert sgd is lines[1]

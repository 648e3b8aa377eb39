from __future__ import annotations

from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given

from tests.tracker.series.examples import any_points, finite_steps, noise, points
from tracker.models import Attribute, Kind
from tracker.series.codec import CHUNK_POINTS, decode
from tracker.series.points import concatenate
from tracker.series.rows import add_to_summary, make_chunks

WHOLE = ["count", "finite_count", "minimum", "maximum", "first_step", "last_step"]
TIMES = ["first_time", "last_time"]


def series():
    return Attribute(kind=Kind.FLOAT_SERIES)


def test_cuts_points_in_order_of_step_whatever_order_they_come_in():
    count = 2 * CHUNK_POINTS + 3
    shuffled = points(noise(count), steps=np.random.default_rng(1).permutation(count))

    chunks = make_chunks(uuid4(), 1, shuffled)

    assert [chunk.count for chunk in chunks] == [CHUNK_POINTS, CHUNK_POINTS, 3]
    assert [chunk.is_open for chunk in chunks] == [False, False, True]
    steps = np.concatenate([decode(chunk.data).steps for chunk in chunks])
    assert steps.tolist() == list(range(count))


def test_a_row_never_holds_nan_or_the_sign_of_zero():
    (chunk,) = make_chunks(uuid4(), 1, points([np.nan], steps=[-0.0]))

    assert (chunk.minimum, chunk.maximum, chunk.total) == (None, None, 0)
    assert str(chunk.first_step) == "0.0"


@given(any_points(steps=finite_steps), any_points(steps=finite_steps))
def test_adding_in_two_parts_is_adding_at_once(first, second):
    in_parts, at_once = series(), series()
    for part in (first, second):
        if len(part):
            add_to_summary(in_parts, part.sorted_by_step())
    both = concatenate([first, second])
    if len(both):
        add_to_summary(at_once, both.sorted_by_step())

    for name in WHOLE + TIMES:
        assert getattr(in_parts, name) == getattr(at_once, name), name
    assert np.isfinite([in_parts.total, at_once.total]).all()


@pytest.mark.parametrize(
    ("values", "number", "is_nan"),
    [([1, np.nan], None, True), ([1, -np.inf], -np.inf, False), ([1, 2], 2, False)],
)
def test_the_last_value_is_kept_also_when_it_is_no_number(values, number, is_nan):
    attribute = series()

    add_to_summary(attribute, points(values))

    assert (attribute.number, attribute.is_nan) == (number, is_nan)

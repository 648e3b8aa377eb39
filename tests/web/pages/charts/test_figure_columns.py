"""Figures that a browser assembles from partial answers equal the whole figure."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.web.figures.plotly_schema import DrawnLine, numbers
from web.figures.series import NamedLine, series_figure
from web.figures.smoothing import NO_SMOOTHING, Smoothing
from web.pages.charts.figure_columns import bundled, packed

finite = st.floats(-1e6, 1e6)
points = st.lists(st.one_of(finite, st.just(np.nan), st.just(np.inf)), max_size=12)


def figure_of(values, *, is_exact=False, smoothing=NO_SMOOTHING):
    band = ([value - 1 for value in values], [value + 1 for value in values])
    line = DrawnLine(values, band=None if is_exact else band)
    return series_figure([NamedLine(line, "loss")], smoothing=smoothing)


def unpacked(body, held=(), plain=None):
    """Return the header, the arrays as they are now, and how many numbers were sent.

    The header has the figure that the browser holds where it was not sent again.
    """
    assert body[:4] == b"SMP\x01"
    start = 8 + int.from_bytes(body[4:8], "little")
    header = json.loads(body[8:start])
    header.setdefault("figure", plain)
    columns = [
        np.frombuffer(body, "<" + dtype, count, start + offset)
        for dtype, offset, count in header["columns"]
    ]
    arrays = []
    for number, array in enumerate(header["arrays"]):
        sent = columns[array["column"]].reshape(-1, array["width"])
        first, last = array["first"], array["last"]
        kept = held[number] if first + last else sent[:0]
        arrays.append(np.concatenate([kept[:first], sent, kept[len(kept) - last :]]))
    return header, arrays, sum(column.size for column in columns)


def same(figure, header, arrays):
    """Compare with the JSON figure, which has its arrays inline."""
    expected = json.loads(json.dumps(figure))
    found = header["figure"]
    for wanted, trace in zip(expected["data"], found["data"], strict=True):
        for name, value in wanted.items():
            if isinstance(value, dict) and "bdata" in value:
                array = arrays[trace[name]["array"]]
                np.testing.assert_array_equal(
                    np.squeeze(array, axis=1) if "shape" not in value else array,
                    numbers(value),
                )
            else:
                assert trace[name] == value
    assert found["layout"] == expected["layout"]


@given(
    st.lists(st.tuples(points, st.booleans()), min_size=1, max_size=4),
    st.sampled_from([0.0, 0.6]),
)
def test_putting_together_gives_the_whole_figure(steps, smoothing):
    values, since, arrays, plain = [], "", [], None
    for new, is_exact in steps:
        values = [*values, *new]
        figure = figure_of(values, is_exact=is_exact, smoothing=Smoothing(smoothing))

        header, arrays, _ = unpacked(packed(figure, since), arrays, plain)

        same(figure, header, arrays)
        since, plain = header["since"], header["figure"]


@pytest.mark.parametrize("gap", [None, 100])
def test_what_is_new_of_a_band_and_its_line_is_a_handful_of_numbers(gap):
    values = np.sin(np.arange(301)).tolist()
    if gap is not None:
        values[gap] = np.nan
    before = figure_of(values[:300], smoothing=Smoothing(0.6))
    header, arrays, whole = unpacked(packed(before, ""))

    after = figure_of(values, smoothing=Smoothing(0.6))
    body = packed(after, header["since"])
    header, arrays, new = unpacked(body, arrays, header["figure"])

    same(after, header, arrays)
    assert whole > 1_500
    assert new < 30


def test_its_words_are_not_sent_again():
    before = packed(figure_of([1.0] * 50), "")
    header, _, _ = unpacked(before)

    after = packed(figure_of([1.0] * 50 + [2.0]), header["since"])

    assert b'"layout"' in before
    assert b'"layout"' not in after
    assert len(after) < 650


def test_many_figures_come_one_after_another_and_some_not_at_all():
    body = bundled([b"first", b"", b"third"])

    assert body == b"\x05\0\0\0first\0\0\0\0\x05\0\0\0third"


def test_equal_arrays_are_sent_once():
    lines = [NamedLine(DrawnLine([1.0, 2.0, 3.0]), name) for name in ("a", "b")]

    header, _, count = unpacked(packed(series_figure(lines), ""))

    assert len(header["columns"]) == 2
    assert count == 6


def test_another_figure_is_sent_in_whole():
    header, arrays, _ = unpacked(packed(figure_of([1.0] * 50), ""))
    other = figure_of([2.0] * 80, is_exact=True)

    header, arrays, _ = unpacked(packed(other, header["since"]), arrays)

    same(other, header, arrays)

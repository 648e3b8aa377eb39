from __future__ import annotations

import io
import struct

import pytest

from seamark.importers.tensorboard import (
    Bins,
    Damaged,
    Picture,
    read_event,
    read_record,
)
from tests.agent.event_files import doubles, event, message, record, scalar, tensor

FLOAT, DOUBLE, INTEGER, LONG, STRING = 1, 2, 3, 9, 7
LARGEST = 1.7976931348623157e308


def values_of(*values: bytes, plugins=None):
    return read_event(event(3, *values), {} if plugins is None else plugins).values


def test_a_scalar_has_its_tag_step_and_time():
    read = read_event(event(7, scalar("loss", 0.5), wall_time=12.5), {})

    assert read == (7, 12.5, [("loss", 0.5)])


def test_a_negative_step_keeps_its_sign():
    assert read_event(event(-2, scalar("loss", 0.5)), {}).step == -2


@pytest.mark.parametrize(
    "fields",
    [
        [(1, FLOAT), (4, struct.pack("<f", 4.0))],
        [(1, FLOAT), (5, struct.pack("<f", 4.0))],
        [(1, DOUBLE), (6, doubles(4.0))],
        [(1, INTEGER), (7, b"\x04")],
        [(1, LONG), (10, b"\x04")],
        [(1, LONG), (10, 4)],
    ],
    ids=["content", "floats", "doubles", "integers", "longs", "one long"],
)
def test_a_scalar_of_tensorflow_2_is_read_from_its_tensor(fields):
    assert values_of(tensor("loss", "scalars", *fields)) == [("loss", 4.0)]


def test_a_plugin_that_was_named_once_counts_for_later_values():
    plugins = {}
    number = (1, DOUBLE), (6, doubles(4.0))

    values_of(tensor("loss", "scalars", *number), plugins=plugins)

    assert values_of(tensor("loss", None, *number), plugins=plugins) == [("loss", 4.0)]


def test_values_of_other_plugins_are_left_out():
    assert values_of(tensor("curve", "pr_curves", (1, DOUBLE), (6, doubles(1)))) == []


def test_outer_bins_of_a_histogram_end_at_its_range():
    histogram = message(
        (1, -1.0),
        (2, 3.0),
        (6, doubles(-2.0, 0.0, 2.0, LARGEST)),
        (7, doubles(0.0, 4.0, 5.0, 6.0)),
    )

    assert values_of(message((1, "w"), (5, histogram))) == [
        ("w", Bins([-1.0, 0.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    ]


def test_a_histogram_of_tensorflow_2_is_read_from_rows():
    rows = doubles(0.0, 1.0, 2.0, 1.0, 2.0, 3.0)

    assert values_of(tensor("w", "histograms", (1, DOUBLE), (4, rows))) == [
        ("w", Bins([0.0, 1.0, 2.0], [2.0, 3.0]))
    ]


def test_equal_values_get_a_bin_around_them():
    rows = doubles(2.0, 2.0, 7.0)

    assert values_of(tensor("w", "histograms", (1, DOUBLE), (4, rows))) == [
        ("w", Bins([1.5, 2.5], [7.0]))
    ]


def test_no_count_is_lost_in_bins_without_width_or_beyond_the_limit():
    rows = [(0.0, 0.0, 1.0), *((float(n), n + 1.0, 2.0) for n in range(1000))]
    packed = doubles(*(number for row in rows for number in row))

    ((_, bins),) = values_of(tensor("w", "histograms", (1, DOUBLE), (4, packed)))

    assert sum(bins.counts) == 2001.0
    assert len(bins.counts) <= 512
    assert bins.edges == sorted(set(bins.edges))
    assert (bins.edges[0], bins.edges[-1]) == (0.0, 1000.0)
    assert len(bins.edges) == len(bins.counts) + 1


def test_an_empty_histogram_is_left_out():
    assert values_of(tensor("w", "histograms", (1, DOUBLE), (4, b""))) == []


def test_pictures_of_one_step_are_numbered_from_the_second_on():
    strings = [(8, b"2"), (8, b"3"), (8, b"first"), (8, b"second")]

    assert values_of(tensor("cat", "images", (1, STRING), *strings)) == [
        ("cat", Picture(b"first")),
        ("cat/1", Picture(b"second")),
    ]


def test_an_image_of_pytorch_is_its_encoded_bytes():
    image = message((1, 2), (2, 3), (3, 3), (4, b"\x89PNG"))

    assert values_of(message((1, "cat"), (4, image))) == [("cat", Picture(b"\x89PNG"))]


def test_a_text_loses_the_ending_that_pytorch_appends():
    strings = (1, STRING), (8, b"a"), (8, "ü")

    assert values_of(tensor("note/text_summary", "text", *strings)) == [
        ("note", "a\nü")
    ]


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_record_that_is_not_complete_is_awaited(cut):
    data = record(event(1, scalar("loss", 0.5)))

    assert read_record(io.BytesIO(data[:-cut]), 1000) == (None, 0)


def test_a_record_that_is_too_large_is_skipped():
    data = record(b"x" * 100)

    assert read_record(io.BytesIO(data), 99) == (None, len(data))
    assert read_record(io.BytesIO(data), 100) == (b"x" * 100, len(data))


def test_bytes_that_are_no_record_are_reported():
    with pytest.raises(Damaged):
        read_record(io.BytesIO(b"\x01" * 100), 1000)


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_damaged_event_raises_nothing_but_value_error(cut):
    data = event(1, tensor("w", "histograms", (1, DOUBLE), (4, doubles(1, 2, 3))))

    try:
        read_event(data[:-cut], {})
    except ValueError:
        return
    pytest.fail("a cut event was read")

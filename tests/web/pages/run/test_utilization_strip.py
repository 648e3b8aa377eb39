"""Strips as rectangles."""

from __future__ import annotations

from web.pages.run.utilization_strip import StripPart, shown_strip


def test_neighbors_of_about_the_same_value_are_one_rectangle():
    strip = shown_strip("GPU", [0.0, 1.0, 99.0, None, 50.0])

    assert strip is not None
    assert strip.parts == (
        StripPart(0, 2, "0"),
        StripPart(2, 1, "1"),
        StripPart(4, 1, "0.5"),
    )


def test_says_the_same_in_words():
    strip = shown_strip("GPU", [0.0, 100.0])

    assert strip is not None
    assert "mean 50 %" in strip.summary
    assert "min 0 %" in strip.summary


def test_nothing_measured_is_no_strip():
    assert shown_strip("GPU", [None, None]) is None
    assert shown_strip("GPU", []) is None

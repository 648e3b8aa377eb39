from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from web.templatetags.format import (
    ago,
    breakable,
    bytes_size,
    duration,
    moment,
    number,
    percent,
    share,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0"),
        (0.0, "0"),
        (True, "true"),
        (1_234_567, "1,234,567"),
        (2**60, "1,152,921,504,606,846,976"),
        (-3, "\u22123"),
        (0.123456, "0.1235"),
        (12.3, "12.3"),
        (9.99999, "10"),
        (1234.5, "1,234"),
        (0.00001234, "1.234e\u22125"),
        (2e20, "2e20"),
        (float("nan"), "NaN"),
        (float("inf"), "∞"),
        (float("-inf"), "\u2212∞"),
    ],
)
def test_a_number_keeps_four_digits(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (0, "0 ms"),
        (0.0123456, "12.3 ms"),
        (0.9994, "999 ms"),
        (3.44, "3.4 s"),
        (312, "5 min 12 s"),
        (59.97, "1 min"),
        (3_600, "1 h"),
        (7_500, "2 h 5 min"),
        (90_000, "1 d 1 h"),
        (-5, "\u22125 s"),
        (timedelta(minutes=2), "2 min"),
    ],
)
def test_a_duration_has_the_two_units_that_matter(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0 %"), (0.456, "46 %"), (0.0456, "4.6 %"), (1.0, "100 %")],
)
def test_a_share_is_shown_as_a_percentage(value, text):
    assert share(value) == text


def test_a_percentage_is_shown_as_it_is():
    assert percent(45.6) == "46 %"
    assert percent(float("inf")) == "–"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (23.5 * 2**30, "23.5 GiB"),
        (80 * 2**30, "80 GiB"),
        (-2048, "\u22122 KiB"),
        (float("inf"), "–"),
    ],
)
def test_a_size_is_shown_in_binary_units(value, text):
    assert bytes_size(value) == text


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (timedelta(seconds=-30), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=3), "3 min ago"),
        (timedelta(hours=47), "47 h ago"),
        (timedelta(days=3), "3 days ago"),
        (timedelta(days=100), "13 Aug 2026"),
    ],
)
def test_says_how_long_ago_something_was(before, text):
    assert ago(NOW - before, NOW) == text


def test_what_never_happened_is_a_dash():
    assert ago(None) == "–"
    assert moment(None) == "–"


def test_a_moment_is_marked_up_for_the_readers_time_zone():
    html = moment(NOW)

    assert 'datetime="2026-11-21T12:00:00+00:00"' in html
    assert "21 Nov 2026, 12:00 UTC" in html


def test_a_path_breaks_after_its_separators_and_stays_text():
    assert breakable("train/<i>_a") == "train/<wbr>&lt;i&gt;_<wbr>a<wbr>"

"""Times of logs, and the zones that they leave out."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from seamark.importers.log_times import (
    PUT_BACK,
    LogTimes,
    UnknownZone,
    to_moment,
    zone_of,
)
from seamark.importers.problems import Problems

NOON = round(datetime(2026, 8, 12, 12, tzinfo=timezone.utc).timestamp() * 1_000_000)


@pytest.mark.parametrize(
    "text",
    [
        "2026/08/12 12:00:00.000",
        "2026/08/12 12:00:00,000",
        "2026-08-12T12:00:00Z",
        "2026-08-12 14:00:00+02:00",
        "20260812 12:00:00",
        "20260812   12:00:00",
        str(NOON // 1_000_000),
        f"{NOON // 1_000_000}.000",
        str(NOON // 1_000),
        f"{NOON}000",
    ],
)
def test_times_are_understood_as_they_are_written(text):
    assert to_moment(text, zone_of("UTC")) == NOON


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "2026-08-12 12:00:00"),
        ("+02:00", "2026-08-12 14:00:00"),
        ("-0330", "2026-08-12 08:30:00"),
        ("Europe/Berlin", "2026-08-12 14:00:00"),
    ],
)
def test_a_zone_says_when_it_was(zone, text):
    try:
        known = zone_of(zone)
    except UnknownZone:
        pytest.skip("this machine has no zones")
    assert to_moment(text, known) == NOON


def test_the_machines_zone_is_the_usual_one():
    text = datetime.fromtimestamp(NOON / 1e6).strftime("%Y-%m-%d %H:%M:%S")  # noqa: DTZ006

    assert to_moment(text, zone_of(None)) == NOON


@pytest.mark.parametrize(
    "text",
    ["", "x", "12:00:00", "2026/13/12 12:00:00", "2026/02/30 12:00:00", "9999/12/31 23:59:59",
     "1969/01/01 00:00:00", "2026/08/12 25:00:00", "2026/08/12 12:00:00+99:99"],
)  # fmt: skip
def test_what_is_no_time_is_none(text):
    assert to_moment(text, zone_of("UTC")) is None


@pytest.mark.parametrize(
    "zone", ["Nowhere/City", "+99:00", "../../etc/passwd", "\0", "x" * 9_999]
)
def test_what_is_no_zone_is_refused(zone):
    with pytest.raises(UnknownZone):
        zone_of(zone)


def seconds_of(zone, *times):
    """Return a log's times in seconds after the first, and the notes."""
    problems = Problems()
    log = LogTimes(zone, problems)
    moments = [log.read(f"2026-10-25 {time}", line) for line, time in enumerate(times)]
    return [(moment - moments[0]) / 1e6 for moment in moments], problems.causes


def test_the_hour_that_comes_twice_goes_on_with_its_log(berlin):
    found = seconds_of(
        berlin, "02:59:59", "02:00:00", "02:00:01", "02:50:00", "03:00:00"
    )

    assert found == ([0, 1, 2, 3001, 3601], {PUT_BACK: ([1], 1)})


def test_a_log_that_pauses_or_goes_back_a_bit_is_still_in_the_first_hour(berlin):
    found = seconds_of(berlin, "02:10:00", "02:50:00", "02:49:59.9")

    assert found == ([0, 2400, 2399.9], {})


def test_the_hour_that_never_comes_goes_on(berlin):
    log = LogTimes(berlin, Problems())
    before, after = (
        log.read(f"2026-03-29 {time}", 1) for time in ("01:59:59", "03:00:00")
    )

    assert after - before == 1_000_000

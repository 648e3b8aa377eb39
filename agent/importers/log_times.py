"""Parses times in logs, with the time zone that they omit (pure)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from seamark.importers.problems import Problems

_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})")
_MOMENT = re.compile(
    r"(\d{4})[/.-]?(\d{2})[/.-]?(\d{2})[ T]+(\d{1,2}):(\d{2}):(\d{2})"
    r"(?:[.,](\d{1,9}))?\s*(Z|[+-]\d{2}:?\d{2})?"
)
_COUNT = re.compile(r"(\d{10}|\d{13}|\d{16}|\d{19})(?:\.(\d{1,9}))?")
_EARLIEST_YEAR = 1970
_LATEST_YEAR = 9_998  # the last year but one, so that no time zone exceeds the range
_BACK = 60_000_000  # microseconds that a log may go back without a clock change
# Reported for the first such line of a log.
PUT_BACK = "clocks were set back here, so this hour repeats"


class UnknownZone(ValueError):
    """Unknown time zone name."""


def zone_of(text: str | None) -> tzinfo | None:
    """Return a time zone: `UTC`, `+02:00` or `Europe/Berlin`; None is the local one."""
    if not text or text == "local":
        return None
    if text.upper() in ("UTC", "Z"):
        return timezone.utc
    offset = _OFFSET.fullmatch(text)
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3])
        signed = timedelta(minutes=-minutes if offset[1] == "-" else minutes)
        try:
            return timezone(signed)
        except ValueError:
            raise UnknownZone(text) from None
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UnknownZone(text) from None


def to_moment(text: str, zone: tzinfo | None) -> int | None:
    """Return microseconds since 1970; None if the text is not a time.

    An ambiguous hour after a clock change is the first one.
    """
    return next(iter(_possible(text, zone)), None)


class LogTimes:
    """The increasing times of one log, which resolve ambiguous hours."""

    def __init__(self, zone: tzinfo | None, problems: Problems) -> None:
        self._zone = zone
        self._problems = problems
        self._is_reported = False
        self.last: int | None = None  # microseconds since 1970

    def read(self, text: str, line: int) -> int | None:
        """Return microseconds since 1970; None if the text is not a time."""
        possible = _possible(text, self._zone)
        if not possible:
            return None
        # Times increase, except for lines of several GPUs and clock corrections.
        earliest = possible[0] if self.last is None else self.last - _BACK
        moment = next((one for one in possible if one >= earliest), possible[0])
        if moment != possible[0] and not self._is_reported:
            self._is_reported = True
            self._problems.add(PUT_BACK, line)
        self.last = moment
        return moment


def _since_1970(text: str) -> int | None:
    """Return microseconds for a number of s, ms, us or ns since 1970."""
    match = _COUNT.fullmatch(text)
    if match is None:
        return None
    whole, fraction = match[1], match[2] or ""
    # Ten digits are seconds from 2001 to 2286; three more are milliseconds, and so on.
    digits = whole + fraction
    return int(digits[:16].ljust(16, "0"))


def _possible(text: str, zone: tzinfo | None) -> list[int]:
    """Return the possible times in order: none, one or two."""
    counted = _since_1970(text.strip())
    if counted is not None:
        return [counted]
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        return []
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    if not _EARLIEST_YEAR <= year <= _LATEST_YEAR:
        return []
    microsecond = int((match[7] or "0")[:6].ljust(6, "0"))
    try:
        plain = datetime(  # noqa: DTZ001 - the zone is set next
            year, month, day, hour, minute, min(second, 59), microsecond
        )
        own_zone = zone_of(match[8]) if match[8] else zone
        first = _at(plain, own_zone)
        # In a skipped hour in spring it would be before the first.
        again = _at(plain.replace(fold=1), own_zone)
    except (ValueError, OverflowError, OSError):
        return []
    if first < 0:
        return []
    return [first, again] if again > first else [first]


def _at(plain: datetime, zone: tzinfo | None) -> int:
    aware = plain.astimezone() if zone is None else plain.replace(tzinfo=zone)
    return round(aware.timestamp() * 1_000_000)

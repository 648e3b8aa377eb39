"""Times as logs write them, with the zone that they leave out (pure)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from seamark.importers.noted import Noted

_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})")
_MOMENT = re.compile(
    r"(\d{4})[/.-]?(\d{2})[/.-]?(\d{2})[ T]+(\d{1,2}):(\d{2}):(\d{2})"
    r"(?:[.,](\d{1,9}))?\s*(Z|[+-]\d{2}:?\d{2})?"
)
_COUNT = re.compile(r"(\d{10}|\d{13}|\d{16}|\d{19})(?:\.(\d{1,9}))?")
_EARLIEST_YEAR = 1970
_LATEST_YEAR = 9_998  # one before the last, so that no zone leads beyond
_BACK = 60_000_000  # microseconds that a log goes back without meaning an hour
# Told of the first such line of a log.
PUT_BACK = "clocks were put back here, so this hour comes a second time"


class UnknownZone(ValueError):
    """No zone has that name."""


def zone_of(text: str | None) -> tzinfo | None:
    """Return a zone: `UTC`, `+02:00` or `Europe/Berlin`; None is this machine's."""
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
    """Return microseconds since 1970, or None for what is no time.

    Of the hour that comes twice when clocks are put back, it is in the first.
    """
    return next(iter(_possible(text, zone)), None)


class LogTimes:
    """The times of one log, which go on: so the hour that comes twice is told apart."""

    def __init__(self, zone: tzinfo | None, noted: Noted) -> None:
        self._zone = zone
        self._noted = noted
        self._is_told = False
        self.last: int | None = None  # microseconds since 1970

    def read(self, text: str, line: int) -> int | None:
        """Return microseconds since 1970, or None for what is no time."""
        possible = _possible(text, self._zone)
        if not possible:
            return None
        # Logs go on, but for lines of several GPUs and clocks that are put right.
        earliest = possible[0] if self.last is None else self.last - _BACK
        moment = next((one for one in possible if one >= earliest), possible[0])
        if moment != possible[0] and not self._is_told:
            self._is_told = True
            self._noted.add(PUT_BACK, line)
        self.last = moment
        return moment


def _since_1970(text: str) -> int | None:
    """Return microseconds for a count of seconds, or of ms, us or ns, since 1970."""
    match = _COUNT.fullmatch(text)
    if match is None:
        return None
    whole, fraction = match[1], match[2] or ""
    # Ten digits are seconds from 2001 to 2286; three more are milliseconds, and so on.
    digits = whole + fraction
    return int(digits[:16].ljust(16, "0"))


def _possible(text: str, zone: tzinfo | None) -> list[int]:
    """Return the moments that may be meant, in order: none, one or two."""
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
        plain = datetime(  # noqa: DTZ001 - the zone is given next
            year, month, day, hour, minute, min(second, 59), microsecond
        )
        told = zone_of(match[8]) if match[8] else zone
        first = _at(plain, told)
        # Of an hour that is left out, in spring, it would be before the first.
        again = _at(plain.replace(fold=1), told)
    except (ValueError, OverflowError, OSError):
        return []
    if first < 0:
        return []
    return [first, again] if again > first else [first]


def _at(plain: datetime, zone: tzinfo | None) -> int:
    aware = plain.astimezone() if zone is None else plain.replace(tzinfo=zone)
    return round(aware.timestamp() * 1_000_000)

"""Times as logs write them, with the zone that they leave out (pure)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})")
_MOMENT = re.compile(
    r"(\d{4})[/.-]?(\d{2})[/.-]?(\d{2})[ T]+(\d{1,2}):(\d{2}):(\d{2})"
    r"(?:[.,](\d{1,9}))?\s*(Z|[+-]\d{2}:?\d{2})?"
)
_EARLIEST_YEAR = 1970
_LATEST_YEAR = 9_998  # one before the last, so that no zone leads beyond


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
    """Return microseconds since 1970, or None for what is no time."""
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    if not _EARLIEST_YEAR <= year <= _LATEST_YEAR:
        return None
    microsecond = int((match[7] or "0")[:6].ljust(6, "0"))
    try:
        plain = datetime(  # noqa: DTZ001 - the zone is given next
            year, month, day, hour, minute, min(second, 59), microsecond
        )
        told = zone_of(match[8]) if match[8] else zone
        aware = plain.astimezone() if told is None else plain.replace(tzinfo=told)
        moment = round(aware.timestamp() * 1_000_000)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment >= 0 else None

"""Interprets the server's responses (pure), following the table in docs/protocol.md."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from enum import Enum
from http import HTTPStatus
from typing import Any

_LONGEST_WAIT_SECONDS = 3600.0
_RUN_CLOSED = "run_finished"


class Meaning(Enum):
    """The action a response requires from the agent."""

    STORED = "drop the frames up to a number"
    MALFORMED = "send the frames one by one and set aside the one that fails"
    OUT_OF_ORDER = "continue from a number"
    DIFFERS = "continue in a new queue, from a number"
    TOO_LARGE = "send fewer frames at a time"
    NOT_LET_THROUGH = "send fewer frames at a time, and keep one that fails alone"
    TOO_SLOW = "send less at a time, later"
    HOLD = "keep everything and read the settings again before the next try"
    BUSY = "wait as long as the server asks"
    UNCLEAR = "wait longer each time"


@dataclass(frozen=True)
class Reply:
    """An HTTP response with a size-limited body."""

    status: int
    retry_after: str | None
    body: bytes


@dataclass(frozen=True)
class Response:
    """A parsed response."""

    meaning: Meaning
    number: int = 0
    wait_seconds: float | None = None
    text: str = ""
    is_run_closed: bool = False
    # Frames after `number` that the server already stores, when others are rejected.
    stored: tuple[int, ...] = ()
    refused: list[dict[str, Any]] = field(default_factory=list)
    refused_count: int = 0
    # The run's id; "" if the response does not contain it.
    run_id: str = ""
    # The run's name if the server numbered it; "" otherwise.
    numbered_name: str = ""


_MEANINGS: dict[int, Meaning] = {
    HTTPStatus.REQUEST_TIMEOUT: Meaning.TOO_SLOW,
    HTTPStatus.CONFLICT: Meaning.OUT_OF_ORDER,
    HTTPStatus.TOO_MANY_REQUESTS: Meaning.BUSY,
    HTTPStatus.SERVICE_UNAVAILABLE: Meaning.BUSY,
}


def judge(reply: Reply, *, now: float) -> Response:
    """Parse a response; `now` is seconds since 1970, used for dates in `Retry-After`."""
    content = content_of(reply.body)
    if reply.status == HTTPStatus.OK:
        return _stored(content)
    text = f"{reply.status} {_error_text(content)}".strip()
    code = _error_field(content, "code")
    meaning = _meaning(reply.status, code)
    if meaning is Meaning.OUT_OF_ORDER:
        return _out_of_order(content, text)
    if reply.status == HTTPStatus.UNPROCESSABLE_ENTITY:
        return _differs(content, text)
    if meaning is Meaning.BUSY:
        return Response(
            meaning, wait_seconds=retry_after(reply.retry_after, now), text=text
        )
    return Response(meaning, text=text, is_run_closed=code == _RUN_CLOSED)


def is_not_found(reply: Reply) -> bool:
    """Return whether the server itself, not a proxy, reports that the resource is
    missing.
    """
    code = _error_field(content_of(reply.body), "code")
    return reply.status == HTTPStatus.NOT_FOUND and code == "not_found"


def _meaning(status: int, code: object) -> Meaning:
    """Map a status and the optional error code of the server to an action."""
    # Only the server may cause a frame to be dropped. A proxy, or another program at
    # the same address, sends these statuses too.
    if status == HTTPStatus.BAD_REQUEST:
        return Meaning.MALFORMED if code == "malformed_batch" else Meaning.UNCLEAR
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return Meaning.TOO_LARGE if code == "too_large" else Meaning.NOT_LET_THROUGH
    return _MEANINGS.get(status) or _meaning_of_class(status)


def _meaning_of_class(status: int) -> Meaning:
    """Map a status without an entry in the table to an action."""
    # Redirects are not followed: they could send the token to another host.
    is_ours_to_mend = (
        HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    )
    return Meaning.HOLD if is_ours_to_mend else Meaning.UNCLEAR


def _out_of_order(content: dict[str, Any], text: str) -> Response:
    expected = _error_field(content, "expected")
    if isinstance(expected, int) and expected > 0:
        return Response(Meaning.OUT_OF_ORDER, number=expected, text=text)
    return Response(Meaning.UNCLEAR, text=text)


def _differs(content: dict[str, Any], text: str) -> Response:
    first, stored = _error_field(content, "first"), _error_field(content, "stored")
    if isinstance(first, int) and isinstance(stored, list):
        numbers = tuple(number for number in stored if isinstance(number, int))
        return Response(Meaning.DIFFERS, number=first, stored=numbers, text=text)
    # Another kind of 422, or the response of an older server.
    return Response(Meaning.HOLD, text=text)


def _stored(content: dict[str, Any]) -> Response:
    number = content.get("stored")
    # A captive portal also returns 200, but without frame numbers.
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        return Response(Meaning.UNCLEAR, text="200, but not from a tracker")
    listed = content.get("refused")
    refused = (
        [r for r in listed if isinstance(r, dict)] if isinstance(listed, list) else []
    )
    count = content.get("refused_count")
    run_id, name = content.get("run"), content.get("numbered_name")
    return Response(
        Meaning.STORED,
        number=number,
        refused=refused,
        refused_count=count if isinstance(count, int) else len(refused),
        run_id=run_id if isinstance(run_id, str) else "",
        numbered_name=name if isinstance(name, str) else "",
    )


# Any: JSON from a server that is not trusted.
def content_of(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body, or an empty dict if it holds none."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _error_field(content: dict[str, Any], name: str) -> object:
    error = content.get("error")
    nested = error.get(name) if isinstance(error, dict) else None
    return content.get(name) if nested is None else nested


def _error_text(content: dict[str, Any]) -> str:
    code, message = _error_field(content, "code"), _error_field(content, "message")
    return f"{code or ''} {message or ''}".strip()[:300]


def retry_after(text: str | None, now: float) -> float | None:
    """Return the seconds of a `Retry-After` header; None if it is absent or invalid."""
    if text is None:
        return None
    try:
        seconds = float(text) if text.strip().isdigit() else _seconds_until(text, now)
    except (ValueError, TypeError, OverflowError):
        return None
    # A server that sends 0 or a past date sends it each time; ignore it to keep the
    # backoff.
    return min(seconds, _LONGEST_WAIT_SECONDS) if seconds > 0 else None


def _seconds_until(date: str, now: float) -> float:
    return parsedate_to_datetime(date).timestamp() - now

"""Encodes the start of a page of runs as an opaque text.

It contains the sort values of the last run, not an offset, so runs that are added meanwhile
neither repeat nor hide others. It is signed, so its content can be trusted.
"""

from __future__ import annotations

import base64
from datetime import datetime
from uuid import UUID

import msgspec
from django.core import signing

from tracker.errors import InvalidInput
from tracker.queries.runs.order import RunOrder
from tracker.queries.runs.segments import Place

# Change it when the sort values change.
SALT = "runs-cursor-1"


def cursor_at(place: Place, order: RunOrder, now: datetime) -> str:
    """`now` is the time of the first page's request, because the order depends on it."""
    packed = msgspec.msgpack.encode([now, place.segment, place.keys, place.run_id])
    text = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    return _signer(order).sign(text)


def place_of(cursor: str, order: RunOrder) -> tuple[Place, datetime]:
    try:
        text = _signer(order).unsign(cursor)
    except signing.BadSignature as error:
        raise InvalidInput(
            "cursor", "does not belong to this order; start again without it"
        ) from error
    packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    now, segment, keys, run_id = msgspec.msgpack.decode(packed)
    return Place(segment, tuple(keys), UUID(run_id)), now


def _signer(order: RunOrder) -> signing.Signer:
    return signing.Signer(salt=f"{SALT}{order}", sep="~")

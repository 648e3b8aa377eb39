"""Where a page of runs begins, as a text that only its order understands.

It says what the last run was sorted by, not how many came before: runs that are added
meanwhile neither repeat nor hide any. It is signed, so that what comes back needs no
mistrust.
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

# Changes when what is sorted by does.
SALT = "runs-cursor-1"


def cursor_at(place: Place, order: RunOrder, now: datetime) -> str:
    """`now` is when the first page was asked for: the order is that of the moment."""
    packed = msgspec.msgpack.encode([now, place.segment, place.keys, place.run_id])
    text = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    return _signer(order).sign(text)


def place_of(cursor: str, order: RunOrder) -> tuple[Place, datetime]:
    try:
        text = _signer(order).unsign(cursor)
    except signing.BadSignature as error:
        raise InvalidInput(
            "cursor", "is not one of this order; start again without it"
        ) from error
    packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    now, segment, keys, run_id = msgspec.msgpack.decode(packed)
    return Place(segment, tuple(keys), UUID(run_id)), now


def _signer(order: RunOrder) -> signing.Signer:
    return signing.Signer(salt=f"{SALT}{order}", sep="~")

"""Sends blocks of rows without the rows that the client has cached.

The version of a block contains a digest of each row, so that the version in a request
lists the rows that the client has. In the answer, each of those rows is replaced by a
number: its index among the cached rows, where pinned rows follow the others. The digest
covers exactly the content to send, so no change is missed, whichever clock or row
order.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified

from tracker.server.etags import is_held, versions_held

DIGEST_BYTES = 9
DIGEST_CHARACTERS = DIGEST_BYTES * 4 // 3
LISTS = ("rows", "top")
# A block plus the pinned rows.
MAX_ROWS = 200

# Any JSON value.
Json = dict[str, Any]


def rows_answer(request: HttpRequest, block: Json) -> HttpResponse:
    """Answer the rows that are new to the client; 304 if none is."""
    version = version_of(block)
    headers = {"ETag": f'"{version}"'}
    if is_held(request, version):
        return HttpResponseNotModified(headers=headers)
    content = _less(block, _cached_places(request))
    return HttpResponse(
        orjson.dumps(content), content_type="application/json", headers=headers
    )


def version_of(block: Json) -> str:
    others = {name: value for name, value in block.items() if name not in LISTS}
    lengths = [len(block[name]) for name in LISTS]
    rows = [row for name in LISTS for row in block[name]]
    return "".join(map(_digest, [[others, lengths], *rows]))


def _less(block: Json, places: Mapping[str, int]) -> Json:
    def less(rows: Sequence[Json]) -> list[Json | int]:
        return [places.get(_digest(row), row) for row in rows] if places else [*rows]

    return {**block, **{name: less(block[name]) for name in LISTS}}


def _cached_places(request: HttpRequest) -> dict[str, int]:
    """Return the places of the rows that the asker holds; none if that makes no sense."""
    versions = versions_held(request)
    if len(versions) != 1:
        return {}
    (version,) = versions
    count, rest = divmod(len(version), DIGEST_CHARACTERS)
    if rest or not 1 < count <= MAX_ROWS:
        return {}
    digests = [
        version[start : start + DIGEST_CHARACTERS]
        for start in range(DIGEST_CHARACTERS, len(version), DIGEST_CHARACTERS)
    ]
    return {digest: place for place, digest in enumerate(digests)}


# Any: a JSON value.
def _digest(value: Any) -> str:
    digest = hashlib.blake2b(orjson.dumps(value), digest_size=DIGEST_BYTES)
    return base64.urlsafe_b64encode(digest.digest()).decode()

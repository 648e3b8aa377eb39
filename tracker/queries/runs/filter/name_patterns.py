"""Runs whose names match a regular expression."""

from __future__ import annotations

import orjson
from django.db import connection
from django.db.models import BooleanField, F, Func, Q, Value

from tracker.models import Run
from tracker.patterns import matcher
from tracker.queries.runs.columns import Unnested
from tracker.queries.runs.packed import (
    BYTES_OF_ID,
    PackedIds,
    PackedTexts,
    packed_bytes,
)

CHARACTERS_OF_ID = 2 * BYTES_OF_ID


class MatchesPattern(Func):
    """True where a text matches a regular expression: a function of our SQLite."""

    function = "matches_pattern"
    output_field = BooleanField()


def name_matches(pattern: str, project_id: int) -> Q:
    """Return the condition on rows of runs.

    PostgreSQL's expressions differ from RE2's, so there the names are matched here.
    """
    if connection.vendor == "sqlite":
        return Q(MatchesPattern(F("name"), Value(pattern)))
    runs = Run.objects.filter(project_id=project_id).not_in_trash()
    packed = runs.aggregate(ids=PackedIds("id"), names=PackedTexts("name"))
    matches, ids = matcher(pattern), packed_bytes(packed["ids"]).hex()
    matching = [
        ids[place * CHARACTERS_OF_ID : (place + 1) * CHARACTERS_OF_ID]
        for place, name in enumerate(orjson.loads(packed["names"] or "[]"))
        if matches(name)
    ]
    return Q(id__in=Unnested(Value(f"{{{','.join(matching)}}}")))

"""What is known about runs by name: values, and summaries of series."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import nan
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from tracker.models import Attribute, Kind, Run
from tracker.queries.run_columns import each_of
from tracker.texts import is_storable

EVERYTHING = Q()
IS_SERIES = Q(kind=Kind.FLOAT_SERIES)
# They may be long.
TEXTS_AT_ONCE = 100
FIRST_SURROGATE, LAST_SURROGATE = 0xD800, 0xDFFF
Value = float | int | bool | str | datetime | list[str]


_READ_TEXT: dict[Kind, Callable[[str], Value]] = {
    Kind.STRING: str,
    # The beginning of its last record.
    Kind.TEXT_SERIES: str,
    Kind.INTEGER: int,
    Kind.DATETIME: datetime.fromisoformat,
    Kind.FILE: str,
}
_READ_NUMBER: dict[Kind, Callable[[float], Value]] = {
    Kind.INTEGER: int,
    Kind.BOOLEAN: bool,
}


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """One attribute; the numbers after `value` belong to series only.

    A series' summary is what compaction has counted, some seconds behind its points.
    """

    path: str
    kind: str
    value: Value | None  # of a series the last; None while nothing is known of it
    count: int
    minimum: float | None
    maximum: float | None
    mean: float | None
    first_step: float | None
    last_step: float | None
    updated_at: datetime


def plain_value(value: Value | None) -> str:
    """Return a value with all of its digits, as scripts write it; "" of none."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.astimezone(UTC).isoformat()
        case list():
            return ", ".join(value)
        case _:
            return str(value)


def list_attributes(
    run: Run, *, prefix: str = "", where: Q = EVERYTHING
) -> list[AttributeRow]:
    """Return the run's attributes whose paths begin so, by path."""
    rows = map(_row, _beginning_with(run, prefix).filter(where))
    return sorted(rows, key=lambda row: row.path)


def attribute_paths(run: Run, prefix: str = "", *, where: Q = EVERYTHING) -> list[str]:
    """Return the paths of the run's attributes that begin so, sorted.

    An index knows them: even very many are there at once.
    """
    rows = _beginning_with(run, prefix).filter(where)
    return sorted(rows.values_list("path", flat=True))


def seen_paths(
    run: Run, prefix: str = "", *, seen: Callable[[str, str], bool] | None
) -> list[str]:
    """Return the paths that begin so and that a reader sees, sorted.

    `seen` tells by kind and path what the reader sees; None: everything.
    """
    if seen is None:
        return attribute_paths(run, prefix)
    rows = _beginning_with(run, prefix).values_list("kind", "path")
    return sorted(path for kind, path in rows if seen(kind, path))


def series_paths(run: Run, prefix: str = "") -> list[str]:
    """Return the paths of the run's series that begin so, sorted."""
    return attribute_paths(run, prefix, where=IS_SERIES)


def series_count(run: Run) -> int:
    return Attribute.objects.filter(IS_SERIES, run_id=run.id).count()


def paths_of_texts(run: Run, part: str, prefix: str = "") -> list[str]:
    """Return the paths of the texts that hold another, whatever the case of letters."""
    wanted = part.casefold()
    texts = _beginning_with(run, prefix).filter(kind=Kind.STRING)
    found = texts.values_list("path", "text").iterator(TEXTS_AT_ONCE)
    return [path for path, text in found if text and wanted in text.casefold()]


def attribute_values(
    run_ids: Collection[UUID], paths: Collection[str]
) -> dict[UUID, dict[str, AttributeRow]]:
    """Return these attributes of many runs; what a run lacks is absent."""
    found: dict[UUID, dict[str, AttributeRow]] = {run_id: {} for run_id in run_ids}
    attributes = Attribute.objects.filter(
        run_id__in=each_of(run_ids), path__in=storable(paths)
    )
    for attribute in attributes:
        found[attribute.run_id][attribute.path] = _row(attribute)
    return found


def beginning_with(prefix: str) -> Q:
    """Return the condition that a path begins so, as an index finds it.

    PostgreSQL finds its own way, and the rules of some languages would mislead it.
    """
    if connection.vendor == "postgresql":
        return Q(path__startswith=prefix)
    # SQLite compares bytes, and LIKE would take capitals for small letters.
    following = _following(prefix)
    return Q(path__gte=prefix) & (Q(path__lt=following) if following else Q())


def _following(text: str) -> str:
    """Return what no text that begins so reaches; "" if there is nothing."""
    text = text.rstrip(chr(sys.maxunicode))
    if not text:
        return ""
    last = ord(text[-1])
    is_before_surrogates = last == FIRST_SURROGATE - 1
    return text[:-1] + chr(LAST_SURROGATE + 1 if is_before_surrogates else last + 1)


def storable(paths: Iterable[str]) -> list[str]:
    """Leave out texts that no stored path can be, and that databases refuse."""
    return [path for path in paths if is_storable(path)]


def _beginning_with(run: Run, prefix: str) -> QuerySet[Attribute]:
    attributes = Attribute.objects.filter(run_id=run.id)
    if not storable([prefix]):
        return attributes.none()
    return attributes.filter(beginning_with(prefix)) if prefix else attributes


def _row(attribute: Attribute) -> AttributeRow:
    finite = attribute.finite_count
    return AttributeRow(
        path=attribute.path,
        kind=attribute.kind,
        value=_value(attribute),
        count=attribute.count,
        minimum=attribute.minimum,
        maximum=attribute.maximum,
        mean=attribute.total / finite if finite else None,
        first_step=attribute.first_step,
        last_step=attribute.last_step,
        updated_at=attribute.updated_at,
    )


def _value(attribute: Attribute) -> Value | None:
    if attribute.is_nan:
        return nan
    text, number = attribute.text, attribute.number
    if text is not None:
        return _READ_TEXT[Kind(attribute.kind)](text)
    if number is not None:
        return _READ_NUMBER.get(Kind(attribute.kind), float)(number)
    return attribute.items

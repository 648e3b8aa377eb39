"""What is known about runs by name: values, and summaries of series."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from math import nan
from uuid import UUID

from django.db.models import QuerySet

from tracker.models import Attribute, Kind, Run

Value = float | int | bool | str | datetime | list[str]


_READ_TEXT: dict[Kind, Callable[[str], Value]] = {
    Kind.STRING: str,
    Kind.INTEGER: int,
    Kind.DATETIME: datetime.fromisoformat,
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


def list_attributes(run: Run, *, prefix: str = "") -> list[AttributeRow]:
    """Return the run's attributes whose paths begin so, by path."""
    rows = map(_row, _perhaps_beginning_with(run, prefix))
    found = (row for row in rows if row.path.startswith(prefix))
    return sorted(found, key=lambda row: row.path)


def series_paths(run: Run, prefix: str = "") -> list[str]:
    """Return the paths of the run's series that begin so, sorted."""
    series = _perhaps_beginning_with(run, prefix).filter(kind=Kind.FLOAT_SERIES)
    paths = series.values_list("path", flat=True)
    return sorted(path for path in paths if path.startswith(prefix))


def attribute_values(
    run_ids: Collection[UUID], paths: Collection[str]
) -> dict[UUID, dict[str, AttributeRow]]:
    """Return these attributes of many runs; what a run lacks is absent."""
    found: dict[UUID, dict[str, AttributeRow]] = {run_id: {} for run_id in run_ids}
    attributes = Attribute.objects.filter(run_id__in=run_ids, path__in=storable(paths))
    for attribute in attributes:
        found[attribute.run_id][attribute.path] = _row(attribute)
    return found


def storable(paths: Iterable[str]) -> list[str]:
    """Leave out texts that no stored path can be, and that databases refuse."""
    return [path for path in paths if "\0" not in path and _is_unicode(path)]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False  # it holds half of a surrogate pair
    return True


def _perhaps_beginning_with(run: Run, prefix: str) -> QuerySet[Attribute]:
    """Return a few too many: to SQLite capitals and small letters look the same."""
    attributes = Attribute.objects.filter(run_id=run.id)
    if not storable([prefix]):
        return attributes.none()
    return attributes.filter(path__startswith=prefix) if prefix else attributes


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

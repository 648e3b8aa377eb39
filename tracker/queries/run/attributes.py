"""Attributes of runs by path: values, and summaries of series."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from math import nan
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet, TextField
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce, Length

from tracker.errors import InvalidInput
from tracker.models import Attribute, Kind, Run
from tracker.queries.run.namespaces import MONITORING, PROFILE
from tracker.queries.runs.columns import each_of
from tracker.queries.series.metrics import is_identifier
from tracker.series.writers import Writer
from tracker.texts import is_storable

EVERYTHING = Q()
IS_SERIES = Q(kind=Kind.FLOAT_SERIES)
IS_PARAMETER = Q(is_parameter=True)
# Texts may be long.
TEXTS_AT_ONCE = 100
# Maximum size of a page; its first attribute is always included.
MAX_CHARACTERS = 4 * 1024 * 1024
MEASURED_FIRST = 64
FIRST_SURROGATE, LAST_SURROGATE = 0xD800, 0xDFFF
Value = float | int | bool | str | datetime | list[str]
# Returns whether the reader sees an attribute: (kind, path, is_parameter).
Seen = Callable[[str, str, bool | None], bool]


_READ_TEXT: dict[Kind, Callable[[str], Value | None]] = {
    Kind.NONE: lambda _: None,
    Kind.STRING: str,
    # The beginning of the last record.
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
    """One attribute; the fields after `value` belong to series only.

    A series' summary is updated by compaction, some seconds after its points.
    """

    path: str
    kind: str
    value: Value | None  # the last value of a series; None if unknown
    count: int
    minimum: float | None
    maximum: float | None
    mean: float | None
    first_step: float | None
    last_step: float | None
    updated_at: datetime
    # Processes that logged at the same time; empty for a series with one writer.
    writers: tuple[Writer, ...] = ()
    is_parameter: bool = False

    @property
    def is_metric(self) -> bool:
        """Return whether it is a measurement, for which a relative change makes sense."""
        if self.kind == Kind.FLOAT_SERIES:
            return True
        if self.is_parameter or self.path.startswith(MONITORING):
            return False
        return self.kind in {Kind.FLOAT, Kind.INTEGER} and not is_identifier(self.path)


@dataclass(frozen=True, slots=True)
class AttributePage:
    """Attributes by path, and the cursor for the next page; "" if there is none."""

    rows: tuple[AttributeRow, ...]
    next: str


def plain_value(value: Value | None) -> str:
    """Return a value with all digits, in the format of scripts; "" for None."""
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
    """Return the run's attributes whose paths begin with `prefix`, by path."""
    rows = map(_row, _beginning_with(run, prefix).filter(where))
    return sorted(rows, key=lambda row: row.path)


def attribute_page(
    run: Run, *, prefix: str = "", cursor: str = "", limit: int
) -> AttributePage:
    """Return attributes whose paths begin with `prefix`, after the cursor, by path.

    At most `limit`, and fewer if their texts are long; no text is truncated.
    """
    if not storable([cursor]):
        raise InvalidInput("cursor", "is not a valid path; start again without it")
    attributes = _beginning_with(run, prefix).filter(path__gt=cursor).order_by("path")
    # One more, to detect a further page.
    places = measured(attributes, most=limit + 1)
    count = min(limit, _fitting([size for _, size in places]))
    if not count:
        return AttributePage((), "")
    last, _ = places[count - 1]
    rows = attributes.filter(path__lte=last)
    return AttributePage(tuple(map(_row, rows)), last if count < len(places) else "")


def measured(attributes: QuerySet[Attribute], *, most: int) -> list[tuple[str, int]]:
    """Return paths and sizes of attributes, until they are too many for a page.

    In growing batches, because the database reads a text to measure it.
    """
    found: list[tuple[str, int]] = []
    characters, portion = 0, MEASURED_FIRST
    while len(found) < most and characters <= MAX_CHARACTERS:
        limit = min(portion, most - len(found))
        following = attributes.filter(path__gt=found[-1][0]) if found else attributes
        sized = following.annotate(size=_characters()).values_list("path", "size")
        some = list(sized[:limit])
        found += some
        characters += sum(size for _, size in some)
        if len(some) < limit:
            break
        # With short texts, the batch soon covers all remaining attributes.
        room = MAX_CHARACTERS * len(found) // max(1, characters) - len(found)
        portion = max(MEASURED_FIRST, min(room, 10 * portion))
    return found


def attribute_paths(run: Run, prefix: str = "", *, where: Q = EVERYTHING) -> list[str]:
    """Return the paths of the run's attributes that begin with `prefix`, sorted.

    Uses an index, so it is fast even with very many.
    """
    rows = _beginning_with(run, prefix).filter(where)
    return sorted(rows.values_list("path", flat=True))


def seen_paths(run: Run, prefix: str = "", *, seen: Seen | None) -> list[str]:
    """Return the paths that begin with `prefix` and that a reader sees, sorted.

    `seen` is None for a reader who sees everything.
    """
    if seen is None:
        return attribute_paths(run, prefix)
    rows = _beginning_with(run, prefix).values_list("kind", "path", "is_parameter")
    return sorted(path for kind, path, is_set in rows if seen(kind, path, is_set))


def series_paths(run: Run, prefix: str = "") -> list[str]:
    """Return the paths of the run's series that begin with `prefix`, sorted."""
    return attribute_paths(run, prefix, where=IS_SERIES)


def series_count(run: Run) -> int:
    return Attribute.objects.filter(IS_SERIES, run_id=run.id).count()


def paths_of_texts(run: Run, part: str, prefix: str = "") -> list[str]:
    """Return the paths of texts that contain `part`, ignoring case, except profiles."""
    needle = part.casefold()
    texts = _beginning_with(run, prefix).filter(kind=Kind.STRING)
    texts = texts.exclude(path__endswith=PROFILE)
    found = texts.values_list("path", "text").iterator(TEXTS_AT_ONCE)
    return [path for path, text in found if text and needle in text.casefold()]


def attribute_values(
    run_ids: Collection[UUID], paths: Collection[str]
) -> dict[UUID, dict[str, AttributeRow]]:
    """Return these attributes of many runs; missing attributes are absent."""
    found: dict[UUID, dict[str, AttributeRow]] = {run_id: {} for run_id in run_ids}
    attributes = Attribute.objects.filter(
        run_id__in=each_of(run_ids), path__in=storable(paths)
    )
    for attribute in attributes:
        found[attribute.run_id][attribute.path] = _row(attribute)
    return found


def beginning_with(prefix: str) -> Q:
    """Return the condition that a path begins with `prefix`, in an indexable form.

    PostgreSQL has its own optimization, and collations would break the range comparison.
    """
    if connection.vendor == "postgresql":
        return Q(path__startswith=prefix)
    # SQLite compares bytes, and its LIKE ignores case.
    following = _following(prefix)
    return Q(path__gte=prefix) & (Q(path__lt=following) if following else Q())


def _following(text: str) -> str:
    """Return the upper bound of all texts that begin with `text`; "" if there is none."""
    text = text.rstrip(chr(sys.maxunicode))
    if not text:
        return ""
    last = ord(text[-1])
    is_before_surrogates = last == FIRST_SURROGATE - 1
    return text[:-1] + chr(LAST_SURROGATE + 1 if is_before_surrogates else last + 1)


def storable(paths: Iterable[str]) -> list[str]:
    """Remove texts that cannot be stored paths and that databases reject."""
    return [path for path in paths if is_storable(path)]


def _beginning_with(run: Run, prefix: str) -> QuerySet[Attribute]:
    attributes = Attribute.objects.filter(run_id=run.id)
    if not storable([prefix]):
        return attributes.none()
    return attributes.filter(beginning_with(prefix)) if prefix else attributes


def _characters() -> Combinable:
    """Return the size of an attribute's unbounded fields."""
    items = Coalesce(Length(Cast("items", TextField())), 0)
    return Length("path") + Coalesce(Length("text"), 0) + items


def _fitting(sizes: Sequence[int]) -> int:
    """Return how many of the first attributes fit on a page: at least one, if any."""
    fitting = sum(total <= MAX_CHARACTERS for total in accumulate(sizes))
    return max(fitting, min(1, len(sizes)))


def _row(attribute: Attribute) -> AttributeRow:
    finite = attribute.finite_count
    return AttributeRow(
        path=attribute.path,
        kind=attribute.kind,
        value=stored_value(
            attribute.kind,
            attribute.number,
            attribute.is_nan,
            attribute.text,
            attribute.items,
        ),
        count=attribute.count,
        minimum=attribute.minimum,
        maximum=attribute.maximum,
        mean=attribute.total / finite if finite else None,
        first_step=attribute.first_step,
        last_step=attribute.last_step,
        updated_at=attribute.updated_at,
        writers=tuple(Writer(*writer) for writer in attribute.writers or ()),
        is_parameter=bool(attribute.is_parameter),
    )


def stored_value(
    kind: str,
    number: float | None,
    is_nan: bool,
    text: str | None,
    items: list[str] | None,
) -> Value | None:
    """Return an attribute's value from its columns."""
    if is_nan:
        return nan
    if text is not None:
        return _READ_TEXT[Kind(kind)](text)
    if number is not None:
        return _READ_NUMBER.get(Kind(kind), float)(number)
    return items

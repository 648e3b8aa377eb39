"""Groups the runs of a table by their values in columns.

A few statements per column read the values of all runs in index order; arrays combine them, which
is much faster than joins. Every matching run is read, so a table requests this once and not per
block of rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import F, QuerySet
from django.db.models.expressions import Combinable
from django.utils import timezone
from numpy.typing import NDArray

from tracker.errors import InvalidInput
from tracker.models import Attribute, Kind, Run, RunSummary
from tracker.queries.run.namespaces import TAGS_PATH
from tracker.queries.run_query.parser import MAX_CHARACTERS
from tracker.queries.run_query.writer import (
    written_number,
    written_path,
    written_text,
)
from tracker.queries.runs.column_keys import NUMBERS_OF_RUN, PATH_MARK, of_attribute
from tracker.queries.runs.columns import duration_seconds, wall_seconds
from tracker.queries.runs.filter.comparisons import SUMMARY_COLUMNS
from tracker.queries.runs.filter.conditions import SHORT_TEXT
from tracker.queries.runs.filter.filters import Found, RunFilter, is_searchable
from tracker.queries.runs.group_numbers import (
    Combined,
    GroupValue,
    Held,
    Items,
    Numbers,
    Said,
    Truth,
    numbers_of_groups,
)
from tracker.queries.runs.packed import (
    BYTES_OF_ID,
    PackedIds,
    PackedNumbers,
    Places,
    ids_in,
    numbers_in,
    packed_bytes,
)
from tracker.queries.runs.planner import planner
from tracker.queries.series.metrics import is_good_high

MAX_KEYS = 4
# Columns of attributes whose numbers are summarized. Each needs a statement that reads one
# row per run, so with many runs there are fewer columns.
FEWEST_COLUMNS = 8
MAX_NUMBERS = 800_000
GROUPS_SHOWN = 500
# A run with several tags is in several groups; more would not fit in memory.
MAX_MEMBERSHIPS = 2_000_000
# Grouping keys that are not attributes.
TAGS = "tags"
KEYS_OF_RUN = ("state", "made_by", "finding", TAGS)
# A single NaN object, because NaN values are not equal to each other.
NAN = math.nan


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs with the same values; `query` finds them, and is empty if none can."""

    values: tuple[GroupValue, ...]
    count: int
    numbers: list[Numbers]  # in the order of the requested columns
    query: str


@dataclass(frozen=True, slots=True)
class RunGroups:
    """`is_cut` is true if there are more groups; the shown ones have the most runs.

    The numbers of each group belong to `columns`; those of `left_out` would take too long.
    """

    matching: int
    groups: list[RunGroup]
    is_cut: bool
    columns: list[str]
    left_out: list[str]


class Item(str):
    """One text of a set; a run is in the group of each of its texts."""

    __slots__ = ()


class Other(str):
    """Represents all values that no condition could distinguish, such as long texts."""

    __slots__ = ()


OTHER = Other("other values")
# Whether higher or lower is better for a run's number, if known.
GOOD_HIGH = {"gpu": True, "gpu_idle": False}


def run_groups(
    project_id: int,
    *,
    wanted: RunFilter,
    keys: Sequence[str],
    columns: Sequence[str],
    most: int = GROUPS_SHOWN,
) -> RunGroups:
    """Group runs by columns, and summarize the numbers of other columns."""
    _check(keys)
    found = Found(project_id, wanted)
    with planner() as plan:
        plan.expect_large_sets()
        runs = _Runs(found)
        read, left_out = columns_with_numbers(columns, len(runs.places))
        by_key = [runs.run_set_text(key) for key in keys]
        combined = Combined(by_key)
        if combined.membership_count > MAX_MEMBERSHIPS:
            raise InvalidInput("group", "puts runs into too many groups")
        counts = combined.counts()
        largest = dict(counts.most_common(most))
        places = {group: place for place, group in enumerate(largest)}
        members, codes = combined.members(places)
        by_column = [
            numbers_of_groups(
                runs.numbers_of(key)[members],
                codes,
                len(largest),
                is_high_best=_is_good_high(key),
            )
            for key in read
        ]
    of_sets = [
        key == TAGS or said.is_of_sets for key, said in zip(keys, by_key, strict=True)
    ]
    groups = [
        RunGroup(
            values := tuple(map(_plain, group)),
            count,
            [numbers[place] for numbers in by_column],
            _query(keys, values, of_sets),
        )
        for place, (group, count) in enumerate(largest.items())
    ]
    groups.sort(key=lambda group: tuple(map(_place, group.values)))
    is_cut = len(counts) > len(largest)
    return RunGroups(len(runs.places), groups, is_cut, read, left_out)


def columns_with_numbers(
    keys: Sequence[str], run_count: int
) -> tuple[list[str], list[str]]:
    """Return the columns whose numbers are summarized, and those left out.

    With very many runs, only the first attributes are summarized.
    """
    attributes = [key for key in keys if of_attribute(key)]
    most = max(FEWEST_COLUMNS, MAX_NUMBERS // max(1, run_count))
    left_out = attributes[most:]
    shown = {*attributes[:most], *NUMBERS_OF_RUN}
    return [key for key in keys if key in shown], left_out


def _check(keys: Sequence[str]) -> None:
    if not 1 <= len(keys) <= MAX_KEYS:
        raise InvalidInput("group", f"must be 1 to {MAX_KEYS} columns")
    for key in keys:
        column = of_attribute(key)
        if key not in KEYS_OF_RUN and (column is None or column.summary != "last"):
            said = ", ".join(f"“{key}”" for key in KEYS_OF_RUN)
            raise InvalidInput("group", f"must be {said}, or “path:” and a path")
        if not is_searchable(key):
            raise InvalidInput(
                "group", "contains a character that is not allowed, or is too long"
            )


class _Runs:
    """All matching runs by index; their values are read by column.

    A column is read for all runs of the project unless few match, because that is one index range;
    runs that do not match are dropped.
    """

    def __init__(self, found: Found) -> None:
        self._found = found
        self.places = Places(ids_in(found.packed_ids))

    def run_set_text(self, key: str) -> Said:
        """Return each run's value in a column; for a set, all of its texts."""
        match key:
            case "state":
                return self._said(self._values_of(self._runs(), "state"))
            case "made_by":
                made = self._runs().filter(made_by__isnull=False)
                return self._said(self._values_of(made, "made_by__username"))
            case "finding":
                summaries = self._summaries().filter(finding__isnull=False)
                return self._said(self._values_of(summaries, "finding"))
        return self._said_at(_path(key))

    def _said_at(self, path: str) -> Said:
        rows = self._attributes(path)
        numbers = rows.filter(number__isnull=False)
        # An index contains the numbers; only rows distinguish booleans from 0 and 1.
        truths = numbers.filter(number__in=(0.0, 1.0), kind=Kind.BOOLEAN)
        unlike = self._values_of(rows.filter(number__isnull=True), "is_nan")
        sets = (
            self._values_of(self._summaries().filter(tags__isnull=False), "tags")
            if path == TAGS_PATH
            else self._values_of(rows.filter(items__isnull=False), "items")
        )
        return self._said(
            ((NAN if is_nan else OTHER, ids) for is_nan, ids in unlike),
            self._values_of(numbers, "number"),
            (
                (Truth(bool(number)), ids)
                for number, ids in self._values_of(truths, "number")
            ),
            self._values_of(rows.filter(SHORT_TEXT), "text"),
            # An empty set counts as no value.
            ((tuple(map(Item, items)) or None, ids) for items, ids in sets),
        )

    # Any: rows of any table, and values of a column.
    def _values_of(
        self, rows: QuerySet[Any], column: str
    ) -> Iterator[tuple[Any, bytes]]:
        """Yield each distinct value with the ids of the runs that have it."""
        run = "id" if rows.model is Run else "run_id"
        values = rows.order_by().values_list(column).annotate(packed=PackedIds(run))
        for value, packed in values:
            yield value, packed_bytes(packed)

    def _said(self, *parts: Iterable[tuple[Held | Items, bytes]]) -> Said:
        """Combine values of runs; if a run occurs twice, the last value counts."""
        values: list[Held | Items] = [None]
        codes = np.zeros(len(self.places), np.int64)
        for part in parts:
            first, packed = len(values), []
            for value, ids in part:
                values.append(value)
                packed.append(ids)
            places, are_there = self.places.find(ids_in(b"".join(packed)))
            counts = [len(ids) // BYTES_OF_ID for ids in packed]
            own = np.repeat(np.arange(first, len(values)), counts)
            codes[places[are_there]] = own[are_there]
        return Said(codes, values)

    def numbers_of(self, key: str) -> NDArray[np.float64]:
        """Return one number per run; NaN if there is none."""
        rows, number, run = self._rows_with(key)
        rows = rows.annotate(wanted=number).filter(wanted__isnull=False)
        packed = rows.order_by().aggregate(
            ids=PackedIds(run), numbers=PackedNumbers(F("wanted"))
        )
        places, are_there = self.places.find(ids_in(packed_bytes(packed["ids"])))
        numbers = np.full(len(self.places), NAN)
        numbers[places[are_there]] = numbers_in(packed["numbers"])[are_there]
        return numbers

    # Any: rows of any table, one per run.
    def _rows_with(self, key: str) -> tuple[QuerySet[Any], Combinable, str]:
        column = of_attribute(key)
        if column is not None:
            rows = self._attributes(column.path)
            return rows, SUMMARY_COLUMNS[column.summary](), "run_id"
        if key == "duration":
            return self._runs(), duration_seconds(timezone.now()), "id"
        if key == "wall_time":
            return self._runs(), wall_seconds(timezone.now()), "id"
        return self._summaries(), F(key), "run_id"

    def _runs(self) -> QuerySet[Run]:
        if self._found.is_few:
            return self._found.runs()
        return Run.objects.filter(project_id=self._found.project_id)

    def _attributes(self, path: str) -> QuerySet[Attribute]:
        if self._found.is_few:
            return self._found.attributes(path)
        return Attribute.objects.filter(project_id=self._found.project_id, path=path)

    def _summaries(self) -> QuerySet[RunSummary]:
        if self._found.is_few:
            return self._found.summaries()
        return RunSummary.objects.filter(project_id=self._found.project_id)


def _plain(value: Held) -> GroupValue:
    return value.value if isinstance(value, Truth) else value


def _path(key: str) -> str:
    """Return the path of an attribute that runs are grouped by."""
    return TAGS_PATH if key == TAGS else key.removeprefix(PATH_MARK)


def _is_good_high(key: str) -> bool | None:
    column = of_attribute(key)
    return is_good_high(column.path) if column else GOOD_HIGH.get(key)


def _query(
    keys: Sequence[str], values: tuple[GroupValue, ...], of_sets: Sequence[bool]
) -> str:
    """Return a query for the runs of a group; "" if it cannot be expressed."""
    conditions = list(map(_condition, keys, values, of_sets))
    written = " and ".join(conditions) if all(conditions) else ""
    return written if len(written) <= MAX_CHARACTERS else ""


def _condition(key: str, value: GroupValue, is_of_sets: bool) -> str:
    is_of_run = key in KEYS_OF_RUN and key != TAGS
    path = key if is_of_run else written_path(_path(key))
    match value:
        case None if is_of_sets:
            # Every text contains the empty text, so this also matches an empty set.
            return f'not {path} ~ ""'
        case None:
            return f"not exists {path}"
        case Item():
            return f"{path} contains {written_text(value)}"
        case float() if math.isnan(value):
            return f"{path} is nan"
        case Other():
            return ""
    return f"{path} = {_written(value)}"


def _written(value: float | bool | str) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return written_number(value)
    return written_text(value)


def _place(value: GroupValue) -> tuple[int, float, str]:
    """Sort numbers before texts, then NaN, then missing values."""
    match value:
        case None:
            return 3, 0.0, ""
        case bool():
            return 0, float(value), "boolean"
        case float():
            return (2, 0.0, "") if math.isnan(value) else (0, value, "")
    return 1, 0.0, str(value)

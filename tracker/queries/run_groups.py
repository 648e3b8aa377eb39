"""The runs of a table put together by what they have in common.

One statement for each column reads what all runs have there, in the order of an index;
arrays put it together, which is many times quicker than joining as many tables. That
looks at every run that matches, so a table asks for it once, not for each block of rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from django.db.models import CharField, F, FloatField
from django.db.models.functions import Cast
from numpy.typing import NDArray

from tracker.errors import InvalidInput
from tracker.models import Kind
from tracker.models.attribute import SHORT_CHARACTERS
from tracker.queries.column_keys import OfAttribute, of_attribute
from tracker.queries.metrics import is_good_high
from tracker.queries.planner import planner
from tracker.queries.run_conditions import SUMMARY_COLUMNS
from tracker.queries.run_filter import Found, RunFilter, is_searchable
from tracker.queries.run_query.writer import (
    written_number,
    written_path,
    written_text,
)

MOST_KEYS = 4
# Columns whose numbers are put together, each in a statement of its own.
MOST_COLUMNS = 8
GROUPS_SHOWN = 500
STATE = "state"
# One object for all: no NaN is equal to another.
NAN = math.nan

# None: the runs have nothing there.
GroupValue: TypeAlias = float | bool | str | None


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the runs of a group say in one column; `best` is None where none is better."""

    count: int
    mean: float | None
    lowest: float | None
    highest: float | None
    best: float | None


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs with the same values; `query` finds them, and is empty where none can."""

    values: tuple[GroupValue, ...]
    count: int
    numbers: list[Numbers]  # as the columns asked for
    query: str


@dataclass(frozen=True, slots=True)
class RunGroups:
    """`is_cut` where there are more groups than are shown: these hold most runs."""

    matching: int
    groups: list[RunGroup]
    is_cut: bool


class Other(str):
    """Stands for all values that no condition could tell apart, such as long texts."""

    __slots__ = ()


OTHER = Other("other values")
NO_NUMBERS = Numbers(0, None, None, None, None)


def run_groups(
    project_id: int,
    *,
    wanted: RunFilter,
    keys: Sequence[str],
    columns: Sequence[str],
    most: int = GROUPS_SHOWN,
) -> RunGroups:
    """Group runs by attributes or their state, with the numbers of some columns.

    `columns` are keys of attributes; of very many the first are read.
    """
    _check(keys)
    found = Found(project_id, wanted)
    shown = [column for key in columns[:MOST_COLUMNS] if (column := of_attribute(key))]
    with planner() as plan:
        plan.expect_large_sets()
        runs = _Runs(found)
        values = list(zip(*(runs.values_of(key) for key in keys), strict=True))
        counts = Counter(values)
        largest = dict(counts.most_common(most))
        numbers = _numbers_of(runs, values, list(largest), shown)
    groups = [
        RunGroup(group, count, numbers[place], _query(keys, group))
        for place, (group, count) in enumerate(largest.items())
    ]
    groups.sort(key=lambda group: tuple(map(_place, group.values)))
    return RunGroups(len(values), groups, len(counts) > len(largest))


def _check(keys: Sequence[str]) -> None:
    if not 1 <= len(keys) <= MOST_KEYS:
        raise InvalidInput("group", f"must be 1 to {MOST_KEYS} columns")
    for key in keys:
        column = of_attribute(key)
        if key != STATE and (column is None or column.summary != "last"):
            raise InvalidInput("group", "must be “state”, or “path:” and a path")
        if not is_searchable(key):
            raise InvalidInput("group", "holds what no path can hold")


class _Runs:
    """All runs that match, each at its place; what they hold is read by column."""

    def __init__(self, found: Found) -> None:
        self.found = found
        rows = found.runs().annotate(key=Cast("id", CharField()))
        self.states: list[str] = []
        # By their ids as texts: to read a hundred thousand takes less time so.
        self.places: dict[str, int] = {}
        for key, state in rows.order_by().values_list("key", "state"):
            self.places[key] = len(self.states)
            self.states.append(state)

    def values_of(self, key: str) -> Sequence[GroupValue]:
        column = of_attribute(key)
        if column is None:
            return self.states
        values: list[GroupValue] = [None] * len(self.states)
        fields = ("number", "text", "is_nan", "kind")
        for place, *row in self._read(column.path, *fields):
            values[place] = _value(*row)
        return values

    def numbers_of(self, column: OfAttribute) -> NDArray[np.float64]:
        """Return a number for each run; NaN where there is none."""
        numbers = np.full(len(self.states), NAN)
        number = Cast(SUMMARY_COLUMNS[column.summary](), FloatField())
        for place, value in self._read(column.path, "wanted", wanted=number):
            if value is not None:
                numbers[place] = value
        return numbers

    # Any: fields of a row.
    def _read(self, path: str, *fields: str, **more: Any) -> Iterator[tuple[Any, ...]]:
        rows = self.found.attributes(path).annotate(
            key=Cast(F("run_id"), CharField()), **more
        )
        for key, *row in rows.order_by().values_list("key", *fields):
            place = self.places.get(key)
            # One that began meanwhile is in no group yet.
            if place is not None:
                yield place, *row


def _value(
    number: float | None, text: str | None, is_nan: bool, kind: str
) -> GroupValue:
    if number is not None:
        return bool(number) if kind == Kind.BOOLEAN else number
    if text is not None and len(text) <= SHORT_CHARACTERS:
        return text
    return NAN if is_nan else OTHER


def _numbers_of(
    runs: _Runs,
    values: Sequence[tuple[GroupValue, ...]],
    groups: Sequence[tuple[GroupValue, ...]],
    columns: Sequence[OfAttribute],
) -> list[list[Numbers]]:
    """Return for each group what its runs say in each column."""
    place_of: Mapping[tuple[GroupValue, ...], int] = {
        group: place for place, group in enumerate(groups)
    }
    codes = np.fromiter((place_of.get(value, -1) for value in values), np.int64)
    by_column = [
        _numbers(runs.numbers_of(column), codes, len(groups), column.path)
        for column in columns
    ]
    return [[numbers[place] for numbers in by_column] for place in range(len(groups))]


def _numbers(
    numbers: NDArray[np.float64], codes: NDArray[np.int64], size: int, path: str
) -> list[Numbers]:
    is_known = (codes >= 0) & ~np.isnan(numbers)
    codes, numbers = codes[is_known], numbers[is_known]
    counts = np.bincount(codes, minlength=size)
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, codes, numbers)
    np.maximum.at(highest, codes, numbers)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(codes, weights=numbers, minlength=size) / counts
    is_high = is_good_high(path)
    best = None if is_high is None else highest if is_high else lowest
    return [
        Numbers(
            int(counts[place]),
            float(means[place]),
            float(lowest[place]),
            float(highest[place]),
            None if best is None else float(best[place]),
        )
        if counts[place]
        else NO_NUMBERS
        for place in range(size)
    ]


def _query(keys: Sequence[str], values: tuple[GroupValue, ...]) -> str:
    """Write what finds the runs of a group; nothing where something cannot be said."""
    conditions = [
        _condition(key, value) for key, value in zip(keys, values, strict=True)
    ]
    return " and ".join(conditions) if all(conditions) else ""


def _condition(key: str, value: GroupValue) -> str:
    column = of_attribute(key)
    if column is None:
        return f"state = {value}"
    path = written_path(column.path)
    match value:
        case None:
            return f"not exists {path}"
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
    """Sort numbers before texts, then NaN, then nothing."""
    match value:
        case None:
            return 3, 0.0, ""
        case float() | bool():
            return (2, 0.0, "") if math.isnan(value) else (0, float(value), "")
    return 1, 0.0, value

"""The runs of a table put together by what they have in common.

One statement for each column reads what all runs have there, in the order of an index;
arrays put it together, which is many times quicker than joining as many tables. That
looks at every run that matches, so a table asks for it once, not for each block of rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from django.db.models import CharField, F, FloatField, Max, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast
from django.utils import timezone
from numpy.typing import NDArray

from tracker.errors import InvalidInput
from tracker.models import Kind
from tracker.models.attribute import SHORT_CHARACTERS
from tracker.queries.column_keys import NUMBERS_OF_RUN, PATH_MARK, of_attribute
from tracker.queries.metrics import is_good_high
from tracker.queries.planner import planner
from tracker.queries.run_columns import duration_seconds
from tracker.queries.run_conditions import SUMMARY_COLUMNS
from tracker.queries.run_filter import TAGS_PATH, Found, RunFilter, is_searchable
from tracker.queries.run_query.parser import MOST_CHARACTERS
from tracker.queries.run_query.writer import (
    written_number,
    written_path,
    written_text,
)

MOST_KEYS = 4
# Columns of attributes whose numbers are put together, each in a statement of its own
# that reads one row for each run: of many runs those of fewer columns.
FEWEST_COLUMNS = 8
MOST_NUMBERS = 800_000
GROUPS_SHOWN = 500
# A run with several tags is in as many groups; more of them would not fit in memory.
MOST_MEMBERSHIPS = 2_000_000
# What runs have in common beside attributes.
TAGS = "tags"
KEYS_OF_RUN = ("state", "made_by", "finding", TAGS)
# One object for all: no NaN is equal to another.
NAN = math.nan

# None: the runs have nothing there.
GroupValue: TypeAlias = float | bool | str | None
Items: TypeAlias = tuple[str, ...]


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
    """`is_cut` where there are more groups than are shown: these hold most runs.

    The numbers of each are of `columns`; those of `left_out` would take too long.
    """

    matching: int
    groups: list[RunGroup]
    is_cut: bool
    columns: list[str]
    left_out: list[str]


class Item(str):
    """One text of a set: a run is in the group of each that it has."""

    __slots__ = ()


class Other(str):
    """Stands for all values that no condition could tell apart, such as long texts."""

    __slots__ = ()


OTHER = Other("other values")
# Of the run's own numbers, those that are better high, or low.
GOOD_HIGH = {"gpu": True, "gpu_idle": False}
NO_NUMBERS = Numbers(0, None, None, None, None)


def run_groups(
    project_id: int,
    *,
    wanted: RunFilter,
    keys: Sequence[str],
    columns: Sequence[str],
    most: int = GROUPS_SHOWN,
) -> RunGroups:
    """Group runs by what they have in common, with the numbers of columns that have any."""
    _check(keys)
    found = Found(project_id, wanted)
    with planner() as plan:
        plan.expect_large_sets()
        runs = _Runs(found)
        read, left_out = columns_with_numbers(columns, len(runs.states))
        by_key = [runs.values_of(key) for key in keys]
        places, values = _memberships(by_key)
        counts = Counter(values)
        largest = dict(counts.most_common(most))
        place_of = {group: place for place, group in enumerate(largest)}
        codes = np.fromiter((place_of.get(value, -1) for value in values), np.int64)
        by_column = [
            _numbers(runs.numbers_of(key)[places], codes, len(largest), key)
            for key in read
        ]
    of_sets = [_is_of_sets(key, said) for key, said in zip(keys, by_key, strict=True)]
    groups = [
        RunGroup(
            group,
            count,
            [numbers[place] for numbers in by_column],
            _query(keys, group, of_sets),
        )
        for place, (group, count) in enumerate(largest.items())
    ]
    groups.sort(key=lambda group: tuple(map(_place, group.values)))
    is_cut = len(counts) > len(largest)
    return RunGroups(len(runs.states), groups, is_cut, read, left_out)


def columns_with_numbers(
    keys: Sequence[str], run_count: int
) -> tuple[list[str], list[str]]:
    """Return those columns that have numbers of groups, and those left out.

    Of very many runs, only the first attributes have any.
    """
    attributes = [key for key in keys if of_attribute(key)]
    most = max(FEWEST_COLUMNS, MOST_NUMBERS // max(1, run_count))
    left_out = attributes[most:]
    shown = {*attributes[:most], *NUMBERS_OF_RUN}
    return [key for key in keys if key in shown], left_out


def _check(keys: Sequence[str]) -> None:
    if not 1 <= len(keys) <= MOST_KEYS:
        raise InvalidInput("group", f"must be 1 to {MOST_KEYS} columns")
    for key in keys:
        column = of_attribute(key)
        if key not in KEYS_OF_RUN and (column is None or column.summary != "last"):
            said = ", ".join(f"“{key}”" for key in KEYS_OF_RUN)
            raise InvalidInput("group", f"must be {said}, or “path:” and a path")
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

    def values_of(self, key: str) -> Sequence[GroupValue | Items]:
        """Return what each run has there, of a set of texts all of them."""
        if key == "state":
            return self.states
        values: list[GroupValue | Items] = [None] * len(self.states)
        if key == "made_by":
            rows, field = self.found.runs(), F("made_by__username")
            read = self._read(rows, "wanted", of_run="id", wanted=field)
        elif key == "finding":
            told = self.found.gathered().filter(finding__isnull=False)
            read = self._read(told, "finding")
        else:
            return self._values_at(_path(key), values)
        for place, value in read:
            values[place] = value
        return values

    def _values_at(
        self, path: str, values: list[GroupValue | Items]
    ) -> list[GroupValue | Items]:
        # Most sets are like another: each is made of objects that are there already.
        known: dict[tuple[str, ...], Items | None] = {(): None}
        fields = ("number", "text", "is_nan", "kind", "items")
        for place, *row, items in self._read(self.found.attributes(path), *fields):
            if items is None:
                values[place] = _value(*row)
                continue
            said = tuple(items)
            if said not in known:
                known[said] = tuple(map(Item, said))
            values[place] = known[said]
        return values

    def numbers_of(self, key: str) -> NDArray[np.float64]:
        """Return a number for each run; NaN where there is none."""
        numbers = np.full(len(self.states), NAN)
        for place, value in self._numbers_read(key):
            if value is not None:
                numbers[place] = value
        return numbers

    def _numbers_read(self, key: str) -> Iterator[tuple[Any, ...]]:
        column = of_attribute(key)
        if column is not None:
            rows = self.found.attributes(column.path)
            number = Cast(SUMMARY_COLUMNS[column.summary](), FloatField())
            return self._read(rows, "wanted", wanted=number)
        if key == "duration":
            lasted = duration_seconds(timezone.now())
            return self._read(self.found.runs(), "wanted", of_run="id", wanted=lasted)
        return self._read(self.found.gathered(), key)

    # Any: rows of any table, and fields of a row.
    def _read(
        self, rows: QuerySet[Any], *fields: str, of_run: str = "run_id", **more: Any
    ) -> Iterator[tuple[Any, ...]]:
        """Return the place of each row's run, and what the row says."""
        rows = rows.annotate(**more)
        run: Combinable = Cast(F(of_run), CharField())
        # Not one more thing to group by: an index has the runs in their order.
        key = run if rows.query.group_by is None else Max(run)
        rows = rows.annotate(key=key).order_by()
        for run_id, *row in rows.values_list("key", *fields):
            place = self.places.get(run_id)
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


def _path(key: str) -> str:
    """Return the path of an attribute that runs are grouped by."""
    return TAGS_PATH if key == TAGS else key.removeprefix(PATH_MARK)


def _is_of_sets(key: str, said: Sequence[GroupValue | Items]) -> bool:
    return key == TAGS or any(isinstance(value, tuple) for value in said)


def _memberships(
    by_key: Sequence[Sequence[GroupValue | Items]],
) -> tuple[NDArray[np.int64], list[tuple[GroupValue, ...]]]:
    """Return which run is in which group: places of runs, and the groups' values."""
    values: list[Any] = list(zip(*by_key, strict=True))
    if not any(isinstance(value, tuple) for said in by_key for value in said):
        return np.arange(len(values)), values
    places: list[int] = []
    groups: list[tuple[GroupValue, ...]] = []
    for place, value in enumerate(values):
        sets = [each if isinstance(each, tuple) else (each,) for each in value]
        if len(groups) + math.prod(map(len, sets)) > MOST_MEMBERSHIPS:
            raise InvalidInput("group", "puts runs into too many groups at once")
        for group in product(*sets):
            places.append(place)
            groups.append(group)
    return np.array(places, np.int64), groups


def _numbers(
    numbers: NDArray[np.float64], codes: NDArray[np.int64], size: int, key: str
) -> list[Numbers]:
    is_known = (codes >= 0) & ~np.isnan(numbers)
    codes, numbers = codes[is_known], numbers[is_known]
    counts = np.bincount(codes, minlength=size)
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, codes, numbers)
    np.maximum.at(highest, codes, numbers)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(codes, weights=numbers, minlength=size) / counts
    is_high = _is_good_high(key)
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


def _is_good_high(key: str) -> bool | None:
    column = of_attribute(key)
    return is_good_high(column.path) if column else GOOD_HIGH.get(key)


def _query(
    keys: Sequence[str], values: tuple[GroupValue, ...], of_sets: Sequence[bool]
) -> str:
    """Write what finds the runs of a group; nothing where something cannot be said."""
    conditions = list(map(_condition, keys, values, of_sets))
    written = " and ".join(conditions) if all(conditions) else ""
    return written if len(written) <= MOST_CHARACTERS else ""


def _condition(key: str, value: GroupValue, is_of_sets: bool) -> str:
    is_of_run = key in KEYS_OF_RUN and key != TAGS
    path = key if is_of_run else written_path(_path(key))
    match value:
        case None if is_of_sets:
            # Every text holds the empty one, so that an empty set is none, too.
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
    """Sort numbers before texts, then NaN, then nothing."""
    match value:
        case None:
            return 3, 0.0, ""
        case float() | bool():
            return (2, 0.0, "") if math.isnan(value) else (0, float(value), "")
    return 1, 0.0, value

"""Groups runs and summarizes their numbers with arrays (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray


class Truth(Enum):
    """A boolean that, unlike Python's, does not equal a number."""

    FALSE = False
    TRUE = True


# None: the runs have no value.
GroupValue: TypeAlias = float | bool | str | None
Held: TypeAlias = GroupValue | Truth
Items: TypeAlias = tuple[str, ...]
Group: TypeAlias = tuple[Held, ...]
Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Said:
    """The values of runs in one column: for each run, the index of its value."""

    codes: Integers
    values: Sequence[Held | Items]

    @property
    def is_of_sets(self) -> bool:
        return any(isinstance(value, tuple) for value in self.values)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a group in one column; `best` is None without a better direction."""

    count: int
    mean: float | None
    lowest: float | None
    highest: float | None
    best: float | None


NO_NUMBERS = Numbers(0, None, None, None, None)


class Combined:
    """Runs by their combination of values in several columns.

    There are far fewer combinations than runs, so Python loops only over combinations. A run with
    several texts in a set belongs to several groups.
    """

    def __init__(self, columns: Sequence[Said]) -> None:
        codes, found = np.zeros(len(columns[0].codes), np.int64), [()]
        for column in columns:
            size = max(1, len(column.values))
            both, codes = np.unique(codes * size + column.codes, return_inverse=True)
            found = [
                (*found[before], code)
                for before, code in zip(
                    (both // size).tolist(), (both % size).tolist(), strict=True
                )
            ]
        # For each run, the index of its combination.
        self._codes: Integers = codes
        self._groups = [_groups_of(columns, each) for each in found]
        self._counts = np.bincount(codes, minlength=len(found)).tolist()

    @property
    def membership_count(self) -> int:
        sizes = map(len, self._groups)
        return sum(a * b for a, b in zip(sizes, self._counts, strict=True))

    def counts(self) -> Counter[Group]:
        counts: Counter[Group] = Counter()
        for groups, count in zip(self._groups, self._counts, strict=True):
            for group in groups:
                counts[group] += count
        return counts

    def members(self, shown: dict[Group, int]) -> tuple[Integers, Integers]:
        """Return indices of runs, and the number of the group of each."""
        places = [
            [shown[group] for group in groups if group in shown]
            for groups in self._groups
        ]
        sizes = np.array([len(each) for each in places], np.int64)
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
        flat = np.array([place for each in places for place in each], np.int64)
        of_run = sizes[self._codes]
        runs = np.repeat(np.arange(len(self._codes)), of_run)
        ends = np.cumsum(of_run)
        within = np.arange(len(runs)) - np.repeat(ends - of_run, of_run)
        return runs, flat[np.repeat(starts[self._codes], of_run) + within]


def _groups_of(columns: Sequence[Said], codes: Sequence[int]) -> list[Group]:
    values = [column.values[code] for column, code in zip(columns, codes, strict=True)]
    if not any(isinstance(value, tuple) for value in values):
        return [tuple(values)]  # type: ignore[arg-type] # none is a set
    return list(product(*(v if isinstance(v, tuple) else (v,) for v in values)))


def numbers_of_groups(
    numbers: Floats, codes: Integers, size: int, *, is_high_best: bool | None
) -> list[Numbers]:
    """Summarize numbers by group; NaN means no value."""
    is_known = ~np.isnan(numbers)
    codes, numbers = codes[is_known], numbers[is_known]
    counts = np.bincount(codes, minlength=size)
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, codes, numbers)
    np.maximum.at(highest, codes, numbers)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(codes, weights=numbers, minlength=size) / counts
    best = None if is_high_best is None else highest if is_high_best else lowest
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

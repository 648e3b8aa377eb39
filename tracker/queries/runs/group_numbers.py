"""What arrays say of runs that were put together (pure)."""

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
    """A boolean; unlike Python's, it does not equal the number."""

    FALSE = False
    TRUE = True


# None: the runs have nothing there.
GroupValue: TypeAlias = float | bool | str | None
Held: TypeAlias = GroupValue | Truth
Items: TypeAlias = tuple[str, ...]
Group: TypeAlias = tuple[Held, ...]
Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Said:
    """What runs have in one column: of each run, which of the values."""

    codes: Integers
    values: Sequence[Held | Items]

    @property
    def is_of_sets(self) -> bool:
        return any(isinstance(value, tuple) for value in self.values)


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the runs of a group say in one column; `best` is None where none is better."""

    count: int
    mean: float | None
    lowest: float | None
    highest: float | None
    best: float | None


NO_NUMBERS = Numbers(0, None, None, None, None)


class Combined:
    """Runs by what they have in several columns.

    There are far fewer combinations than runs, so that only these are looked at one by
    one. A run with several texts of a set is in as many groups.
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
        # Of each run, which of the combinations it has.
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
        """Return runs, and the group that each is in; those shown have a number."""
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
    """Sum up numbers by group; NaN says that there is none."""
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

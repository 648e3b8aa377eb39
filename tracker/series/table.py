"""Tables: series that were logged together, a row of values for each (pure)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracker.series.points import Floats, Integers, Points


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The values of `s` distinct series at the same `t` ticks."""

    series_ids: Integers  # (s,)
    steps: Floats  # (t,)
    times: Integers  # (t,), microseconds since 1970, UTC
    values: Floats  # (s, t)

    @property
    def point_count(self) -> int:
        return self.values.size

    @property
    def tick_count(self) -> int:
        return len(self.steps)

    def points_of(self, row: int) -> Points:
        return Points(self.steps, self.times, self.values[row])

    def rows(self, index: Sequence[int] | NDArray[np.intp]) -> Table:
        """Return some of the series."""
        chosen = self.series_ids[index], self.values[index]
        return Table(chosen[0], self.steps, self.times, chosen[1])

    def copy(self) -> Table:
        """Return a copy with its own memory."""
        return Table(
            self.series_ids.copy(),
            self.steps.copy(),
            self.times.copy(),
            self.values.copy(),
        )

    def ticks(self, index: slice | NDArray[np.intp] | NDArray[np.bool_]) -> Table:
        """Return some of the ticks."""
        steps, times = self.steps[index], self.times[index]
        return Table(self.series_ids, steps, times, self.values[:, index])

    def sorted_by_step(self) -> Table:
        """Sort by step, then time; equal ticks keep their order."""
        if np.all(self.steps[1:] > self.steps[:-1]):
            return self
        return self.ticks(np.lexsort((self.times, self.steps)))

    def sorted_by_time(self) -> Table:
        """Sort by time, then step; equal ticks keep their order."""
        if np.all(self.times[1:] > self.times[:-1]):
            return self
        return self.ticks(np.lexsort((self.steps, self.times)))

    def cut(self, tick_count: int) -> Iterator[Table]:
        """Yield tables of at most so many ticks."""
        for start in range(0, self.tick_count, tick_count):
            yield self.ticks(slice(start, start + tick_count))


def table_of(series_ids: Sequence[int], points: Sequence[Points]) -> Table:
    """Return a table of series whose points have the same ticks."""
    return Table(
        np.array(series_ids, np.int64),
        points[0].steps,
        points[0].times,
        np.array([some.values for some in points]),
    )


def one_after_the_other(parts: Sequence[Table]) -> Table:
    """Concatenate tables of the same series by their ticks."""
    if len(parts) == 1:
        return parts[0]
    return Table(
        parts[0].series_ids,
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.values for part in parts], axis=1),
    )


def side_by_side(tables: Iterable[Table]) -> list[Table]:
    """Join tables with the same ticks, unless they share a series."""
    groups: dict[tuple[bytes, bytes], _Group] = {}
    apart: list[Table] = []
    for table in tables:
        ticks = table.steps.tobytes(), table.times.tobytes()
        group = groups.get(ticks)
        if group is None:
            groups[ticks] = _Group([table])
        elif not group.takes(table):
            apart.append(table)
    return [*(_side_by_side(group.tables) for group in groups.values()), *apart]


@dataclass(slots=True)
class _Group:
    """Tables with the same ticks and different series."""

    tables: list[Table]
    # All series, if there are several tables: there may be a thousand with one series
    # each.
    _series: set[int] | None = None

    def takes(self, table: Table) -> bool:
        if self._series is None:
            self._series = set(self.tables[0].series_ids.tolist())
        series = table.series_ids.tolist()
        if not self._series.isdisjoint(series):
            return False
        self._series.update(series)
        self.tables.append(table)
        return True


def disentangled(tables: Iterable[Table]) -> list[Table]:
    """Rearrange tables so that all points of a series are in one of them."""
    joined = _joined_where_alike(tables)
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, table in enumerate(joined):
        for row, series_id in enumerate(table.series_ids.tolist()):
            places[series_id].append((number, row))

    groups: dict[tuple[int, ...], list[list[tuple[int, int]]]] = defaultdict(list)
    for of_series in places.values():
        groups[tuple(number for number, _ in of_series)].append(of_series)
    return [
        one_after_the_other(
            [
                joined[number].rows([of_series[place][1] for of_series in group])
                for place, number in enumerate(numbers)
            ]
        )
        for numbers, group in groups.items()
    ]


def _joined_where_alike(tables: Iterable[Table]) -> list[Table]:
    """Join tables of the same series, as a process names them in each batch."""
    alike: dict[bytes, list[Table]] = defaultdict(list)
    for table in tables:
        alike[table.series_ids.tobytes()].append(table)
    return [one_after_the_other(parts) for parts in alike.values()]


def _side_by_side(parts: Sequence[Table]) -> Table:
    if len(parts) == 1:
        return parts[0]
    return Table(
        np.concatenate([part.series_ids for part in parts]),
        parts[0].steps,
        parts[0].times,
        np.concatenate([part.values for part in parts]),
    )

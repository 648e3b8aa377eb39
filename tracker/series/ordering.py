"""Puts the parts of a series in order of step while they are read (pure).

What has come is held until nothing can come before it. Each part is put in order by
itself, and what of several parts overlaps is sorted together, once. So the work grows
with the points, and what is held with the overlap: where every part spans all steps, as
where each epoch counts its steps anew, order by step wants all of them held, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.series.points import Points, concatenate

# So many points are sorted together, about, and no more are handed on at a time.
PORTION_POINTS = 65_536
# Of each part, every so many-th step says where portions may end.
MARK_POINTS = 256


class Held:
    """Points that have come and may have to follow others."""

    def __init__(self) -> None:
        # The first step of what is left of each part; when the part came; how many
        # points its arrays have.
        self._parts: list[tuple[float, int, int, Points]] = []
        self._added = 0

    def add(self, points: Points) -> None:
        if len(points):
            self._hold(self._added, len(points), points.sorted_by_step())
            self._added += 1

    def before(self, step: float) -> Iterator[Points]:
        """Yield, in order, and let go what is held of steps before this one."""
        for end in (*self._ends(step), step):
            found = self._take(end)
            for start in range(0, len(found), PORTION_POINTS):
                yield found[start : start + PORTION_POINTS]

    def _hold(self, number: int, size: int, points: Points) -> None:
        if 2 * len(points) <= size:
            # Or a few points would hold the memory of all there were.
            points, size = points.copy(), len(points)
        heappush(self._parts, (float(points.steps[0]), number, size, points))

    def _ends(self, step: float) -> Iterator[float]:
        """Yield steps that cut what lies before this one into portions.

        The more parts overlap, the longer these are: a piece of a part costs as much
        as a few hundred points.
        """
        parts = [part for first, _, _, part in self._parts if first < step]
        if not parts:
            return
        marks: NDArray[Any] = np.concatenate([p.steps[::MARK_POINTS] for p in parts])
        marks = np.sort(marks[marks < step])
        every = max(PORTION_POINTS // MARK_POINTS, len(parts))
        yield from np.unique(marks[every::every]).tolist()

    def _take(self, end: float) -> Points:
        taken: list[tuple[int, Points]] = []
        left: list[tuple[int, int, Points]] = []
        while self._parts and self._parts[0][0] < end:
            _, number, size, points = heappop(self._parts)
            cut = int(np.searchsorted(points.steps, end))
            taken.append((number, points[:cut]))
            if cut < len(points):
                left.append((number, size, points[cut:]))
        for part in left:
            self._hold(*part)
        if len(taken) == 1:
            return taken[0][1]
        # Points alike in step and time stay in the order in which they came.
        taken.sort(key=lambda piece: piece[0])
        return concatenate([points for _, points in taken]).sorted_by_step()

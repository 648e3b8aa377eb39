"""Sorts the parts of a series by step while they are read (pure).

Parts are held until no earlier step can follow. Each part is sorted by itself, and
overlapping ranges are sorted together, once. The work grows with the points, and the
memory with the overlap: if every part spans all steps, as when each epoch restarts its
steps, all points are held.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.series.points import Points, concatenate

# Approximate number of points sorted together and yielded at a time.
PORTION_POINTS = 65_536
# Every n-th step of each part is a possible end of a portion.
MARK_POINTS = 256


class Held:
    """Points that may have to follow later parts."""

    def __init__(self) -> None:
        # The first remaining step of each part, its number, and the size of its arrays.
        self._parts: list[tuple[float, int, int, Points]] = []
        self._added = 0

    def add(self, points: Points) -> None:
        if len(points):
            self._hold(self._added, len(points), points.sorted_by_step())
            self._added += 1

    def before(self, step: float) -> Iterator[Points]:
        """Yield and release, in order, the points before this step."""
        for end in (*self._ends(step), step):
            found = self._take(end)
            for start in range(0, len(found), PORTION_POINTS):
                yield found[start : start + PORTION_POINTS]

    def _hold(self, number: int, size: int, points: Points) -> None:
        if 2 * len(points) <= size:
            # Otherwise a few points would keep the memory of the whole part.
            points, size = points.copy(), len(points)
        heappush(self._parts, (float(points.steps[0]), number, size, points))

    def _ends(self, step: float) -> Iterator[float]:
        """Yield steps that split the range before this step into portions.

        Portions grow with the number of overlapping parts: a piece of a part costs as
        much as a few hundred points.
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
        # Points with equal step and time keep their order of arrival.
        taken.sort(key=lambda piece: piece[0])
        return concatenate([points for _, points in taken]).sorted_by_step()

"""Records: steps, times and small opaque values, in the order of arrival.

The meaning of a value depends on the kind of the series and is not used here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.series.points import Floats, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Any number of records; the bytes of their values are concatenated."""

    steps: Floats
    times: Integers  # microseconds since 1970, UTC
    sizes: Integers  # of the values, in bytes
    values: bytes

    @staticmethod
    def empty() -> Records:
        integers = np.empty(0, np.int64)
        return Records(np.empty(0, np.float64), integers, integers, b"")

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, part: slice) -> Records:
        """Return consecutive records."""
        ends = self.ends()
        low, high, _ = part.indices(len(self))
        first = int(ends[low - 1]) if low else 0
        last = int(ends[high - 1]) if high > low else first
        return Records(
            self.steps[low:high],
            self.times[low:high],
            self.sizes[low:high],
            self.values[first:last],
        )

    def those(self, mask: NDArray[np.bool_]) -> Records:
        """Return the records that a mask selects."""
        values = self.listed()
        return Records(
            self.steps[mask],
            self.times[mask],
            self.sizes[mask],
            b"".join(values[place] for place in np.flatnonzero(mask).tolist()),
        )

    def ends(self) -> Integers:
        """Return the end offset of each value."""
        ends: NDArray[Any] = np.cumsum(self.sizes)
        return ends

    def listed(self) -> list[bytes]:
        """Return the values as a list."""
        ends = self.ends().tolist()
        starts = [0, *ends][:-1]
        return [self.values[start:end] for start, end in zip(starts, ends, strict=True)]


def one_after_the_other(parts: Sequence[Records]) -> Records:
    if not parts:
        return Records.empty()
    if len(parts) == 1:
        return parts[0]
    return Records(
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        b"".join(part.values for part in parts),
    )


def pieces(records: Records, *, most: int, most_bytes: int) -> Iterator[Records]:
    """Yield the records in pieces of a limited size; a larger record is a piece by
    itself.
    """
    ends = records.ends()
    low = 0
    while low < len(records):
        before = int(ends[low - 1]) if low else 0
        high = int(np.searchsorted(ends, before + most_bytes, side="right"))
        high = min(max(high, low + 1), low + most, len(records))
        yield records[low:high]
        low = high

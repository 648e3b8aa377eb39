"""Steps that take much longer than the others, and whether they come regularly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.signals import Array

DEVIATIONS = 5.0  # of the median deviation from the median
LEAST_FACTOR = 1.3  # of the median

# Outliers of one size differ by less than this factor.
LEAST_OF_LARGEST = 0.5

FEWEST_STEPS_OF_PERIODS = 100
# A period is seen so many times at least.
FEWEST_PERIODS = 3
# Of the slow steps, this part has another one a period later.
LEAST_CORRELATION = 0.60
PEAK_SHARE = 0.75
SHORTEST_PERIOD = 3


@dataclass(frozen=True, slots=True)
class Outliers:
    """`rows` are their places among the steps, `excess` their time beyond the median."""

    rows: NDArray[np.int64]
    median: float
    excess: Array
    total: float  # of all steps

    @property
    def share(self) -> float:
        return float(self.excess.sum()) / self.total


def find_outliers(seconds: Array) -> Outliers | None:
    """Return None where no time passed."""
    if not len(seconds) or not seconds.sum() > 0:
        return None
    median = float(np.median(seconds))
    deviation = float(np.median(np.abs(seconds - median)))
    limit = max(median + DEVIATIONS * deviation, LEAST_FACTOR * median)
    rows = np.flatnonzero(seconds > limit)
    return Outliers(rows, median, seconds[rows] - median, float(seconds.sum()))


def largest_of(outliers: Outliers) -> Outliers:
    """Return the outliers of the largest size, without the many small ones of jitter."""
    if len(outliers.rows) < FEWEST_PERIODS:
        return outliers
    # Not the largest alone, which may be one of a kind.
    large = float(np.sort(outliers.excess)[-FEWEST_PERIODS])
    is_large = outliers.excess >= LEAST_OF_LARGEST * large
    return Outliers(
        outliers.rows[is_large],
        outliers.median,
        outliers.excess[is_large],
        outliers.total,
    )


def period_of(rows: NDArray[np.int64], count: int) -> int | None:
    """Return after how many steps an outlier comes again; None if irregularly.

    By the autocorrelation of where they are, a step to either side allowed: a thing
    that is done every minute does not fall on exactly the same step.
    """
    if count < FEWEST_STEPS_OF_PERIODS or len(rows) < FEWEST_PERIODS:
        return None
    apart = np.diff(rows)
    # Slow steps in a row, as after a stall, are one event.
    starts = rows[np.concatenate([[True], apart > 1])]
    if len(starts) < FEWEST_PERIODS:
        return None

    marks = np.zeros(count)
    marks[starts] = 1.0
    near = np.convolve(marks, np.ones(3), mode="same").clip(0.0, 1.0)
    size = 1 << (2 * count - 1).bit_length()
    product = np.fft.rfft(near, size) * np.conj(np.fft.rfft(marks, size))
    matches = np.fft.irfft(product, size)[: count // FEWEST_PERIODS + 1]

    possible = np.searchsorted(starts, count - np.arange(len(matches)))
    correlation = matches / np.maximum(possible, 1)
    # What comes every second or third step is a rhythm of the work itself.
    correlation[:SHORTEST_PERIOD] = 0.0
    correlation[possible < FEWEST_PERIODS - 1] = 0.0
    return _middle_of_first_peak(correlation)


def _middle_of_first_peak(correlation: Array) -> int | None:
    highest = float(correlation.max())
    if highest < LEAST_CORRELATION:
        return None
    # Of a period of 10 steps 20 is a period, too; and neighbours match as well.
    is_high = np.append(correlation >= PEAK_SHARE * highest, [False])
    first = int(np.argmax(is_high))
    last = first + int(np.argmin(is_high[first:])) - 1
    return (first + last) // 2

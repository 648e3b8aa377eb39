"""Steps that take much longer than the others: their period and their causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.analysis.steady import warm_up_steps
from tracker.diagnosis.signals import Array, Tracked

DEVIATIONS = 5.0  # of the median deviation from the median
MIN_FACTOR = 1.3  # of the median

SHORTEST_SECONDS = 1e-9

# Outliers of one size differ by less than this factor.
MIN_OF_LARGEST = 0.5

FEWEST_STEPS_OF_PERIODS = 100
# Minimum number of periods in the series.
FEWEST_PERIODS = 3
# This share of the slow steps must have another slow step one period later.
MIN_CORRELATION = 0.60
PEAK_SHARE = 0.75
SHORTEST_PERIOD = 3

# Interquartile range of the extra time, relative to its median.
SAME_SIZE_SPREAD = 0.25
# Share of slow steps that must fit a period; the rest is jitter.
ALIKE_SHARE = 0.80
# Limits for gradient accumulation: period, and length of the optimizer step.
SHORTEST_RHYTHM = 8
LONGEST_ACCUMULATION = 32
LARGEST_ACCUMULATED_FACTOR = 4.0  # of the median step
# Minimum number and share of steps for a separate kind.
FEWEST_OF_A_KIND = 20
MIN_OF_A_KIND = 0.03

# Values logged at the end of a step may arrive slightly later.
LATE_SECONDS = 0.05
MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Outliers:
    """`rows` are their indices among the steps, `excess` their time above the median."""

    rows: NDArray[np.int64]
    median: float
    excess: Array
    total: float  # time of all steps

    @property
    def share(self) -> float:
        return float(self.excess.sum()) / self.total

    def of(self, chosen: NDArray[np.bool_]) -> Outliers:
        """Return a subset."""
        return replace(self, rows=self.rows[chosen], excess=self.excess[chosen])


def find_outliers(seconds: Array) -> Outliers | None:
    """Return None if the total time is 0."""
    if not len(seconds) or not seconds.sum() > 0:
        return None
    median = float(np.median(seconds))
    deviation = float(np.median(np.abs(seconds - median)))
    limit = max(median + DEVIATIONS * deviation, MIN_FACTOR * median)
    rows = np.flatnonzero(seconds > limit)
    return Outliers(rows, median, seconds[rows] - median, float(seconds.sum()))


def tail_limit(seconds: Array) -> float:
    """Return the step time up to which steps belong to one skewed distribution.

    Work in proportion to a varying length, such as that of sentences, has about log-normal
    times, so deviations are ratios.
    """
    logs = np.log(np.maximum(seconds, SHORTEST_SECONDS))
    middle = np.median(logs)
    return float(np.exp(middle + DEVIATIONS * np.median(np.abs(logs - middle))))


def largest_of(outliers: Outliers) -> Outliers:
    """Return the outliers of the largest size, without the many small ones of jitter."""
    if len(outliers.rows) < FEWEST_PERIODS:
        return outliers
    # The largest outlier alone may be a single event.
    large = float(np.sort(outliers.excess)[-FEWEST_PERIODS])
    return outliers.of(outliers.excess >= MIN_OF_LARGEST * large)


def with_period(outliers: Outliers, steps: int) -> tuple[Outliers, int | None]:
    """Return the outliers and their period; of those without one, perhaps the largest."""
    period = period_of(outliers.rows, steps)
    if period is not None:
        return outliers, period
    # Jitter hides the period of the largest outliers.
    large = largest_of(outliers)
    period = period_of(large.rows, steps)
    return (outliers if period is None else large), period


def slow_rows(seconds: Array, *, max_share: float) -> NDArray[np.int64]:
    """Return the rows of the slow steps after warm-up, as a chart marks them.

    With a larger share of slow steps, there are two kinds of steps and no outliers.
    """
    dropped, _ = warm_up_steps(seconds)
    steps = len(seconds) - dropped
    outliers = find_outliers(seconds[dropped:])
    if outliers is not None and len(outliers.rows) > max_share * steps:
        outliers = largest_of(outliers)
    if outliers is None or len(outliers.rows) > max_share * steps:
        return np.empty(0, np.int64)
    outliers, _ = with_period(outliers, steps)
    return outliers.rows + dropped


def is_kind_of_step(outliers: Outliers, period: int | None, steps: int) -> bool:
    """Return whether slow steps are a separate kind of step rather than incidents.

    For example, every k-th step updates the weights, or many batches have a second length.
    """
    large = largest_of(outliers)
    if not len(large.rows):
        return False
    typical = float(np.median(large.excess))
    if period is None:
        low, high = np.percentile(outliers.excess, (25, 75))
        fewest = max(FEWEST_OF_A_KIND, MIN_OF_A_KIND * steps)
        is_one_size = float(high - low) <= SAME_SIZE_SPREAD * typical
        return is_one_size and len(outliers.rows) >= fewest
    places = np.bincount(large.rows % period)
    is_exact = float(places.max()) >= ALIKE_SHARE * len(large.rows)
    is_short = typical <= LARGEST_ACCUMULATED_FACTOR * outliers.median
    return is_exact and is_short and period <= LONGEST_ACCUMULATION


def is_rhythm(outliers: Outliers, period: int | None) -> bool:
    """Return whether slow steps keep their period from the first to the last.

    Jitter of a busy machine has short periods by chance.
    """
    if period is None or period < SHORTEST_RHYTHM:
        return False
    places = np.bincount(largest_of(outliers).rows % period, minlength=period)
    around = places + np.roll(places, 1) + np.roll(places, -1)
    return float(around.max()) >= ALIKE_SHARE * float(places.sum())


def are_logged(
    outliers: Outliers,
    ends: Array | None,
    seconds: Array,
    tracked: Mapping[str, Tracked] | None,
) -> bool:
    """Return whether a series has its points in the largest slow steps, and few elsewhere."""
    large = largest_of(outliers)
    return ends is not None and any(
        _is_logged(large, ends, seconds, series.times)
        for series in (tracked or {}).values()
    )


def _is_logged(
    outliers: Outliers, ends: Array, seconds: Array, times: NDArray[np.int64]
) -> bool:
    at = np.sort(times) / MICROSECONDS
    first = np.searchsorted(at, ends - seconds, side="right")
    last = np.searchsorted(at, ends + np.minimum(LATE_SECONDS, seconds), side="right")
    has_points = last > first
    in_slow = int(has_points[outliers.rows].sum())
    return (
        in_slow >= ALIKE_SHARE * len(outliers.rows)
        # A point may fall between two steps and count in both.
        and int(has_points.sum()) <= 2 * len(outliers.rows) / ALIKE_SHARE
    )


def period_of(rows: NDArray[np.int64], count: int) -> int | None:
    """Return the number of steps between outliers; None if they are irregular.

    From the autocorrelation of their positions, with a tolerance of one step: events with a
    fixed interval in seconds do not fall on exactly the same step.
    """
    if count < FEWEST_STEPS_OF_PERIODS or len(rows) < FEWEST_PERIODS:
        return None
    apart = np.diff(rows)
    # Consecutive slow steps, for example after a stall, are one event.
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
    # A period of two or three steps belongs to the work itself.
    correlation[:SHORTEST_PERIOD] = 0.0
    correlation[possible < FEWEST_PERIODS - 1] = 0.0
    return _middle_of_first_peak(correlation)


def _middle_of_first_peak(correlation: Array) -> int | None:
    highest = float(correlation.max())
    if highest < MIN_CORRELATION:
        return None
    # Multiples of the period are also peaks, and so are neighboring lags.
    is_high = np.append(correlation >= PEAK_SHARE * highest, [False])
    first = int(np.argmax(is_high))
    last = first + int(np.argmin(is_high[first:])) - 1
    return (first + last) // 2

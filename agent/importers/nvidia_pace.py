"""Groups lines without a GPU index by query, from their times (pure).

nvidia-smi queries one GPU after the other, and each line has its own time: milliseconds
lie between the lines of a query, and the interval between queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, median_low

_MAX_GPUS = 32  # per machine
# Intervals of -l are longer.
_LONGEST_WITHIN = 1_000_000  # microseconds
# Used before an interval is detected: hardly any log has a shorter one.
_CLOSE = 50_000  # microseconds
# More than 2: with whole seconds, an interval of 1.5 s has gaps of 1 s and 2 s.
_CLEARLY = 2.5
# With fewer gaps, exceptions are not allowed.
_FEW = 12
# Not all queries: lines may be lost, and a busy machine delays queries.
_MOSTLY = 0.8
# Share of lines with the same time as the previous one: times in whole seconds.
_OFTEN = 0.25
_STEADY_SHARE, _STEADY_FACTOR = 0.9, 1.5


@dataclass(frozen=True, slots=True)
class Pace:
    """The number of lines per query, and the gaps between them."""

    gpus: int = 1
    # A line after a longer gap belongs to the next query.
    longest_within: float = 0.0  # microseconds
    # False if the gaps are irregular but show no queries.
    is_sure: bool = True


def pace_of(moments: Sequence[int]) -> Pace:
    """Analyze the times at the beginning of a log."""
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    limits = sorted({gap for gap in gaps if 0 <= gap <= _LONGEST_WITHIN})
    fits = [fit for limit in limits if (fit := _fit(gaps, limit)) is not None]
    if fits:
        return max(fits, key=lambda fit: (fit.share, fit.separation)).pace
    # A second that ended within a query cut it in two, now and then.
    if gaps.count(0) >= _OFTEN * len(gaps) > 0:
        return Pace(_MAX_GPUS)
    return Pace(is_sure=_is_steady(gaps))


@dataclass(frozen=True, slots=True)
class _Fit:
    """The result of treating gaps up to a limit as within a query."""

    pace: Pace
    share: float  # share of queries with the most frequent number of lines
    separation: float  # how many times the limit the next longer gap is


def _fit(gaps: Sequence[int], limit: int) -> _Fit | None:
    """Return the result for a limit; None if the log contradicts it."""
    sizes = _sizes(gaps, limit)
    # The first and the last query may be there in part.
    counts = Counter(sizes[1:-1] or [max(sizes)])
    gpus = max(counts, key=lambda size: (counts[size], size))
    cut = sum(sizes[end] < gpus for end in {0, len(sizes) - 1})
    whole = sizes.count(gpus)
    share = whole / (len(sizes) - cut)
    if not 1 < gpus <= _MAX_GPUS or share < _MOSTLY:
        return None
    if whole == 1 and limit >= _CLOSE:
        return None
    # A clock set back also starts a query, but the length of its gap is meaningless.
    between = [gap for gap in gaps if gap > limit]
    if not between:
        return _Fit(Pace(gpus, limit), share, 1.0) if limit < _CLOSE else None
    if not _is_clear(gaps, limit, between):
        return None
    # Later gaps may be longer or shorter than the examined ones.
    longest_within = limit + (min(between) - limit) / 3
    return _Fit(Pace(gpus, longest_within), share, min(between) / max(limit, 1))


def _is_clear(gaps: Sequence[int], limit: int, between: Sequence[int]) -> bool:
    """Return whether gaps within queries are small compared to those between them."""
    if len(gaps) < _FEW:
        return min(between) >= max(_CLEARLY * limit, _CLOSE)
    within = median(gap for gap in gaps if 0 <= gap <= limit)
    return median(between) >= _CLEARLY * within


def _sizes(gaps: Sequence[int], limit: int) -> list[int]:
    """Return the numbers of lines without a longer gap between them."""
    sizes = [1]
    for gap in gaps:
        if 0 <= gap <= limit:
            sizes[-1] += 1
        else:
            sizes.append(1)
    return sizes


def _is_steady(gaps: Sequence[int]) -> bool:
    """Return whether gaps are about equal, as for a single GPU."""
    if not gaps:
        return True
    median = median_low(gaps)
    steady = sum(
        median / _STEADY_FACTOR <= gap <= median * _STEADY_FACTOR for gap in gaps
    )
    return steady >= _STEADY_SHARE * len(gaps)

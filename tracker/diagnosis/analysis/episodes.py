"""Occasional work during training, such as evaluations: durations and end times.

An episode is a phase between steps, logged as a span, or within steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.breakdown.phases import PhaseKind, seconds_of_kind, spans_of_kind
from tracker.diagnosis.signals import Array, Samples

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """`seconds` of each episode; `ends` in microseconds since 1970."""

    seconds: Array
    ends: NDArray[np.int64]

    @property
    def total(self) -> float:
        return float(self.seconds.sum())

    def __len__(self) -> int:
        return len(self.seconds)


def find_episodes(
    kind: PhaseKind,
    spans: Mapping[str, Samples] | None,
    phase_seconds: Mapping[str, Array] | None,
    step_end_seconds: Array | None,
) -> Episodes | None:
    """Return None if there is no phase of this kind."""
    between = spans_of_kind(spans or {}, kind)
    within = seconds_of_kind(phase_seconds or {}, kind)
    if between is None and (within is None or step_end_seconds is None):
        return None

    seconds, ends = [np.empty(0)], [np.empty(0, np.int64)]
    if between is not None:
        seconds.append(between.values)
        ends.append(between.times)
    if within is not None and step_end_seconds is not None:
        rows = within > 0
        seconds.append(within[rows])
        ends.append((step_end_seconds[rows] * MICROSECONDS).astype(np.int64))
    return Episodes(np.concatenate(seconds), np.concatenate(ends))


def is_during(times: NDArray[np.int64], episodes: Episodes) -> NDArray[np.bool_]:
    """Return which of the times are within an episode."""
    order = np.argsort(episodes.ends)
    ends = episodes.ends[order]
    starts = ends - (episodes.seconds[order] * MICROSECONDS).astype(np.int64)
    inside = np.zeros(len(times), np.bool_)
    if not len(ends):
        return inside
    # A time is inside if the first episode that ends at or after it started before it.
    after = np.searchsorted(ends, times, side="left")
    is_before_an_end = after < len(ends)
    inside[is_before_an_end] = starts[after[is_before_an_end]] < times[is_before_an_end]
    return inside

"""What a service spends its requests' time on: asked by the rules about services.

A phase's time is without the phases in it, so a request takes its own time and that of
the waiting, loading and computing that ended before it did and after the request before.
Where requests overlap, a part may be counted for a neighbour: sums and medians hold, single
requests are estimates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.signals import Array, Samples, Times

FEWEST_REQUESTS = 10


NO_PARTS = (
    'the parts of a request: with run.phase("queue"): and with run.phase("compute"):'
)


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """`seconds` are of whole requests; the others are of each part, in order of time."""

    times: Times
    seconds: Array
    parts: Mapping[PhaseKind, Array]
    # How often each model was loaded, by the name of its phase.
    loads: Mapping[str, int]

    @property
    def count(self) -> int:
        return len(self.times)

    @property
    def mean_seconds(self) -> float:
        return float(self.seconds.mean())

    def share(self, kind: PhaseKind) -> float:
        """Return how much of all requests' time a part takes; 0 where it is not timed."""
        total = float(self.seconds.sum())
        return min(1.0, float(self._of(kind).sum()) / total) if total > 0 else 0.0

    def times_of(self, kind: PhaseKind) -> int:
        return len(self._of(kind))

    def _of(self, kind: PhaseKind) -> Array:
        return self.parts.get(kind, np.empty(0))


def measure_requests(spans: Mapping[str, Samples]) -> Requests | None:
    """Return None where there are too few requests to judge."""
    handled = _joined(spans, PhaseKind.REQUEST)
    if len(handled.times) < FEWEST_REQUESTS:
        return None

    seconds = handled.values.copy()
    parts: dict[PhaseKind, Array] = {}
    for kind in (PhaseKind.QUEUE, PhaseKind.LOAD_MODEL, PhaseKind.COMPUTE):
        part = _joined(spans, kind)
        if kind is PhaseKind.LOAD_MODEL:
            # Most services load before the first request, and none says when it began.
            part = _after(part, int(handled.times[0]))
        if not len(part.times):
            continue
        parts[kind] = part.values
        owner = np.searchsorted(handled.times, part.times)
        # What ends after the last request belongs to one that goes on.
        inside = owner < len(seconds)
        np.add.at(seconds, owner[inside], part.values[inside])
    loads = {
        name: len(span.values)
        for name, span in spans.items()
        if kind_of_phase(name) is PhaseKind.LOAD_MODEL
    }
    return Requests(handled.times, seconds, parts, loads)


def _after(part: Samples, moment: int) -> Samples:
    is_after = part.times > moment
    return Samples(part.times[is_after], part.values[is_after])


def _joined(spans: Mapping[str, Samples], kind: PhaseKind) -> Samples:
    found = [span for name, span in spans.items() if kind_of_phase(name) is kind]
    if not found:
        return Samples(np.empty(0, np.int64), np.empty(0))
    times = np.concatenate([span.times for span in found])
    values = np.concatenate([span.values for span in found])
    order = np.argsort(times, kind="stable")
    return Samples(times[order], values[order])

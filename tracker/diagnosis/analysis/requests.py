"""How the time of a service's requests is divided, for the rules about services.

A phase's time excludes the phases inside it. If the run reports the phases within requests, a
request takes its own time and theirs. Other phases are assigned by time to the request that
ends next, as in runs of older agents: if requests overlap, a part may be assigned to a neighbor,
so sums and medians are correct while single requests are estimates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase, spans_of_kind
from tracker.diagnosis.signals import Array, Samples, Times

FEWEST_REQUESTS = 10
# The missing input in the answer of a rule if there are fewer.
TOO_FEW_REQUESTS = f"at least {FEWEST_REQUESTS} requests"
MICROSECONDS = 1_000_000

NO_PARTS = "the times of queue and compute within a request, as phases"


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """`seconds` is per request; `parts` has the times of each part, in order of time."""

    times: Times
    seconds: Array
    parts: Mapping[PhaseKind, Array]
    # Occurrences of each part since the first request began.
    counts: Mapping[PhaseKind, int]
    # Number of loads of each model, by phase name.
    loads: Mapping[str, int]
    # Loading time within the first request, if the nesting is known.
    first_load_seconds: float

    @property
    def count(self) -> int:
        return len(self.times)

    @property
    def mean_seconds(self) -> float:
        return float(self.seconds.mean())

    def share(self, kind: PhaseKind) -> float:
        """Return a part's share of the time of all requests; 0 if it is not timed."""
        total = float(self.seconds.sum())
        part = self.parts.get(kind, np.empty(0))
        return min(1.0, float(part.sum()) / total) if total > 0 else 0.0

    def times_of(self, kind: PhaseKind) -> int:
        return self.counts.get(kind, 0)


def measure_requests(
    spans: Mapping[str, Samples], held: Mapping[str, Samples] | None = None
) -> Requests | None:
    """Return None if there are too few requests to judge.

    `held` are the phases within requests, from the signal `request_parts`.
    """
    handled = _joined(spans, PhaseKind.REQUEST)
    if len(handled.times) < FEWEST_REQUESTS:
        return None

    held = {
        name: _at_ends(part, handled.times)
        for name, part in (held or {}).items()
        # A nested request counts as a separate request.
        if kind_of_phase(name) is not PhaseKind.REQUEST
    }
    seconds = handled.values.copy()
    for part in held.values():
        np.add.at(seconds, np.searchsorted(handled.times, part.times), part.values)
    began = float(handled.times[0]) - float(seconds[0]) * MICROSECONDS

    parts: dict[PhaseKind, Array] = {}
    counts: dict[PhaseKind, int] = {}
    for kind in (PhaseKind.QUEUE, PhaseKind.LOAD_MODEL, PhaseKind.COMPUTE):
        within = _joined(held, kind)
        beside = _joined({n: span for n, span in spans.items() if n not in held}, kind)
        if kind is PhaseKind.LOAD_MODEL:
            # Most services load the model before the first request.
            beside = _after(beside, float(handled.times[0]))
        owner = np.searchsorted(handled.times, beside.times)
        # Phases that end after the last request belong to one that is still running.
        inside = owner < len(seconds)
        np.add.at(seconds, owner[inside], beside.values[inside])
        if len(within.times) or len(beside.times):
            parts[kind] = np.concatenate([within.values, beside.values])
            timed = _joined({n: spans[n] for n in held if n in spans}, kind)
            counts[kind] = len(_after(timed, began).times) + len(beside.times)
    return Requests(
        times=handled.times,
        seconds=seconds,
        parts=parts,
        counts=counts,
        loads={
            name: len(span.values)
            for name, span in spans.items()
            if kind_of_phase(name) is PhaseKind.LOAD_MODEL
        },
        first_load_seconds=_at(
            _joined(held, PhaseKind.LOAD_MODEL), int(handled.times[0])
        ),
    )


def _at_ends(part: Samples, ends: Times) -> Samples:
    """Return the points of a part that were logged with a request."""
    is_known = np.isin(part.times, ends)
    return Samples(part.times[is_known], part.values[is_known])


def _at(part: Samples, moment: int) -> float:
    return float(part.values[part.times == moment].sum())


def _after(part: Samples, moment: float) -> Samples:
    is_after = part.times > moment
    return Samples(part.times[is_after], part.values[is_after])


def _joined(spans: Mapping[str, Samples], kind: PhaseKind) -> Samples:
    found = spans_of_kind(spans, kind)
    return found or Samples(np.empty(0, np.int64), np.empty(0))

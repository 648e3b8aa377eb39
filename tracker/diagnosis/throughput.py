"""How fast a stage is in the window that was judged."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.measurements import Measurements, Window, clean

EXAMPLES = "step_examples"


@dataclass(frozen=True, slots=True)
class Throughput:
    """Per second of steps; examples are None where nobody knows how many a step has."""

    steps: float
    examples: float | None


def throughput_of(
    measurements: Measurements, window: Window | None
) -> Throughput | None:
    """Return None where no steps were measured."""
    if window is None:
        return None
    within = clean(measurements).within(window)
    count = len(within.steps)
    total = float(within.steps.columns["step_seconds"].sum()) if count else 0.0
    if not total > 0:
        return None

    examples = within.steps.columns.get(EXAMPLES)
    batch_size = within.facts.get("batch_size")
    if examples is not None and bool((examples > 0).all()):
        shown: float | None = float(examples.sum()) / total
    elif isinstance(batch_size, int | float) and batch_size > 0:
        shown = batch_size * count / total
    else:
        shown = None
    return Throughput(count / total, shown)

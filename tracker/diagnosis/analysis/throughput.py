"""Throughput of a stage in the judged window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.engine.measurements import Measurements, Window, clean

EXAMPLES, WAIT = "step_examples", "data_wait_seconds"


@dataclass(frozen=True, slots=True)
class Throughput:
    """Values per second of step time; `examples` is None if their number is unknown.

    `data_wait_share` is relative to the step time; None if waiting was not measured.
    """

    steps: float
    examples: float | None
    median_step_seconds: float
    data_wait_share: float | None


def throughput_of(
    measurements: Measurements, window: Window | None
) -> Throughput | None:
    """Return None if no steps were measured."""
    if window is None:
        return None
    within = clean(measurements).within(window)
    count = len(within.steps)
    seconds = within.steps.columns["step_seconds"] if count else np.empty(0)
    total = float(seconds.sum())
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
    waits = within.steps.columns.get(WAIT)
    return Throughput(
        steps=count / total,
        examples=shown,
        median_step_seconds=float(np.median(seconds)),
        data_wait_share=None if waits is None else float(waits.sum()) / total,
    )

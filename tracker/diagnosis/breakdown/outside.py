"""Step time that is neither waiting for data nor in a named phase."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tracker.diagnosis.signals import Array


def outside_seconds(
    step_seconds: Array, waits: Array | None, phases: Mapping[str, Array] | None
) -> Array:
    """Return the time of each step that no phase and no wait accounts for."""
    left = step_seconds
    if waits is not None:
        left = left - np.minimum(waits, step_seconds)
    if phases:
        left = left - np.sum([*phases.values()], axis=0)
    return np.maximum(left, 0.0)

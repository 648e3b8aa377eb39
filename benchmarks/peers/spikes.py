"""Outliers that a chart must not hide (pure; standard library).

Any format of a chart's answer contains such a value as text or as the bytes of a float.
Each differs from all other numbers of an answer.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable

SPIKES = 10
# A float32 holds all of them; losses are about 1, and steps and times are whole or longer.
LOWEST, FRACTION = 40_000, 0.9375
BINARY = ("<f", "<d", ">f", ">d")


def spikes(steps: int, run: int) -> dict[int, float]:
    """Return a run's spikes by step: one in each part of it, unlike those of other runs."""
    return {
        (2 * number + 1) * steps // (2 * SPIKES): LOWEST
        + SPIKES * run
        + number
        + FRACTION
        for number in range(min(SPIKES, steps))
    }


def shown(answer: bytes, values: Iterable[float]) -> int:
    """Return how many of these values an answer holds."""
    return sum(_holds(answer, value) for value in values)


def _holds(answer: bytes, value: float) -> bool:
    # Not as a part of a longer number, such as a time.
    text = re.escape(str(value).encode())
    return any(struct.pack(kind, value) in answer for kind in BINARY) or (
        re.search(rb"(?<![\d.])" + text + rb"0*(?!\d)", answer) is not None
    )

"""The steps and times that a series can store (pure)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

# Times are microseconds since 1970, up to the end of the year 9999.
LATEST_TIME = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp()) * 1_000_000
# Steps are stored as floats; above this, adjacent integers are equal.
LARGEST_STEP = 2.0**53

Flags: TypeAlias = NDArray[np.bool_]


def storable(steps: bytes, times: bytes) -> Flags:
    """Return, for each little-endian step and time, whether both can be stored."""
    step, time = np.frombuffer(steps, "<f8"), np.frombuffer(times, "<i8")
    # Comparisons with NaN are false, so NaN steps are rejected.
    with np.errstate(invalid="ignore"):
        good = (np.abs(step) <= LARGEST_STEP) & (time >= 0) & (time <= LATEST_TIME)
    return np.asarray(good, dtype=np.bool_)

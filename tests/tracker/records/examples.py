"""Records for tests, and a comparison of two records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.tracker.series.examples import SECOND, START
from tracker.records.record import Records


def records(
    values: Sequence[bytes],
    *,
    steps: np.ndarray | None = None,
    times: np.ndarray | None = None,
) -> Records:
    numbers = np.arange(len(values))
    return Records(
        np.asarray(numbers if steps is None else steps, np.float64),
        np.asarray(START + numbers * SECOND if times is None else times, np.int64),
        np.fromiter(map(len, values), np.int64, len(values)),
        b"".join(values),
    )


def same(one: Records, other: Records) -> bool:
    return (
        one.steps.tobytes() == other.steps.tobytes()
        and one.times.tolist() == other.times.tolist()
        and one.listed() == other.listed()
    )

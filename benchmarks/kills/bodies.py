"""Bodies of batches, made with the agent's own messages and records.

The only module of the benchmarks that depends on the wire format.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from seamark import messages
from seamark.queue.frames import Frame

PROJECT = "faults"
START = 1_767_225_600_000_000
MICROSECONDS_A_STEP = 1_000


def opening(run: str, *, rank: int = 0) -> bytes:
    """Return the payload of frame 1."""
    origin = messages.Origin(
        PROJECT, run, "train", rank, "host", os.getpid(), "0.1.0", START
    )
    return messages.payload([messages.open_spool(origin)])


def points(
    steps: NDArray[np.int64], columns: Mapping[str, NDArray[np.float64]]
) -> bytes:
    """Return the payload of a frame that holds these points of each series."""
    return messages.payload(
        [
            messages.points(
                list(columns),
                steps.astype(float).tolist(),
                (START + MICROSECONDS_A_STEP * (steps % 2**24)).tolist(),
                [values.tolist() for values in columns.values()],
            )
        ]
    )


def body(payloads: Iterable[bytes], *, first: int) -> bytes:
    """Frame the payloads, numbered from `first`."""
    return b"".join(
        Frame(number, payload).to_bytes()
        for number, payload in enumerate(payloads, start=first)
    )

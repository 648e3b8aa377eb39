"""When batches are due, and how a backlog is cut into batches (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

# As the agent has them: frames are written four times a second, and a batch takes as
# many of them as fit.
FRAMES_A_SECOND = 4
LARGEST_BATCH_BYTES = 4 * 1024 * 1024
HOUR_SECONDS = 3_600
# Like the agent without a Retry-After header.
FIRST_RETRY_SECONDS = 0.5
LONGEST_RETRY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Pace:
    """So many clients, each with a batch every so many seconds, none with another."""

    clients: int
    every_seconds: float

    def due(self, client: int, *, seconds: float = math.inf) -> Iterator[float]:
        """Yield when the client's batches are due, in seconds from the start."""
        first = self.every_seconds * client / self.clients
        for number in count():
            offset = first + number * self.every_seconds
            if offset >= seconds:
                return
            yield offset


@dataclass(frozen=True, slots=True)
class Cut:
    """The batches of a client: how many steps each has, and each of its frames."""

    steps_in_batch: int
    steps_in_frame: int
    batches: int = 0


def cut_while_live(steps_a_second: float, every_seconds: float) -> Cut:
    steps = max(1, round(steps_a_second * every_seconds))
    return Cut(steps, min(steps, steps_in_frame(steps_a_second)))


def cut_of_backlog(
    steps_a_second: float, backlog_seconds: float, *, bytes_a_step: float
) -> Cut:
    """Split a backlog into as many batches as an agent sends after an hour.

    The number does not depend on its length: a single batch could not be throttled.
    """
    steps = max(1, round(steps_a_second * backlog_seconds))
    hour_bytes = steps_a_second * HOUR_SECONDS * bytes_a_step
    batches = min(steps, max(1, math.ceil(hour_bytes / LARGEST_BATCH_BYTES)))
    return Cut(math.ceil(steps / batches), steps_in_frame(steps_a_second), batches)


def steps_in_frame(steps_a_second: float) -> int:
    return max(1, round(steps_a_second / FRAMES_A_SECOND))


def retry_seconds(failures: int, chance: float) -> float:
    """Return how long to wait after so many failures; `chance` is between 0 and 1."""
    longest = min(FIRST_RETRY_SECONDS * 2.0**failures, LONGEST_RETRY_SECONDS)
    return longest * (1 + chance) / 2

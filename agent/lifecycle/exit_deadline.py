"""The time limit of a run's end: one deadline for everything that happens then."""

from __future__ import annotations

import time

# Reserved for stopping threads, closing files and the interpreter's own shutdown.
_CLOSING_SECONDS = 0.4
# Reserved by capture and uploads for writing and delivery.
_LAST_SECONDS = 1.0


class Ending:
    """A deadline that starts when it is created."""

    def __init__(self, seconds: float, *, is_within: bool = False) -> None:
        """Start it; with `is_within`, the interpreter's shutdown is part of `seconds`."""
        closing = min(_CLOSING_SECONDS, seconds / 5) if is_within else 0.0
        self._began = time.monotonic()
        self._deadline = self._began + seconds - closing

    @property
    def left(self) -> float:
        """Return the seconds left, at least 0."""
        return max(0.0, self._deadline - time.monotonic())

    @property
    def left_for_most(self) -> float:
        """Return the seconds left for work that precedes writing and delivery."""
        left = self.left
        return left - min(_LAST_SECONDS, left / 5)

    def left_of_first(self, seconds: float) -> float:
        """Return the seconds left of the first `seconds`, ignoring the deadline."""
        return max(0.0, self._began + seconds - time.monotonic())

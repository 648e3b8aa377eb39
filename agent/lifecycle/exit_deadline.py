"""How long the end of a run may take: one deadline for all that happens then."""

from __future__ import annotations

import time

# Of the end of a process: threads are let go, files closed, and Python itself ends.
_CLOSING_SECONDS = 0.4
# Capture and files leave so much to writing and delivery.
_LAST_SECONDS = 1.0


class Ending:
    """Began when it was made, and may take so many seconds."""

    def __init__(self, seconds: float, *, is_within: bool = False) -> None:
        """`is_within` says that by then the process is to be gone, Python included."""
        closing = min(_CLOSING_SECONDS, seconds / 5) if is_within else 0.0
        self._began = time.monotonic()
        self._deadline = self._began + seconds - closing

    @property
    def left(self) -> float:
        """How many seconds are left; 0 if none are."""
        return max(0.0, self._deadline - time.monotonic())

    @property
    def left_for_most(self) -> float:
        """How many seconds are left for what writing and delivery come after."""
        left = self.left
        return left - min(_LAST_SECONDS, left / 5)

    def left_of_first(self, seconds: float) -> float:
        """How many are left of the first so many, whether or not that is too late."""
        return max(0.0, self._began + seconds - time.monotonic())

"""Phases: timed parts of a step, and the time of nested phases in each.

A phase's own time excludes its nested phases. Their time is stored separately by name,
so that the same phase inside and outside a request can be distinguished.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seamark.recording.device_times import Span
    from seamark.run import Run

# Limit of nested names per phase; names may be generated.
MAX_PARTS = 64
# Characters: two names together form one path.
LONGEST_NAMES = 400


class Phase:
    """A timed part of a step, as a context manager."""

    # Set while it is entered.
    span: Span | None = None
    is_open = False
    around: Phase | None = None
    _began = 0.0
    _seconds_of_others = 0.0
    _parts: dict[str, float] | None = None

    def __init__(self, run: Run, name: str) -> None:
        self.name = name
        self.steps = run.steps
        self._run = run

    def __reduce__(self) -> tuple[Any, ...]:
        """Support copies and pickles, for example of a model, as a phase not yet
        entered.
        """
        return self._run.phase, (self.name,)

    def __enter__(self) -> None:
        # If it is entered again before it is left, only the last entry counts.
        if not self.is_open:
            around = _innermost.get()
            self.around = around if around is None else _open_one(around)
            self.is_open = True
            _innermost.set(self)
        self.steps.opened(self)
        self._began = time.perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        seconds = time.perf_counter() - self._began
        if not self.is_open:
            return
        around, parts = self.around, self._parts
        if around is not None:
            around = _open_one(around)
        own = seconds
        if self._seconds_of_others:
            # More than the total if nested phases ran in parallel.
            own = max(0.0, seconds - self._seconds_of_others)
        self.is_open = False
        # Reset, so that phases that are entered again form no cycles.
        self.around = None
        if _innermost.get() is self:
            _innermost.set(around)
        if around is not None and around.steps is self.steps:
            around.hold(self.name, seconds, own, parts)
        self.steps.closed(self, own, parts)
        self.span = None
        if self._seconds_of_others:
            self._seconds_of_others = 0.0
            self._parts = None

    def hold(
        self, name: str, seconds: float, own: float, parts: dict[str, float] | None
    ) -> None:
        """Add the time of a nested phase, in seconds."""
        self._seconds_of_others += seconds
        if self.steps.is_paused:
            return
        totals = self._parts = self._parts or {}
        for part, spent in ((name, own), *(parts or {}).items()):
            if part in totals:
                totals[part] += spent
            elif len(totals) < MAX_PARTS and len(part + self.name) <= LONGEST_NAMES:
                totals[part] = spent


# Per thread and coroutine, so that parallel phases are not nested in each other.
_innermost: ContextVar[Phase | None] = ContextVar("innermost phase", default=None)


def _open_one(phase: Phase | None) -> Phase | None:
    """Return the innermost open phase; phases may be left out of order."""
    while phase is not None and not phase.is_open:
        phase = phase.around
    return phase

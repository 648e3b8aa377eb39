"""Phases: timed parts of a step, and what other phases took within each of them.

A phase's own time is without that of the phases in it. What these took is kept beside
it, by their names, so that a part of one request is told from the same part outside.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seamark.recording.device_times import Span
    from seamark.run import Run

# Names may be made up each time; of one phase so many parts are told apart.
MAX_PARTS = 64
# Characters: two names are one path together.
LONGEST_NAMES = 400


class Phase:
    """A timed part of a step, as a context manager."""

    # Until it is entered, and again when it is left.
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
        """Travel, as in a model that is copied, as a phase that was not entered yet."""
        return self._run.phase, (self.name,)

    def __enter__(self) -> None:
        # Entered again before it was left, only the last time counts.
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
            # More than all where others ran beside each other.
            own = max(0.0, seconds - self._seconds_of_others)
        self.is_open = False
        # What is left leads nowhere: phases that are entered again make no circles.
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
        """Another phase took so long within this one."""
        self._seconds_of_others += seconds
        if self.steps.is_paused:
            return
        held = self._parts = self._parts or {}
        for part, spent in ((name, own), *(parts or {}).items()):
            if part in held:
                held[part] += spent
            elif len(held) < MAX_PARTS and len(part + self.name) <= LONGEST_NAMES:
                held[part] = spent


# Of a thread or of a coroutine: each knows which phase it is in itself, and what
# others do meanwhile is no part of that.
_innermost: ContextVar[Phase | None] = ContextVar("innermost phase", default=None)


def _open_one(phase: Phase | None) -> Phase | None:
    """Return the innermost phase that is still open: some are left out of order."""
    while phase is not None and not phase.is_open:
        phase = phase.around
    return phase

"""Phases: timed parts of a step, and what other phases took within each of them.

A phase's own time is without that of the phases in it. What these took is kept beside
it, by their names, so that a part of one request is told from the same part outside.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.device_times import Span
    from agent.steps import Steps

# Names may be made up each time; of one phase so many parts are told apart.
MOST_PARTS = 64
# Characters: two names are one path together.
LONGEST_NAMES = 400


class _Entry:
    """One time that a phase was entered, until it is left."""

    __slots__ = ("around", "is_open", "name", "parts", "seconds_of_others", "steps")

    def __init__(self, name: str, steps: Steps, around: _Entry | None) -> None:
        self.name = name
        self.steps = steps
        self.around = around
        self.is_open = True
        self.seconds_of_others = 0.0
        self.parts: dict[str, float] | None = None

    def add_part(self, name: str, seconds: float) -> None:
        if self.parts is None:
            self.parts = {}
        if name in self.parts:
            self.parts[name] += seconds
        elif len(self.parts) < MOST_PARTS and len(name + self.name) <= LONGEST_NAMES:
            self.parts[name] = seconds


# Of a thread or of a coroutine: each knows which phase it is in itself, and what
# others do meanwhile is no part of that.
_innermost: ContextVar[_Entry | None] = ContextVar("innermost phase", default=None)


class Phase:
    """A timed part of a step, as a context manager."""

    def __init__(self, steps: Steps, name: str) -> None:
        self.name = name
        self.span: Span | None = None
        self._steps = steps
        self._entry: _Entry | None = None
        self._began = 0.0

    def __enter__(self) -> None:
        if self._entry is not None:
            # Entered again before it was left: only the last time counts.
            self._entry.is_open = False
        self._entry = _Entry(self.name, self._steps, _open_one(_innermost.get()))
        _innermost.set(self._entry)
        self.span = None
        self._steps.opened(self)
        self._began = time.perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        seconds = time.perf_counter() - self._began
        entry, self._entry = self._entry, None
        if entry is None:
            return
        entry.is_open = False
        around = _open_one(entry.around)
        if _innermost.get() is entry:
            _innermost.set(around)
        own = max(0.0, seconds - entry.seconds_of_others)
        if around is not None and around.steps is self._steps:
            around.seconds_of_others += seconds
            if not self._steps.is_paused:
                around.add_part(self.name, own)
                for name, spent in (entry.parts or {}).items():
                    around.add_part(name, spent)
        self._steps.closed(self, own, entry.parts or {})


def _open_one(entry: _Entry | None) -> _Entry | None:
    """Return the innermost phase that is still open: some are left out of order."""
    while entry is not None and not entry.is_open:
        entry = entry.around
    return entry

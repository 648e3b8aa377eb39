"""Times phases on a GPU with events, without synchronizing.

Events are recorded at the start and end of a phase and read in a later step, when the
device has passed both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

# Steps waiting for the device; older ones are dropped as unknown, not counted as 0.
MAX_STEPS_WAITING = 64
# Spans per step. A step with more is not reported: each span needs two events, and a
# step may never end.
MAX_SPANS = 2_000
_MILLISECONDS = 1000.0


class Event(Protocol):
    """A recorded event with PyTorch's interface."""

    def query(self) -> bool:
        """Return whether the device has passed it."""

    # The event itself raises for other kinds of events.
    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this event to another."""


class Span:
    """One phase on the device, and its nested phases."""

    def __init__(self, name: str, began: Event) -> None:
        self.name = name
        self.began = began
        self.ended: Event | None = None
        self.parts: list[Span] = []


class _Step(NamedTuple):
    number: int
    moment: int  # microseconds since 1970
    spans: list[Span]
    # Ends of spans that the device has not yet passed.
    ended: list[Event]


class DeviceTimes:
    """Collects the spans of steps and returns their times once the device has passed
    them.
    """

    def __init__(self, mark: Callable[[], Event | None]) -> None:
        """Create it; `mark` records an event after all work queued on the device so
        far.

        It returns None if no event can be recorded now.
        """
        self._mark = mark
        self._open: list[Span] = []
        self._spans: list[Span] = []
        self._ended: list[Event] = []
        self._count = 0
        self._waiting: deque[_Step] = deque(maxlen=MAX_STEPS_WAITING)

    def open(self, name: str) -> Span | None:
        """Begin a phase."""
        self._count += 1
        if self._count > MAX_SPANS:
            self._open, self._spans, self._ended = [], [], []
            return None
        began = self._mark()
        if began is None:
            return None
        span = Span(name, began)
        around = self._open[-1].parts if self._open else self._spans
        around.append(span)
        self._open.append(span)
        return span

    def close(self, span: Span) -> None:
        """End a phase."""
        # Too late if its step has ended or is not reported.
        if span not in self._open:
            return
        self._open.remove(span)
        span.ended = self._mark()
        if span.ended is not None:
            self._ended.append(span.ended)

    def end_step(self, number: int, moment: int) -> None:
        """End the step; its device times become available later."""
        # A phase that is open across steps belongs to none.
        if self._spans and not self._open:
            self._waiting.append(_Step(number, moment, self._spans, self._ended))
        self.forget_step()

    def forget_step(self) -> None:
        """Discard the spans of a step that never ended."""
        self._open, self._spans, self._ended = [], [], []
        self._count = 0

    def take(self) -> Iterator[tuple[int, int, dict[str, float]]]:
        """Yield number, timestamp and seconds per phase of the steps that have passed."""
        while self._waiting and _are_passed(self._waiting[0].ended):
            step = self._waiting.popleft()
            seconds: dict[str, float] = {}
            for span in step.spans:
                _add(span, seconds)
            if seconds:
                yield step.number, step.moment, seconds


def _are_passed(events: list[Event]) -> bool:
    """Return whether the device has passed all events, and remove those it has passed."""
    # The newest first: until it has passed, the others need no query. Then they do,
    # because they may be on other streams.
    while events and events[-1].query():
        events.pop()
    return not events


def _add(span: Span, seconds: dict[str, float]) -> float:
    """Add each phase's own time by name; return the seconds of the whole span."""
    of_parts = sum(_add(part, seconds) for part in span.parts)
    if span.ended is None:
        return of_parts
    whole = span.began.elapsed_time(span.ended) / _MILLISECONDS
    own = max(0.0, whole - of_parts)
    seconds[span.name] = seconds.get(span.name, 0.0) + own
    return whole

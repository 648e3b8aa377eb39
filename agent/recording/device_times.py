"""Times phases on a device by events that it passes, without ever waiting for it.

An event is recorded where a phase begins and where it ends, and read in some later
step, when the device has passed both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

# A device that is further behind than that is told no more about: unknown, not 0.
MAX_STEPS_WAITING = 64
# Of a step with more phases nothing is told either: each takes two events, and some
# steps never end.
MAX_SPANS = 2_000
_MILLISECONDS = 1000.0


class Event(Protocol):
    """As PyTorch's events are, once they are recorded."""

    def query(self) -> bool:
        """Return whether the device has passed it."""

    # Any other kind of event is refused by the event itself.
    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this event to another."""


class Span:
    """One phase on the device, and the phases within it."""

    def __init__(self, name: str, began: Event) -> None:
        self.name = name
        self.began = began
        self.ended: Event | None = None
        self.parts: list[Span] = []


class _Step(NamedTuple):
    number: int
    moment: int  # microseconds since 1970
    spans: list[Span]
    # Ends of spans that the device has not been seen to have passed.
    ended: list[Event]


class DeviceTimes:
    """Collects the spans of steps, and hands out their times once they are known."""

    def __init__(self, mark: Callable[[], Event | None]) -> None:
        """`mark` puts an event behind all work that the device was given so far.

        It returns None where nothing may be recorded just now.
        """
        self._mark = mark
        self._open: list[Span] = []
        self._spans: list[Span] = []
        self._ended: list[Event] = []
        self._count = 0
        self._waiting: deque[_Step] = deque(maxlen=MAX_STEPS_WAITING)

    def open(self, name: str) -> Span | None:
        """A phase begins."""
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
        """A phase ends."""
        # Of a step that is over, or is not told about, it is too late.
        if span not in self._open:
            return
        self._open.remove(span)
        span.ended = self._mark()
        if span.ended is not None:
            self._ended.append(span.ended)

    def end_step(self, number: int, moment: int) -> None:
        """The step is over; what the device makes of it is still to come."""
        # A phase that is open across steps belongs to none.
        if self._spans and not self._open:
            self._waiting.append(_Step(number, moment, self._spans, self._ended))
        self.forget_step()

    def forget_step(self) -> None:
        """What was collected belongs to a step that never ended."""
        self._open, self._spans, self._ended = [], [], []
        self._count = 0

    def take(self) -> Iterator[tuple[int, int, dict[str, float]]]:
        """Yield number, moment and seconds per phase of steps that have passed."""
        while self._waiting and _are_passed(self._waiting[0].ended):
            step = self._waiting.popleft()
            seconds: dict[str, float] = {}
            for span in step.spans:
                _add(span, seconds)
            if seconds:
                yield step.number, step.moment, seconds


def _are_passed(events: list[Event]) -> bool:
    """Whether the device has passed all; those that it has are asked no more."""
    # The newest first: before it is passed, the others need not be asked. Afterwards they
    # must be, as they may be of other streams.
    while events and events[-1].query():
        events.pop()
    return not events


def _add(span: Span, seconds: dict[str, float]) -> float:
    """Add each phase's own time by name; return that of the whole span."""
    of_parts = sum(_add(part, seconds) for part in span.parts)
    if span.ended is None:
        return of_parts
    whole = span.began.elapsed_time(span.ended) / _MILLISECONDS
    own = max(0.0, whole - of_parts)
    seconds[span.name] = seconds.get(span.name, 0.0) + own
    return whole

"""Checks the data sent by clients and seen by readers (pure).

A client writes streams, one after the other; a stream is a spool. Each record from
number 2 on has the same number of points of each of the client's series, and no two
points of a series share a step. So a reading shows which records are stored.

The guarantees: acknowledged ⊆ read ⊆ sent; no duplicates; batches are atomic; and a
reading has all data that was acknowledged, or seen by others, before the request.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Frame 1 opens the run and holds no points.
FIRST_FRAME = 2
# Steps a stream may use; the next one begins behind them.
STREAM_STEPS = 2**24


class Outcome(Enum):
    """Result of a transmission, as known by its sender."""

    SENT = "sent"
    STORED = "stored"
    # No answer, or one that leaves it open, as when the database goes away at COMMIT.
    UNKNOWN = "unknown"
    # The connection was refused, so it has no effect.
    UNHEARD = "unheard"


@dataclass(frozen=True, slots=True)
class Event:
    """Frames `first` to `last` of a stream were sent, or their fate was learnt."""

    client: int
    stream: int
    outcome: Outcome
    first: int
    last: int
    at: float


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """All points of one series of a client, as they came."""

    client: int
    path: str
    asked_at: float
    answered_at: float
    steps: Floats
    values: Floats


@dataclass(frozen=True, slots=True)
class Layout:
    """The points of each series in each frame."""

    points_in_frame: int

    def steps(self, stream: int, frame: int) -> Integers:
        start = stream * STREAM_STEPS + (frame - FIRST_FRAME) * self.points_in_frame
        return np.arange(start, start + self.points_in_frame)

    def steps_up_to(self, stream: int, last: int) -> Integers:
        """Return the steps of all frames of the stream up to the last, inclusive."""
        start = stream * STREAM_STEPS
        count = max(0, last - FIRST_FRAME + 1) * self.points_in_frame
        return np.arange(start, start + count)


def value_of(path: str, steps: Integers | Floats) -> Floats:
    """Return the values of points, odd enough that none passes for another."""
    salt = sum(path.encode()) * 69_069
    return ((np.asarray(steps, np.int64) * 40_503 + salt) % 2**31) / 7.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Number of violations of each guarantee; all zero if they hold."""

    lost: int  # points acknowledged, and not in the last reading
    doubled: int  # points more than once in a reading
    torn: int  # streams that end inside of a batch, or have a gap
    invented: int  # points that no client sent
    altered: int  # points with another value than was sent
    stale: int  # points acknowledged before the request of a reading, and missing in it
    backward: int  # points seen by an earlier reading, and not by a later one
    disordered: int  # readings whose steps do not ascend

    @property
    def is_kept(self) -> bool:
        return not any(getattr(self, each.name) for each in fields(self))


@dataclass
class Count:
    """Number of events: without traffic and faults, the test proves nothing."""

    sent: int = 0
    stored: int = 0
    unknown: int = 0
    unheard: int = 0
    abandoned: int = 0
    points: int = 0
    readings: int = 0


@dataclass
class History:
    """Everything that was sent and read, in any order; appended to by many threads."""

    layout: Layout
    events: list[Event] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)

    def check(self) -> Verdict:
        """Judge everything; the last reading of each series must follow all else."""
        verdicts = [self._check_client(client) for client in self._clients()]
        return Verdict(
            **{
                each.name: sum(getattr(verdict, each.name) for verdict in verdicts)
                for each in fields(Verdict)
            }
        )

    def count(self) -> Count:
        count = Count(readings=len(self.readings))
        for event in self.events:
            name = event.outcome.value
            setattr(count, name, getattr(count, name) + 1)
        paths: dict[int, set[str]] = defaultdict(set)
        for reading in self.readings:
            paths[reading.client].add(reading.path)
        for (client, stream), last in self._last_numbers(Outcome.STORED).items():
            steps = self.layout.steps_up_to(stream, last)
            count.points += len(steps) * len(paths[client])
        sent = self._last_numbers(Outcome.SENT)
        stored = self._last_numbers(Outcome.STORED)
        count.abandoned = sum(last > stored.get(key, 0) for key, last in sent.items())
        return count

    def _clients(self) -> list[int]:
        return sorted({event.client for event in self.events})

    def _last_numbers(self, outcome: Outcome) -> dict[tuple[int, int], int]:
        """Return the highest frame with this outcome, by client and stream."""
        last: dict[tuple[int, int], int] = defaultdict(int)
        for event in self.events:
            if event.outcome is outcome:
                key = event.client, event.stream
                last[key] = max(last[key], event.last)
        return last

    def _check_client(self, client: int) -> Verdict:
        events = [event for event in self.events if event.client == client]
        readings = [reading for reading in self.readings if reading.client == client]
        series = [
            sorted(
                (reading for reading in readings if reading.path == path),
                key=lambda reading: reading.asked_at,
            )
            for path in sorted({reading.path for reading in readings})
        ]
        acknowledged = _steps_of(self.layout, events, Outcome.STORED)
        final = [each[-1] for each in series]
        return Verdict(
            # Without any reading, all is lost.
            lost=sum(_missing(acknowledged, reading) for reading in final)
            if final
            else len(acknowledged),
            doubled=sum(
                len(reading.steps) - len(np.unique(reading.steps))
                for reading in readings
            ),
            torn=self._torn(events, final),
            invented=_invented(_steps_of(self.layout, events, Outcome.SENT), readings),
            altered=sum(
                int((reading.values != value_of(reading.path, reading.steps)).sum())
                for reading in readings
            ),
            stale=sum(self._stale(events, each) for each in series),
            backward=sum(_backward(each) for each in series),
            disordered=sum(
                bool((np.diff(reading.steps) < 0).any()) for reading in readings
            ),
        )

    def _torn(self, events: list[Event], final: list[Reading]) -> int:
        """Count the streams that do not end at the end of one of their transmissions."""
        ends: dict[int, set[int]] = defaultdict(lambda: {FIRST_FRAME - 1})
        for event in events:
            if event.outcome is Outcome.SENT:
                ends[event.stream].add(event.last)
        torn = 0
        for stream, possible in ends.items():
            begin = stream * STREAM_STEPS
            found = [
                np.unique(steps[(steps >= begin) & (steps < begin + STREAM_STEPS)])
                for steps in (reading.steps for reading in final)
            ]
            torn += not any(
                all(
                    np.array_equal(steps, self.layout.steps_up_to(stream, last))
                    for steps in found
                )
                for last in possible
            )
        return torn

    def _stale(self, events: list[Event], readings: list[Reading]) -> int:
        stored = [event for event in events if event.outcome is Outcome.STORED]
        return sum(
            _missing(
                _steps_of(
                    self.layout,
                    (event for event in stored if event.at < reading.asked_at),
                    Outcome.STORED,
                ),
                reading,
            )
            for reading in readings
        )


def _steps_of(layout: Layout, events: Iterable[Event], outcome: Outcome) -> Integers:
    """Return the steps in every frame up to the last one with this outcome."""
    last: dict[int, int] = defaultdict(int)
    for event in events:
        if event.outcome is outcome:
            last[event.stream] = max(last[event.stream], event.last)
    parts = [layout.steps_up_to(stream, number) for stream, number in last.items()]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _missing(steps: Integers | Floats, reading: Reading) -> int:
    return int((~np.isin(steps, reading.steps)).sum())


def _invented(sent: Integers, readings: Iterable[Reading]) -> int:
    return sum(int((~np.isin(reading.steps, sent)).sum()) for reading in readings)


def _backward(readings: list[Reading]) -> int:
    """Count points of earlier answers that a later reading lacks."""
    gone = 0
    seen = np.empty(0)
    waiting: list[Reading] = []
    for reading in readings:
        before = [one for one in waiting if one.answered_at <= reading.asked_at]
        waiting = [one for one in waiting if one.answered_at > reading.asked_at]
        seen = np.unique(np.concatenate([seen, *(one.steps for one in before)]))
        gone += _missing(seen, reading)
        waiting.append(reading)
    return gone

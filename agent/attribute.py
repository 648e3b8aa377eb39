"""One named thing of a run, as the user holds it: `run["train/loss"]`."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Sequence
from datetime import datetime

from agent.buffer import Point
from agent.errors import AgentError, UnsupportedValue
from agent.recorder import Kind, Recorder
from agent.values import to_microseconds, to_number, to_step


class Attribute:
    """A series to append to; single values are assigned: `run["seed"] = 1`.

    Holding on to it spares looking the name up at every step.
    """

    __slots__ = ("_kind", "_recorder", "path")

    def __init__(self, recorder: Recorder, path: str) -> None:
        self._recorder = recorder
        self._kind = Kind.UNUSED
        self.path = path

    def append(
        self,
        value: object,
        step: float | None = None,
        time: float | datetime | None = None,
    ) -> None:
        """Append one point to the series.

        Args:
            value: Anything that is one number: a float, a NumPy or PyTorch
                scalar, a boolean, a Decimal. NaN and infinities are kept.
            step: Orders the points; by default one more than the last step.
            time: When it was measured, as seconds since 1970 or a datetime
                with a time zone; by default now.
        """
        try:
            if self._kind is not Kind.SERIES:
                self._kind = self._recorder.claim(self.path, Kind.SERIES)
            # The common case spelt out: this line runs at every step.
            number = value if type(value) is float else to_number(value)
            if step is not None and type(step) is not float:
                step = to_step(step)
            now = clock.time_ns() // 1000 if time is None else to_microseconds(time)
            self._recorder.put((self.path, step, now, number))
        except AgentError as error:
            self._recorder.refuse(error, self.path)

    def extend(
        self,
        values: Iterable[object],
        steps: Sequence[float] | None = None,
        times: Sequence[float | datetime] | None = None,
    ) -> None:
        """Append many points; steps and times, where given, are as many as values."""
        try:
            self._kind = self._recorder.claim(self.path, Kind.SERIES)
            points = _points(self.path, list(values), steps, times)
        except AgentError as error:
            self._recorder.refuse(error, self.path)
            return
        self._recorder.put_all(points)

    def __repr__(self) -> str:
        return f"<Attribute {self.path!a}>"


def _points(
    path: str,
    values: list[object],
    steps: Sequence[float] | None,
    times: Sequence[float | datetime] | None,
) -> list[Point]:
    for column in (steps, times):
        if column is not None and len(column) != len(values):
            raise UnsupportedValue(column, "must be as long as the values")
    now = clock.time_ns() // 1000
    return [
        (
            path,
            None if steps is None else to_step(steps[position]),
            now if times is None else to_microseconds(times[position]),
            to_number(value),
        )
        for position, value in enumerate(values)
    ]

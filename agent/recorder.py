"""Turns calls into rows and changes, and refuses what cannot be stored.

Everything here runs in the training thread, and nothing here waits.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from enum import Enum, auto
from time import time_ns
from typing import TYPE_CHECKING, Any

from agent.buffer import Buffer, Change, SetValue
from agent.errors import (
    AgentError,
    TooManyAttributes,
    TypeConflict,
    UnsupportedValue,
    shown,
)
from agent.layouts import Layout, Layouts, StepsDiffer
from agent.notices import Notices
from agent.path import clean_path
from agent.values import flatten, to_microseconds, to_number, to_step, to_value

if TYPE_CHECKING:
    from agent.ring import Ring

LARGEST_RUN = 100_000  # attributes
# Whoever has read so many warnings needs no more of them.
_MOST_REFUSALS_TOLD = 50
# How long another thread may take to log; one that takes longer is not waited for.
_TURN_SECONDS = 0.001
_PLAIN = (float, int)

# Value, step (None: the one after the last), time in nanoseconds since 1970.
Point = tuple[float, float | None, int]


class Kind(Enum):
    """What a path is used for; it never changes."""

    VALUE = auto()
    SERIES = auto()


class Recorder:
    """The user's side of buffer and ring."""

    def __init__(
        self, notices: Notices, *, wake: Callable[[], bool], strict: bool
    ) -> None:
        self.notices = notices
        # False until something takes from the buffer: asked before each put,
        # because a forked child has a buffer and no threads.
        self.is_awake = False
        self._wake = wake
        self._strict = strict
        self._kinds: dict[str, Kind] = {}
        self._refused: set[str] = set()
        self._ring: Ring | None = None
        self._begin()

    def begin(self, ring: Ring | None) -> None:
        """Write rows to a ring from now on, where there is one."""
        self._ring = ring
        self.layouts.define_all()
        self.is_awake = True

    def end(self) -> None:
        """Take nothing more, not even from a thread that is about to log."""
        self.is_awake = False
        # Kept for ever: whoever has it now is done in a moment.
        self._turn.acquire(timeout=_TURN_SECONDS)
        self._ring = None

    def start_anew(self) -> None:
        """Forget, in a forked child, what the parent will write."""
        self.is_awake = False
        self._begin()

    def append(
        self,
        path: str,
        value: object,
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        """Log one point of a series."""
        try:
            # The common case; struct knows what is a number.
            layout = self.layouts.by_key[path]
            moment = time_ns() if time is None else _moment(time)
            self._put(layout, step, moment, (value,))
        except Exception:  # noqa: BLE001 - whatever it is, the long way tells
            self._append_slowly(path, value, step, time)

    def log(
        self,
        data: Mapping[str, object],
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        """Log one point of each of several series."""
        try:
            # Likewise, for a dictionary whose keys were seen before.
            layout = self.layouts.by_key[tuple(data)]
            moment = time_ns() if time is None else _moment(time)
            self._put(layout, step, moment, data.values())
        except Exception:  # noqa: BLE001 - as above
            self._log_slowly(data, step, time)

    def extend(self, path: str, points: Sequence[Point]) -> None:
        """Log points of one series."""
        self.claim(path)
        for value, step, moment in points:
            self._put_points([(path, value)], step, moment)

    def log_measured(self, measured: Mapping[str, float], step: float) -> None:
        """Log numbers that the agent itself has measured."""
        self._put_points(list(measured.items()), step, time_ns())

    def put(self, change: Change) -> None:
        """Queue a change of attributes or tags."""
        if self.is_awake or self._wake():
            self.buffer.put(change)

    def set_value(self, path: str, value: object) -> None:
        """Set an attribute, or, from nested dictionaries, several."""
        try:
            leaves = list(flatten(path, value))
        except AgentError as error:
            self.refuse(error, path)
            return
        for leaf_path, leaf in leaves:
            self._set_leaf(leaf_path, leaf)

    def claim(self, path: str, kind: Kind = Kind.SERIES) -> None:
        """Use a path for one kind of content from now on, or raise TypeConflict."""
        known = self._kinds.get(path)
        if known is None:
            if len(self._kinds) >= LARGEST_RUN:
                raise TooManyAttributes(LARGEST_RUN)
            self._kinds[path] = kind
        elif known is not kind:
            raise TypeConflict(path, is_series=known is Kind.SERIES)

    def refuse(self, error: AgentError, path: object = "") -> None:
        """Say once why something is not stored; raise it if the run is strict."""
        if self._strict:
            raise error
        cause = f"{error.code} {shown(path)}"
        if len(self._refused) < _MOST_REFUSALS_TOLD:
            self._refused.add(cause)
        if cause in self._refused:
            self.notices.warn(cause, f"not logged: {error}")

    def _begin(self) -> None:
        self.buffer = Buffer()
        self.layouts = Layouts(self._define)
        self._ring = None
        # A thread that is interrupted by its own signal handler may enter again.
        self._turn = threading.RLock()
        self._is_busy = False
        self._rows = 0

    def _define(self, layout: Layout) -> bool:
        try:
            return self._ring is not None and self._ring.define(layout)
        except ValueError:
            return False  # it has just been closed

    # Any: values that struct can make floats of, which may be anything.
    def _put(
        self, layout: Layout, step: float | None, moment: int, values: Collection[Any]
    ) -> None:
        """Log a row, or raise and log nothing."""
        if not self.is_awake:
            raise _Asleep
        if step is None:
            step = self.layouts.next_step(layout)
        elif step.__class__ in _PLAIN and step - step == 0:
            layout.coming_steps = None
        else:
            raise UnsupportedValue(step, "cannot be a step")
        try:
            self._write(layout, moment, step, values)
        except BaseException:
            # The step was not used.
            layout.coming_steps = None
            raise
        layout.last_step = step
        self._rows = layout.last_row = self._rows + 1

    def _write(
        self, layout: Layout, moment: int, step: float, values: Collection[Any]
    ) -> None:
        """Write a row to the ring, or, where that is not to be had, beside it."""
        turn = self._turn
        if not turn.acquire(False) and not turn.acquire(True, _TURN_SECONDS):
            self._write_beside(layout, moment, step, values)
            return
        is_within, self._is_busy = self._is_busy, True
        try:
            ring = self._ring
            # Our own signal handler or finalizer may have come in between.
            if (
                is_within
                or ring is None
                or not ring.write(layout, moment, step, values)
            ):
                self._write_beside(layout, moment, step, values)
        finally:
            self._is_busy = is_within
            turn.release()

    def _write_beside(
        self, layout: Layout, moment: int, step: float, values: Collection[Any]
    ) -> None:
        row = layout.pack(0, layout.number, moment, step, *values, 0)
        self.buffer.put_row(row, len(layout.paths))

    def _append_slowly(
        self,
        path: str,
        value: object,
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        try:
            self.claim(path)
            point = [(path, to_number(value))]
            step = None if step is None else to_step(step)
            moment = _moment(time)
        except AgentError as error:
            self.refuse(error, path)
            return
        layout = self._put_points(point, step, moment)
        if layout is not None:
            self.layouts.remember(path, layout)

    def _log_slowly(
        self,
        data: Mapping[str, object],
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        try:
            leaves = list(flatten("", data))
            step = None if step is None else to_step(step)
            moment = _moment(time)
        except AgentError as error:
            self.refuse(error)
            return
        points: dict[str, float] = {}
        for path, value in leaves:
            try:
                cleaned = clean_path(path)
                self.claim(cleaned)
                number = to_number(value)
            except AgentError as error:
                self.refuse(error, path)
                continue
            if cleaned in points:
                # By two of its names; a row has each path once.
                self._put_points(list(points.items()), step, moment)
                points.clear()
            points[cleaned] = number
        if not points:
            return
        layout = self._put_points(list(points.items()), step, moment)
        is_whole = len(points) == len(leaves)
        if layout and is_whole and _are_keys([path for path, _ in leaves], data):
            self.layouts.remember(tuple(data), layout)

    def _put_points(
        self, points: Sequence[tuple[str, float]], step: float | None, moment: int
    ) -> Layout | None:
        """Log points together, or else one by one; return the layout of all of them."""
        if not self.is_awake and not self._wake():
            return None
        layout = self.layouts.of(tuple(path for path, _ in points))
        if layout is not None:
            with contextlib.suppress(StepsDiffer):
                self._put_anyhow(layout, step, moment, [value for _, value in points])
                return layout
        for path, value in points:
            alone = self.layouts.of((path,))
            assert alone is not None
            self._put_anyhow(alone, step, moment, [value])
        return None

    def _put_anyhow(
        self, layout: Layout, step: float | None, moment: int, values: Collection[float]
    ) -> None:
        try:
            self._put(layout, step, moment, values)
        except _Asleep:
            # Another thread is just starting what takes from the buffer.
            if step is None:
                step = self.layouts.next_step(layout)
            self._write_beside(layout, moment, step, values)

    def _set_leaf(self, path: str, value: object) -> None:
        try:
            cleaned = clean_path(path)
            self.claim(cleaned, Kind.VALUE)
            self.put(SetValue(cleaned, to_value(value)))
        except AgentError as error:
            self.refuse(error, path)


def _are_keys(paths: list[str], data: object) -> bool:
    """Whether a dictionary has these keys, of text alone, and nothing nested in it.

    1, 1.0 and True are the same key and three different paths.
    """
    keys = list(data) if isinstance(data, Mapping) else []
    return keys == paths and all(type(key) is str for key in keys)


class _Asleep(Exception):
    """Nothing takes from the buffer."""


def _moment(time: float | datetime | None) -> int:
    """Return a time as nanoseconds since 1970; by default now."""
    return time_ns() if time is None else to_microseconds(time) * 1_000

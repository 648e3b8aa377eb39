"""Turns calls into rows and records of series, and rejects invalid values.

Runs in the training thread and never blocks.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from time import time_ns
from typing import TYPE_CHECKING, Any

from seamark.errors import AgentError, Rejected, UnsupportedValue
from seamark.path import clean_path
from seamark.queue.buffer import Buffer
from seamark.queue.layouts import Layout
from seamark.recording.duck_types import is_time
from seamark.recording.file_jobs import FileJobs
from seamark.recording.nested import flatten
from seamark.recording.path_types import Kind, Kinds
from seamark.recording.record_writer import RecordWriter
from seamark.recording.rejections import Refusals
from seamark.recording.rewinds import Rewinds
from seamark.recording.row_writer import PLAIN, Asleep, RowWriter
from seamark.recording.values import a_time, to_microseconds, to_number, to_step
from seamark.user_warnings import Notices

if TYPE_CHECKING:
    from seamark.queue.ring import Ring
    from seamark.recording.files import Files

# Value, step (None: the one after the last), time in microseconds since 1970.
Point = tuple[float, float | None, int]

# Exceptions that select the slow path. Not all exceptions: a user's signal handler may
# raise any, and these must propagate.
_UNUSUAL = (
    AgentError,
    Asleep,
    KeyError,
    TypeError,
    OverflowError,
    struct.error,
)


class SeriesRecorder:
    """The logging side of the buffer and the ring buffer, for series."""

    def __init__(
        self,
        notices: Notices,
        *,
        wake: Callable[[], bool],
        strict: bool,
        resumed_at: int | None = None,
        prefix: str = "",
        first_step: float = 0.0,
    ) -> None:
        """Create it; `prefix` is prepended to this process's paths, with its slash.

        `first_step` is the first automatic step of the script's series.
        """
        self.notices = notices
        self._prefix = prefix
        self._resumed_at = resumed_at
        self._first_step = first_step
        self._wake = wake
        self._kinds = Kinds()
        self._refusals = Refusals(notices, strict=strict)
        self._jobs = FileJobs(notices, count_lost=self._count_lost)
        self._make()

    @property
    def is_awake(self) -> bool:
        """Whether logged data is accepted."""
        return self._rows.is_awake

    def begin(self, ring: Ring | None, files: Files | None = None) -> None:
        """Accept data; write rows to a ring buffer if there is one, and files to
        `files`.
        """
        self._rows.begin(ring)
        self._jobs.begin(files)

    def give_up(self) -> None:
        """Drop queued files, because the session could not be opened."""
        self._jobs.end()

    def end(self) -> None:
        """Accept no more data, not even from a thread that is about to log."""
        self._rows.end()
        self._jobs.end()

    def close(self, error: AgentError) -> None:
        """Raise from now on in a strict run, because the server has closed it."""
        if self._refusals.close(error):
            # Cached layouts take the fast path, which does not check.
            self.layouts.by_key.clear()

    def reject(self, error: Rejected) -> None:
        """Report data that the server refused to store; a strict run raises it once."""
        if self._refusals.reject(error):
            self.layouts.by_key.clear()  # as above

    def check_open(self) -> None:
        """Raise an error reported by the server, if the run is strict."""
        self._refusals.check_open()

    def check_rejected(self) -> None:
        """Raise a rejection by the server, if the run is strict."""
        self._refusals.check_rejected()

    def start_anew(self) -> None:
        """Discard the parent's data in a forked child."""
        self._jobs.start_anew()
        self._make()

    def _make(self) -> None:
        self.buffer = Buffer()
        rewinds = None
        if self._resumed_at is not None:
            rewinds = Rewinds(self.buffer, self._resumed_at)
        first_step = self._first_step
        self._rows = RowWriter(
            self.buffer, rewinds, wake=self._wake, first_step=first_step
        )
        # Bound once, because a training loop calls it at every step.
        self._put = self._rows.put
        self._put_together = self._rows.put_together
        self.layouts = self._rows.layouts
        self._records = RecordWriter(
            self.buffer, self._kinds, self._jobs, self.notices, first_step=first_step
        )

    def append(
        self,
        path: str,
        value: object,
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        """Log one point of a series."""
        layout = self.layouts.by_key.get(path)
        if layout is not None:
            # The common case; unusual ones take the slow path.
            try:
                number = value if type(value) in PLAIN else to_number(value)
                self._put(layout, step, _moment(time), (number,))
            except _UNUSUAL:
                layout = None
        # Outside the handler, so that new exceptions are not chained to the old one.
        if layout is None:
            self._append_slowly(path, value, step, time)

    def append_captioned(
        self,
        path: str,
        value: object,
        captions: object,
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        """Log media with their captions."""
        if not self._is_taking():
            return
        try:
            step = None if step is None else to_step(step)
            moment = _moment(time)
            if not self._records.append_media(path, value, step, moment, captions):
                raise UnsupportedValue(value, "is neither an image nor a list of media")
        except AgentError as error:
            self.refuse(error, path)

    def log(
        self,
        data: Mapping[str, object],
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        """Log one point of each of several series."""
        is_logged = False
        if type(data) is dict:
            # The fast path for keys that were logged before.
            try:
                self._log_known(self.layouts.by_key[tuple(data)], data, step, time)
                is_logged = True
            except _UNUSUAL:
                is_logged = False
        if not is_logged:
            self._log_slowly(data, step, time)

    def _log_known(
        self,
        layout: Layout,
        data: dict[str, object],
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        values: Collection[Any] = data.values()
        # No foreign code may run while a row is written.
        if not PLAIN.issuperset(map(type, values)):
            # Another thread may be changing the dictionary.
            values = [to_number(value) for value in [*values]]
        self._put_together(layout, step, _moment(time), values)

    def extend(self, path: str, points: Sequence[Point]) -> None:
        """Log points of one series of numbers."""
        self.claim(path)
        for value, step, moment in points:
            self._rows.put_points({path: value}, step, moment)

    def append_text(
        self, path: str, text: str, step: float | None = None, moment: int | None = None
    ) -> None:
        """Log one text; the path is clean, `moment` is in microseconds since 1970.

        Never blocks and runs no foreign code, so console output can be logged from
        within the call that prints it. Raises AgentError.
        """
        if not self.is_awake and not self._wake():
            return
        self._records.append(
            path, text, step, _moment(None) if moment is None else moment
        )

    def log_measured(
        self, measured: Mapping[str, float], step: float, moment: int | None = None
    ) -> None:
        """Log numbers measured by the agent; `moment` is in microseconds, by default
        now.
        """
        if moment is None:
            moment = _moment(None)
        layout = self.layouts.by_key.get(tuple(measured))
        if layout is not None:
            # The common case, as in `log`.
            try:
                self._put(layout, step, moment, measured.values())
            except _UNUSUAL:
                layout = None
        if layout is None:
            self._log_measured_slowly(measured, step, moment)

    def _log_measured_slowly(
        self, measured: Mapping[str, float], step: float, moment: int
    ) -> None:
        try:
            for path in measured:
                self.claim(path)
        except AgentError as error:
            self.refuse(error)
            return
        layout = self._rows.put_points(measured, step, moment)
        if layout is not None:
            self.layouts.remember(tuple(measured), layout)

    def own_path(self, path: object) -> str:
        """Return the full path in the run of a script's path; raises InvalidPath."""
        cleaned = clean_path(path)
        return clean_path(self._prefix + cleaned) if self._prefix else cleaned

    def claim(self, path: str, kind: Kind = Kind.SERIES) -> None:
        """Fix the kind of a path, or raise TypeConflict."""
        self._kinds.claim(path, kind)

    def refuse(self, error: AgentError, path: object = "") -> None:
        """Warn once that data is not stored, or raise if the run is strict."""
        self._refusals.refuse(error, path)

    def warn_refused(self, error: AgentError, path: object) -> None:
        """Warn once that data is not stored, outside the call that logged it."""
        self._refusals.warn(error, path)

    def _is_taking(self) -> bool:
        """Return whether the script's data is accepted; starts the session if needed."""
        self.check_open()
        return self.is_awake or self._wake()

    def _append_slowly(
        self,
        path: str,
        value: object,
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        if not self._is_taking():
            return
        try:
            step = None if step is None else to_step(step)
            moment = _moment(time)
            number = self._number_of(path, value, step, moment)
        except AgentError as error:
            self.refuse(error, path)
            return
        if number is None:
            return
        layout = self._rows.put_points({path: number}, step, moment)
        if layout is not None:
            self.layouts.remember(path, layout)

    def _log_slowly(
        self,
        data: Mapping[str, object],
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        if not self._is_taking():
            return
        try:
            leaves = list(flatten("", data, refuse=self.refuse, empty=None))
            step = None if step is None else to_step(step)
            moment = _moment(time)
        except AgentError as error:
            self.refuse(error)
            return
        next_step = self._next_common_step(path for path, _ in leaves)
        used_step = next_step if step is None else step
        points: dict[str, float] = {}
        for path, value in leaves:
            try:
                cleaned = self.own_path(path)
                number = self._number_of(cleaned, value, used_step, moment)
            except AgentError as error:
                self.refuse(error, path)
                continue
            if number is None:
                continue
            # If two names of the data have the same path, the last one counts.
            points[cleaned] = number
        self.layouts.common_step = max(self.layouts.common_step, used_step)
        if not points:
            return
        layout = self._rows.put_points(points, step, moment, least=next_step)
        is_whole = len(points) == len(leaves)
        keys = tuple(path for path, _ in leaves)
        if layout and is_whole and _are_keys(keys, data):
            self.layouts.remember(keys, layout)

    def _next_common_step(self, paths: Iterable[str]) -> float:
        """Return the step of a call that logs these series together."""
        step = self.layouts.common_step
        for path in paths:
            # Invalid paths are reported when they are logged.
            with suppress(AgentError):
                cleaned = self.own_path(path)
                step = max(
                    step,
                    self.layouts.next_step_of(cleaned),
                    self._records.next_step_of(cleaned),
                )
        return step

    def _number_of(
        self, path: str, value: object, step: float | None, moment: int
    ) -> float | None:
        """Return the value as a number; log a record, and return None for it."""
        if type(value) is float:
            # No foreign code runs here, so no exception can be mistaken for its own.
            self.claim(path)
            return value
        if self._records.append(path, value, step, moment):
            return None
        if is_time(value):
            # Every series passes here first; a duration in nanoseconds would become a
            # plain integer.
            raise a_time(value)
        try:
            number = to_number(value)
        except UnsupportedValue:
            if not self._records.append_media(path, value, step, moment):
                raise
            return None
        self.claim(path)
        return number

    def _count_lost(self) -> None:
        self.buffer.count_dropped(1)


def _are_keys(paths: tuple[str, ...], data: object) -> bool:
    """Return whether a dictionary has exactly these keys, all strings, and is flat.

    1, 1.0 and True are one key but three different paths.
    """
    keys = tuple(data) if type(data) is dict else ()
    return all(type(key) is str for key in keys) and keys == paths


def _moment(time: float | datetime | None) -> int:
    """Return a time as microseconds since 1970; by default now."""
    return time_ns() // 1_000 if time is None else to_microseconds(time)

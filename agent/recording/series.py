"""Turns calls into rows and records of series, and refuses what cannot be stored.

Everything here runs in the training thread, and nothing here waits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from time import time_ns
from typing import TYPE_CHECKING, Any

from seamark.errors import AgentError, Rejected, UnsupportedValue
from seamark.path import clean_path
from seamark.queue.buffer import Buffer
from seamark.queue.layouts import Layout, StepsDiffer
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

# What sends a call the long way. Not all there is: a signal handler of the user's may
# raise anything at any moment, to be caught further up.
_UNUSUAL = (
    AgentError,
    StepsDiffer,
    Asleep,
    KeyError,
    TypeError,
    OverflowError,
    struct.error,
)


class SeriesRecorder:
    """The user's side of buffer and ring, as far as series go."""

    def __init__(
        self,
        notices: Notices,
        *,
        wake: Callable[[], bool],
        strict: bool,
        resumed_at: int | None = None,
        prefix: str = "",
    ) -> None:
        """`prefix` is what this process's own paths begin with, slash included."""
        self.notices = notices
        self._prefix = prefix
        self._resumed_at = resumed_at
        self._wake = wake
        self._kinds = Kinds()
        self._refusals = Refusals(notices, strict=strict)
        self._jobs = FileJobs(notices, count_lost=self._count_lost)
        self._make()

    @property
    def is_awake(self) -> bool:
        """Whether something takes what is logged."""
        return self._rows.is_awake

    def begin(self, ring: Ring | None, files: Files | None = None) -> None:
        """Write rows to a ring from now on, where there is one, and files to others."""
        self._rows.begin(ring)
        self._jobs.begin(files)

    def give_up(self) -> None:
        """Nothing will ever take what is logged."""
        self._jobs.end()

    def end(self) -> None:
        """Take nothing more, not even from a thread that is about to log."""
        self._rows.end()
        self._jobs.end()

    def close(self, error: AgentError) -> None:
        """Have a strict run raise from now on; the server takes nothing more."""
        if self._refusals.close(error):
            # Known calls take the short way, which does not look.
            self.layouts.by_key.clear()

    def reject(self, error: Rejected) -> None:
        """Report what the server did not store; a strict run raises it once."""
        if self._refusals.reject(error):
            self.layouts.by_key.clear()  # as above

    def check_open(self) -> None:
        """Raise what the server refused meanwhile if the run is strict."""
        self._refusals.check_open()

    def check_rejected(self) -> None:
        """Raise what the server did not store if the run is strict."""
        self._refusals.check_rejected()

    def start_anew(self) -> None:
        """Forget, in a forked child, what the parent will write."""
        self._jobs.start_anew()
        self._make()

    def _make(self) -> None:
        self.buffer = Buffer()
        rewinds = None
        if self._resumed_at is not None:
            rewinds = Rewinds(self.buffer, self._resumed_at)
        self._rows = RowWriter(self.buffer, rewinds, wake=self._wake)
        # Looked up once, as a training loop needs it at every step.
        self._put = self._rows.put
        self.layouts = self._rows.layouts
        self._records = RecordWriter(self.buffer, self._kinds, self._jobs, self.notices)

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
            # The common case. What is unusual about it, the long way finds.
            try:
                number = value if type(value) in PLAIN else to_number(value)
                self._put(layout, step, _moment(time), (number,))
            except _UNUSUAL:
                layout = None
        # Not in the handler: what is raised there seems to follow from what was.
        if layout is None:
            self._append_slowly(path, value, step, time)

    def log(
        self,
        data: Mapping[str, object],
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        """Log one point of each of several series."""
        is_logged = False
        if type(data) is dict:
            # Likewise, where such keys were seen before.
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
        # No code but ours may run while a row is being written.
        if not PLAIN.issuperset(map(type, values)):
            # Another thread may be changing the dictionary.
            values = [to_number(value) for value in [*values]]
        moment = _moment(time)
        try:
            self._put(layout, step, moment, values)
        except StepsDiffer:
            # Another thread may be changing the dictionary, or have done so just now.
            values = [*values]
            is_known = len(values) == len(layout.paths)
            if not is_known or not PLAIN.issuperset(map(type, values)):
                raise
            for path, value in zip(layout.paths, values, strict=True):
                self._rows.put_points({path: value}, None, moment)

    def extend(self, path: str, points: Sequence[Point]) -> None:
        """Log points of one series of numbers."""
        self.claim(path)
        for value, step, moment in points:
            self._rows.put_points({path: value}, step, moment)

    def append_text(
        self, path: str, text: str, step: float | None = None, moment: int | None = None
    ) -> None:
        """Log one text of a series of text; the path is clean, the time microseconds.

        Nothing is waited for and no code but ours runs, so that what is printed can
        be logged from within the call that prints it. Raises AgentError.
        """
        if not self.is_awake and not self._wake():
            return
        self._records.append(
            path, text, step, _moment(None) if moment is None else moment
        )

    def log_measured(
        self, measured: Mapping[str, float], step: float, moment: int | None = None
    ) -> None:
        """Log numbers that the agent itself has measured, by default now."""
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
        """Return where this process logs what a script names so, or raise InvalidPath."""
        cleaned = clean_path(path)
        return clean_path(self._prefix + cleaned) if self._prefix else cleaned

    def claim(self, path: str, kind: Kind = Kind.SERIES) -> None:
        """Use a path for one kind of content from now on, or raise TypeConflict."""
        self._kinds.claim(path, kind)

    def refuse(self, error: AgentError, path: object = "") -> None:
        """Say once why something is not stored; raise it if the run is strict."""
        self._refusals.refuse(error, path)

    def warn_refused(self, error: AgentError, path: object) -> None:
        """Say once why something is not stored, outside of the call that asked for it."""
        self._refusals.warn(error, path)

    def _is_taking(self) -> bool:
        """Whether what the script logs is taken."""
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
        points: dict[str, float] = {}
        for path, value in leaves:
            try:
                cleaned = self.own_path(path)
                number = self._number_of(cleaned, value, step, moment)
            except AgentError as error:
                self.refuse(error, path)
                continue
            if number is None:
                continue
            if cleaned in points:
                # By two of its names; a row has each path once.
                self._rows.put_points(points, step, moment)
                points.clear()
            points[cleaned] = number
        if not points:
            return
        layout = self._rows.put_points(points, step, moment)
        is_whole = len(points) == len(leaves)
        keys = tuple(path for path, _ in leaves)
        if layout and is_whole and _are_keys(keys, data):
            self.layouts.remember(keys, layout)

    def _number_of(
        self, path: str, value: object, step: float | None, moment: int
    ) -> float | None:
        """Return the value as a number; None where it is a record, which it logs."""
        if type(value) is float:
            # Nothing foreign is looked at, so nothing that is raised is taken for its own.
            self.claim(path)
            return value
        if self._records.append(path, value, step, moment):
            return None
        if is_time(value):
            # Here each series comes first; of a duration in nanoseconds an integer
            # would be left.
            raise a_time(value)
        try:
            number = to_number(value)
        except UnsupportedValue:
            if not self._records.append_picture(path, value, step, moment):
                raise
            return None
        self.claim(path)
        return number

    def _count_lost(self) -> None:
        self.buffer.count_dropped(1)


def _are_keys(paths: tuple[str, ...], data: object) -> bool:
    """Whether a dictionary has these keys, of text alone, and nothing nested in it.

    1, 1.0 and True are the same key and three different paths.
    """
    keys = tuple(data) if type(data) is dict else ()
    return all(type(key) is str for key in keys) and keys == paths


def _moment(time: float | datetime | None) -> int:
    """Return a time as microseconds since 1970; by default now."""
    return time_ns() // 1_000 if time is None else to_microseconds(time)

"""Turns calls into rows and changes, and refuses what cannot be stored.

Everything here runs in the training thread, and nothing here waits.
"""

from __future__ import annotations

import contextlib
import struct
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from enum import Enum
from time import sleep, time_ns
from typing import TYPE_CHECKING, Any

from agent.buffer import Buffer, Change, SetValue
from agent.contents import File, Job, to_content
from agent.errors import AgentError, TooManyAttributes, TypeConflict, shown
from agent.layouts import Layout, Layouts, StepsDiffer
from agent.notices import Notices
from agent.path import clean_path
from agent.records import RECORDED, Recorded, Records
from agent.values import flatten, to_microseconds, to_number, to_step, to_value

if TYPE_CHECKING:
    from agent.files import Files
    from agent.ring import Ring

LARGEST_RUN = 100_000  # attributes
# Whoever has read so many warnings needs no more of them.
_MOST_REFUSALS_TOLD = 50
# How long another thread may take to log; one that takes longer is not waited for.
_TURN_SECONDS = 0.001
_START_NANOSECONDS = 1_000_000_000
# What is a number without a call of anybody's code.
_PLAIN = frozenset({float, int, bool})

# Value, step (None: the one after the last), time in microseconds since 1970.
Point = tuple[float, float | None, int]


class Kind(Enum):
    """What a path is used for; it never changes."""

    VALUE = "a value"
    SERIES = "a series of numbers"
    TEXT = "a series of text"
    HISTOGRAM = "a series of histograms"
    FILE = "a file"


class _Asleep(Exception):
    """Nothing takes from the buffer."""


# What sends a call the long way. Not all there is: a signal handler of the user's may
# raise anything at any moment, to be caught further up.
_UNUSUAL = (
    AgentError,
    StepsDiffer,
    _Asleep,
    KeyError,
    TypeError,
    OverflowError,
    struct.error,
)


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
        self._files: Files | None = None
        self._begin()

    def begin(self, ring: Ring | None, files: Files | None = None) -> None:
        """Write rows to a ring from now on, where there is one, and files to others."""
        self._ring = ring
        self._files = files
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
        layout = self.layouts.by_key.get(path)
        if layout is not None:
            # The common case. What is unusual about it, the long way finds.
            try:
                number = value if type(value) in _PLAIN else to_number(value)
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
        if not _PLAIN.issuperset(map(type, values)):
            values = [to_number(value) for value in values]
        moment = _moment(time)
        try:
            self._put(layout, step, moment, values)
        except StepsDiffer:
            self._log_apart(layout, values, moment)

    def _log_apart(self, layout: Layout, values: Collection[Any], moment: int) -> None:
        """Log series one by one that are not at the same step."""
        for path, value in zip(layout.paths, values, strict=True):
            self._put_points({path: value}, None, moment)

    def extend(self, path: str, points: Sequence[Point]) -> None:
        """Log points of one series of numbers."""
        self.claim(path)
        for value, step, moment in points:
            self._put_points({path: value}, step, moment)

    def append_text(
        self, path: str, text: str, step: float | None = None, moment: int | None = None
    ) -> None:
        """Log one text of a series of text; the path is clean, the time microseconds.

        Nothing is waited for and no code but ours runs, so that what is printed can
        be logged from within the call that prints it. Raises AgentError.
        """
        if not self.is_awake and not self._wake():
            return
        self._append_record(
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
        layout = self._put_points(measured, step, moment)
        if layout is not None:
            self.layouts.remember(tuple(measured), layout)

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

    def upload(
        self,
        path: str,
        value: object,
        *,
        name: str | None = None,
        media_type: str | None = None,
        wait: bool = False,
    ) -> None:
        """Store a file at a path."""
        if not self.is_awake and not self._wake():
            return
        try:
            content = to_content(
                value,
                fallback=path.rpartition("/")[2],
                name=name,
                media_type=media_type,
            )
            try:
                self.claim(path, Kind.FILE)
            except AgentError:
                content.close()
                raise
        except AgentError as error:
            self.refuse(error, path)
            return
        self._put_job(Job(path, content), wait=wait)

    def upload_files(self, path: str, pattern: str, *, wait: bool) -> None:
        """Store the files that a pattern names below a path."""
        if self.is_awake or self._wake():
            self._put_job(Job(path, None, pattern), wait=wait)

    def claim(self, path: str, kind: Kind = Kind.SERIES) -> None:
        """Use a path for one kind of content from now on, or raise TypeConflict."""
        known = self._kinds.get(path)
        if known is None:
            if len(self._kinds) >= LARGEST_RUN:
                raise TooManyAttributes(LARGEST_RUN)
            self._kinds[path] = kind
        elif known is not kind:
            raise TypeConflict(path, held=known.value, meant=kind.value)

    def refuse(self, error: AgentError, path: object = "") -> None:
        """Say once why something is not stored; raise it if the run is strict."""
        if self._strict:
            raise error
        self.warn_refused(error, path)

    def warn_refused(self, error: AgentError, path: object) -> None:
        """Say once why something is not stored, outside of the call that asked for it."""
        cause = f"{error.code} {shown(path)}"
        if len(self._refused) < _MOST_REFUSALS_TOLD:
            self._refused.add(cause)
        if cause in self._refused:
            self.notices.warn(cause, f"not logged: {error}")

    def _begin(self) -> None:
        self.buffer = Buffer()
        self.layouts = Layouts(self._define)
        self._records = Records(self.notices)
        self._ring = None
        self._files = None
        # A thread that is interrupted by its own signal handler may enter again.
        self._turn = threading.RLock()
        self._is_busy = False

    def _define(self, layout: Layout) -> bool:
        try:
            return self._ring is not None and self._ring.define(layout)
        except ValueError:
            return False  # it has just been closed

    def _put(
        self, layout: Layout, step: float | None, moment: int, values: Collection[Any]
    ) -> None:
        """Log a row, or raise and log nothing."""
        if not self.is_awake:
            raise _Asleep
        if step is None:
            self._put_next(layout, moment, values)
            return
        if type(step) not in _PLAIN or step - step != 0:
            step = to_step(step)
        self._write(layout, moment, step, values)
        layout.coming_steps = None
        layout.last_step = step
        if layout.is_shared:
            self.layouts.share_step(layout, step)

    def _put_next(self, layout: Layout, moment: int, values: Collection[float]) -> None:
        """Log a row with the step behind the last one."""
        step = self.layouts.next_step(layout)
        try:
            self._write(layout, moment, step, values)
        except (TypeError, OverflowError, struct.error):
            # The step was not used.
            layout.coming_steps = None
            raise
        # Another thread may have used the next one meanwhile.
        layout.last_step = max(step, layout.last_step)
        if layout.is_shared:
            self.layouts.share_step(layout, step)

    def _write(
        self, layout: Layout, moment: int, step: float, values: Collection[float]
    ) -> None:
        """Write a row to the ring, or, where that is not to be had, beside it."""
        turn = self._turn
        is_alone = False
        try:
            if turn.acquire(False) or turn.acquire(True, _TURN_SECONDS):
                # Not if our own signal handler or finalizer came in between.
                is_alone = not self._is_busy
                self._is_busy = True
                ring = self._ring
                if is_alone and ring and ring.write(layout, moment, step, values):
                    return
            self._write_beside(layout, moment, step, values)
        finally:
            if is_alone:
                self._is_busy = False
            try:  # noqa: SIM105 - quicker than suppress
                turn.release()
            except RuntimeError:
                # It was not our turn; or we were interrupted before we knew.
                pass

    def _write_beside(
        self, layout: Layout, moment: int, step: float, values: Collection[float]
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
        if not self.is_awake and not self._wake():
            return
        try:
            if isinstance(value, RECORDED):
                step = None if step is None else to_step(step)
                self._append_record(path, value, step, _moment(time))
                return
            self.claim(path)
            number = to_number(value)
            step = None if step is None else to_step(step)
            moment = _moment(time)
        except AgentError as error:
            self.refuse(error, path)
            return
        layout = self._put_points({path: number}, step, moment)
        if layout is not None:
            self.layouts.remember(path, layout)

    def _log_slowly(
        self,
        data: Mapping[str, object],
        step: float | None,
        time: float | datetime | None,
    ) -> None:
        if not self.is_awake and not self._wake():
            return
        try:
            leaves = list(flatten("", data, empty=None))
            step = None if step is None else to_step(step)
            moment = _moment(time)
        except AgentError as error:
            self.refuse(error)
            return
        points: dict[str, float] = {}
        for path, value in leaves:
            try:
                cleaned = clean_path(path)
                if isinstance(value, RECORDED):
                    self._append_record(cleaned, value, step, moment)
                    continue
                self.claim(cleaned)
                number = to_number(value)
            except AgentError as error:
                self.refuse(error, path)
                continue
            if cleaned in points:
                # By two of its names; a row has each path once.
                self._put_points(points, step, moment)
                points.clear()
            points[cleaned] = number
        if not points:
            return
        layout = self._put_points(points, step, moment)
        is_whole = len(points) == len(leaves)
        if layout and is_whole and _are_keys([path for path, _ in leaves], data):
            self.layouts.remember(tuple(data), layout)

    def _put_points(
        self, points: Mapping[str, float], step: float | None, moment: int
    ) -> Layout | None:
        """Log points together, or else one by one; return the layout of all of them."""
        if not self.is_awake and not self._wake():
            return None
        layout = self.layouts.of(tuple(points))
        if layout is not None:
            with contextlib.suppress(StepsDiffer):
                self._put_anyhow(layout, step, moment, points.values())
                return layout
        for path, value in points.items():
            alone = self.layouts.of((path,))
            assert alone is not None
            self._put_anyhow(alone, step, moment, (value,))
        return layout

    def _append_record(
        self, path: str, value: Recorded, step: float | None, moment: int
    ) -> None:
        """Log a text or histogram, or raise AgentError and log nothing."""
        self.claim(path, _kind_of(value))
        self.buffer.put_record(self._records.made(path, value, step, moment))

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

    def _put_job(self, job: Job, *, wait: bool) -> None:
        deadline = time_ns() + _START_NANOSECONDS
        # Another thread may just be starting what takes files.
        while self._files is None and time_ns() < deadline:
            sleep(0.001)
        if self._files is not None:
            self._files.put(job, wait=wait)
        elif job.content is not None:
            job.content.close()

    def _set_leaf(self, path: str, value: object) -> None:
        try:
            cleaned = clean_path(path)
            if isinstance(value, File):
                self.upload(cleaned, value)
                return
            self.claim(cleaned, Kind.VALUE)
            self.put(SetValue(cleaned, to_value(value)))
        except AgentError as error:
            self.refuse(error, path)


def _kind_of(value: Recorded) -> Kind:
    return Kind.TEXT if isinstance(value, str) else Kind.HISTOGRAM


def _are_keys(paths: list[str], data: object) -> bool:
    """Whether a dictionary has these keys, of text alone, and nothing nested in it.

    1, 1.0 and True are the same key and three different paths.
    """
    keys = list(data) if isinstance(data, Mapping) else []
    return keys == paths and all(type(key) is str for key in keys)


def _moment(time: float | datetime | None) -> int:
    """Return a time as microseconds since 1970; by default now."""
    return time_ns() // 1_000 if time is None else to_microseconds(time)

"""Writes rows of numbers to the ring buffer or the queue, in the training thread.

Waits at most as long as another thread takes to write a row.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from seamark.queue.buffer import Buffer
from seamark.queue.layouts import UNUSED, Layout, Layouts
from seamark.recording.rewinds import Rewinds
from seamark.recording.values import LARGEST_STEP, to_step

if TYPE_CHECKING:
    from seamark.queue.ring import Ring

# Maximum wait for another thread that is logging.
_TURN_SECONDS = 0.001
# Number types that run no foreign code.
PLAIN = frozenset({float, int, bool})


class Asleep(Exception):
    """No thread takes rows from the buffer."""


class RowWriter:
    """Writes rows to the ring buffer or the queue, and assigns steps."""

    def __init__(
        self,
        buffer: Buffer,
        rewinds: Rewinds | None,
        *,
        wake: Callable[[], bool],
        first_step: float = 0.0,
    ) -> None:
        self._buffer = buffer
        self._rewinds = rewinds
        self._wake = wake
        self.layouts = Layouts(self._define, first_step=first_step)
        # Whether a thread takes rows from the buffer. Checked before each put, because
        # a forked child has a buffer but no threads.
        self.is_awake = False
        self._ring: Ring | None = None
        # Re-entrant, because a signal handler may log while its thread logs.
        self._turn = threading.RLock()
        self._is_busy = False

    def begin(self, ring: Ring | None) -> None:
        """Write to a ring buffer from now on, if there is one."""
        self._ring = ring
        self.layouts.define_all()
        self.is_awake = True

    def end(self) -> None:
        """Accept no more rows, not even from a thread that is about to log."""
        self.is_awake = False
        # Never released; the current holder finishes within the timeout.
        self._turn.acquire(timeout=_TURN_SECONDS)
        self._ring = None

    # Any: a collection of numbers, checked elsewhere.
    def put(
        self, layout: Layout, step: float | None, moment: int, values: Collection[Any]
    ) -> None:
        """Log a row, by default one step after the last; or raise and log nothing."""
        if not self.is_awake:
            raise Asleep
        if step is None:
            self._put_next(layout, moment, values, self.layouts.next_step(layout))
            return
        self._put_at(layout, moment, values, step)

    # Any: as above.
    def put_together(
        self, layout: Layout, step: float | None, moment: int, values: Collection[Any]
    ) -> None:
        """Log a row, by default at the common step; or raise and log nothing."""
        layouts = self.layouts
        if step is None and self.is_awake:
            step = layouts.next_step(layout, layouts.common_step)
            self._put_next(layout, moment, values, step)
        else:
            self.put(layout, step, moment, values)
            step = layout.last_step
        if step > layouts.common_step:  # noqa: PLR1730 - faster than max
            layouts.common_step = step

    def put_points(
        self,
        points: Mapping[str, float],
        step: float | None,
        moment: int,
        *,
        least: float = UNUSED,
    ) -> Layout | None:
        """Log points in one row, or else one by one; return their common layout.

        Without a step, their step is the one after the last, or `least`.
        """
        if not self.is_awake and not self._wake():
            return None
        # The first points of each series pass through here.
        if self._rewinds is not None:
            self._rewinds.note(points, step)
        layout = self.layouts.of(tuple(points))
        if layout is not None:
            self._put_anyhow(layout, step, moment, points.values(), least)
            return layout
        for path, value in points.items():
            alone = self.layouts.of((path,))
            assert alone is not None
            self._put_anyhow(alone, step, moment, (value,), least)
        return None

    def _put_anyhow(
        self,
        layout: Layout,
        step: float | None,
        moment: int,
        values: Collection[float],
        least: float,
    ) -> None:
        # Also while another thread is starting the writer.
        if step is None:
            step = self.layouts.next_step(layout, least)
            self._put_next(layout, moment, values, step)
        else:
            self._put_at(layout, moment, values, step)

    def _put_next(
        self, layout: Layout, moment: int, values: Collection[float], step: float
    ) -> None:
        """Log a row at an automatic step."""
        # Set before the row is written: an exception in a signal handler may skip a
        # step but never duplicate it. Another thread may be ahead.
        layout.last_step = max(step, layout.last_step)
        if layout.is_shared:
            self.layouts.share_step(layout, step)
        try:
            self._write(layout, moment, step, values)
        except (TypeError, OverflowError, struct.error):
            self.layouts.give_back(layout, step)
            raise

    def _put_at(
        self, layout: Layout, moment: int, values: Collection[float], step: float
    ) -> None:
        """Log a row at a step of the user."""
        # Also False for NaN.
        if type(step) not in PLAIN or not -LARGEST_STEP <= step <= LARGEST_STEP:
            step = to_step(step)
        self._write(layout, moment, step, values)
        layout.coming_steps = None
        layout.last_step = step
        if layout.is_shared:
            self.layouts.share_step(layout, step)

    def _write(
        self, layout: Layout, moment: int, step: float, values: Collection[float]
    ) -> None:
        """Write a row to the ring buffer, or to the queue if that is not possible."""
        turn = self._turn
        is_alone = False
        try:
            if turn.acquire(False) or turn.acquire(True, _TURN_SECONDS):
                # False if a signal handler or finalizer of this thread interrupted a
                # write.
                is_alone = not self._is_busy
                self._is_busy = True
                ring = self._ring
                if is_alone and ring and ring.write(layout, moment, step, values):
                    return
            self._write_beside(layout, moment, step, values)
        finally:
            if is_alone:
                self._is_busy = False
            try:  # noqa: SIM105 - faster than suppress
                turn.release()
            except RuntimeError:
                # The lock was not acquired, or an interruption came just before.
                pass

    def _write_beside(
        self, layout: Layout, moment: int, step: float, values: Collection[float]
    ) -> None:
        row = layout.pack(0, layout.number, moment, step, *values, 0)
        self._buffer.put_row(row, len(layout.paths))

    def _define(self, layout: Layout) -> bool:
        try:
            return self._ring is not None and self._ring.define(layout)
        except ValueError:
            return False  # it was just closed

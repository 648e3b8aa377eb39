"""Moves what was logged from memory into the spool."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from seamark import messages
from seamark.lifecycle.background import Background
from seamark.queue.grouping import PAYLOAD_BYTES, encoded, payloads
from seamark.queue.ring import Position, Ring
from seamark.queue.rows import Row, read_row
from seamark.queue.spool import Spool, SpoolFull
from seamark.recording.attributes import Recorder
from seamark.user_warnings import Notices

# While things are put beside the ring, which do not outlive the process there.
_INTERVAL_SECONDS = 0.25
# While none are: what is put next calls its thread, which else looks after the others,
# so that none of them is dead for five seconds.
_SLEEP_SECONDS = 4.5
# They need it no more often than that.
_CARE_SECONDS = 1.0
# What is in the ring outlives the process there. It is moved just before a batch is sent
# and before the spool is synced, and by the writer where neither happens.
_RING_SECONDS = 6.0
# What was moved so lately is not moved again for the next of several batches, nor for one
# that is sent a while after what it holds was written.
_LATELY_SECONDS = 0.66
# While a burst lasts, neither ring nor buffer must fill up.
_BURST_SECONDS = 0.005
# At the end of a process, how long a disk that refuses is left alone.
_REFUSED_SECONDS = 0.02
# Whoever still writes then hangs.
_HANG_SECONDS = 0.1
# How long a disk may fail before another one takes its place: most failures pass.
_PATIENCE_SECONDS = 5.0
# Whatever rows they are and wherever they lead, all of these fit into one payload.
RING_BYTES_AT_ONCE = PAYLOAD_BYTES // 4
# More at once, less often, is no faster in a flood, and takes more memory.
_BYTES_AT_ONCE = PAYLOAD_BYTES // 2


class Writer:
    """The thread that writes, and what could not be written yet."""

    def __init__(
        self,
        recorder: Recorder,
        ring: Ring | None,
        spool: Spool,
        notices: Notices,
        *,
        move: Callable[[OSError], bool] = lambda _: False,
        care: Callable[[], None] = lambda: None,
    ) -> None:
        """`move` has the spool go on in another folder, if there is one.

        `care` looks after the other threads.
        """
        self._buffer = recorder.buffer
        self._layouts = recorder.layouts.by_number
        self._ring = ring
        self._spool = spool
        self._notices = notices
        self._move = move
        self._care = care
        self._patience_seconds = _PATIENCE_SECONDS
        self._failing_since: float | None = None
        # Encoded and refused by the disk; nothing more is taken until they are in.
        self._unwritten: list[bytes] = []
        # Up to where the first of them holds what is in the ring.
        self._until: Position | None = None
        self._moved_at = self._cared_at = float("-inf")
        # Re-entrant, because a signal handler may end what its thread is ending.
        self._writing = threading.RLock()
        self._is_ended = False
        self.background = Background("seamark-writer", self.turn)
        if ring is not None:
            ring.call_writer = self._call

    def start(self) -> None:
        """Start the thread; where there can be none now, as soon as there can."""
        self.background.ensure()
        if not self.background.is_alive:
            self._be_called_by_next()

    def turn(self) -> float:
        """Write what is there, and return when to look again."""
        now = time.monotonic()
        is_burst = False
        is_asked = self._is_asked
        with self._writing:
            if is_asked or now >= self._moved_at + _RING_SECONDS:
                is_burst = self._move_some(now)
        if now >= self._cared_at + _CARE_SECONDS:
            self._cared_at = now
            self._care()
        if is_burst:
            return _BURST_SECONDS
        return _INTERVAL_SECONDS if is_asked else self._sleep()

    def flush(self) -> bool:
        """Write what is there now; return whether changes of attributes are written.

        For other threads than the writer's own.
        """
        with self._writing:
            self._move_some(time.monotonic())
            return not (self._unwritten or self._is_ended)

    def hurry(self) -> None:
        """Have the thread write what is there."""
        self._moved_at = float("-inf")
        self.background.wake()

    def catch_up(self) -> bool:
        """Write some of what is there, unless that was just done; whether more is left.

        For who sends or syncs it next, whose thread is awake then: the writer's would
        take the interpreter from the training once more, and what is new would wait.
        """
        now = time.monotonic()
        if now < self._moved_at + _LATELY_SECONDS:
            return False
        # Whoever writes now does what is asked for.
        if not self._writing.acquire(blocking=False):
            return False
        try:
            is_more = self._move_some(now)
        finally:
            self._writing.release()
        if self._unwritten:
            self.background.wake()
        return is_more

    def finish(
        self,
        *,
        failure: str | None,
        seconds: float,
        is_preempted: bool = False,
        ended_at: int | None = None,
    ) -> bool:
        """Write everything and the end of the spool; return whether it was possible."""
        deadline = time.monotonic() + seconds
        # A thread that hangs in the file system keeps its lock.
        if not self.background.stop(seconds):
            return False
        # Nobody is to be called, or kept, by a run that has ended.
        self._buffer.call = None
        if not self._writing.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return False
        try:
            self._is_ended = True
            # What cannot be written now is lost.
            self._patience_seconds = min(_PATIENCE_SECONDS, seconds / 4)
            return self._write_all(deadline) and self._write_last(
                self._last_payloads(failure, is_preempted, ended_at), deadline
            )
        finally:
            self._writing.release()

    def close(self) -> bool:
        """Have nothing more written; False while a thread writes, perhaps for ever."""
        if self.background.is_alive or not self._writing.acquire(timeout=_HANG_SECONDS):
            return False
        self._is_ended = True
        self._writing.release()
        return True

    @property
    def is_all_written(self) -> bool:
        """Whether nothing is left in memory."""
        return self._is_all_taken and not self._unwritten

    @property
    def _is_all_taken(self) -> bool:
        return not self._buffer and (self._ring is None or self._ring.is_empty)

    def _write_all(self, deadline: float) -> bool:
        while not self.is_all_written:
            self._write_some()
            if not self._may_go_on(deadline):
                return False
        return True

    def _write_last(self, payloads: list[bytes], deadline: float) -> bool:
        self._unwritten = payloads
        while not self._write_unwritten():
            if not self._may_go_on(deadline):
                return False
        return True

    def _may_go_on(self, deadline: float) -> bool:
        """Whether there is time; what is delivered meanwhile makes room on a full disk."""
        if self._unwritten:
            time.sleep(_REFUSED_SECONDS)
        return time.monotonic() < deadline

    def _last_payloads(
        self, failure: str | None, is_preempted: bool, ended_at: int | None
    ) -> list[bytes]:
        now = time.time_ns() // 1000 if ended_at is None else ended_at
        dropped = self._buffer.take_dropped()
        last = [messages.drop(dropped)] if dropped else []
        close = messages.close(failure=failure, time=now, is_preempted=is_preempted)
        return [messages.payload([*last, close])]

    @property
    def _is_asked(self) -> bool:
        """Whether something is not safe where it is, or needs the room."""
        is_crowded = self._ring is not None and self._ring.is_half_full
        return is_crowded or bool(self._buffer or self._unwritten)

    def _sleep(self) -> float:
        """Have what is put beside the ring call the thread; return how long to wait."""
        self._buffer.call = self.background.wake
        # It may have been put just before.
        if self._is_asked:
            return _INTERVAL_SECONDS
        until_due = self._moved_at + _RING_SECONDS - time.monotonic()
        return min(_SLEEP_SECONDS, max(_INTERVAL_SECONDS, until_due))

    def _call(self) -> None:
        """Have the thread write; called by what is logged, in the training thread."""
        self.background.ensure()
        self.background.wake()
        if self.background.is_alive:
            if self._ring is not None:
                self._ring.call_when_half_full()
        else:
            self._be_called_by_next()

    def _be_called_by_next(self) -> None:
        """Have what is logged next ask for the thread again: there may be no other.

        It is started once a second at most, and looks after the others then.
        """
        if self._ring is not None:
            self._ring.call_at_next_row()
        self._buffer.call = self._call

    def _move_some(self, now: float) -> bool:
        """Write some, unless the end has been written; return whether more was left."""
        is_more = not self._is_ended and self._write_some()
        self._moved_at = float("-inf") if is_more else now
        return is_more

    def _write_some(self) -> bool:
        """Write what is there, if it is not too much; return whether more was left."""
        if not self._write_unwritten():
            return False
        found = self._taken()
        if found:
            self._unwritten = payloads(found)
            self._write_unwritten()
        return not self._is_all_taken

    def _taken(self) -> list[bytes]:
        """Return messages with what is there; those of what is in the ring first."""
        from_ring: list[Row] = []
        if self._ring is not None and not self._ring.is_empty:
            from_ring, self._until = self._ring.read(
                self._layouts, most_bytes=RING_BYTES_AT_ONCE
            )
        beside = self._buffer.take_rows(_BYTES_AT_ONCE)
        return [
            *encoded(from_ring, notices=self._notices),
            *encoded(
                [read_row(row, 0, self._layouts) for row in beside],
                self._buffer.take_changes(),
                self._buffer.take_records(_BYTES_AT_ONCE),
                dropped=self._buffer.take_dropped(),
                notices=self._notices,
            ),
        ]

    def _write_unwritten(self) -> bool:
        while self._unwritten:
            try:
                if self._ring is not None and self._until is not None:
                    self._ring.announce(self._spool.written + 1, self._until)
                self._spool.write(self._unwritten[0])
            except OSError as error:
                if self._has_moved(error):
                    continue
                self._notices.warn(
                    f"spool {error.errno}",
                    f"the spool {self._spool.folder} cannot be written ({error}); "
                    "points are kept in memory, and dropped when that is full",
                )
                return False
            self._failing_since = None
            del self._unwritten[0]
            if self._ring is not None and self._until is not None:
                self._ring.release(self._until)
                self._until = None
        return True

    def _has_moved(self, error: OSError) -> bool:
        """Have the spool go on elsewhere if writing has failed for long; whether it did."""
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        # Our own limits hold everywhere.
        is_over = now >= self._failing_since + self._patience_seconds
        if isinstance(error, SpoolFull) or not is_over:
            return False
        self._failing_since = None
        return self._move(error)

"""Moves logged data from memory to the spool."""

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

# Interval while data arrives in the queues, which do not outlive the process.
_INTERVAL_SECONDS = 0.25
# Maximum sleep while none arrives: the next put wakes the thread, which also restarts
# dead threads, so none stays dead for five seconds.
_SLEEP_SECONDS = 4.5
# Interval of checking the other threads.
_CARE_SECONDS = 1.0
# Interval for the ring buffer, which outlives the process. It is also read just before
# a batch is sent and before the spool is synced.
_RING_SECONDS = 6.0
# Data moved this recently is not moved again for the next of several batches, or for a
# batch that is sent a while after it was written.
_LATELY_SECONDS = 0.66
# During a burst neither the ring buffer nor the queues may fill up.
_BURST_SECONDS = 0.005
# At process exit, the pause before retrying a failed write.
_REFUSED_SECONDS = 0.02
# A thread that still writes after this long hangs.
_HANG_SECONDS = 0.1
# How long a disk may fail before a fallback folder is used: most failures are
# temporary.
_PATIENCE_SECONDS = 5.0
# Any rows of this size fit into one payload.
RING_BYTES_AT_ONCE = PAYLOAD_BYTES // 4
# More at once is not faster in a flood and uses more memory.
_BYTES_AT_ONCE = PAYLOAD_BYTES // 2


class Writer:
    """The thread that writes the spool, and data that could not be written yet."""

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
        """Create it; `move` continues the spool in a fallback folder, if there is one.

        `care` restarts dead threads.
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
        # Encoded payloads that the disk rejected; nothing more is read until they are
        # written.
        self._unwritten: list[bytes] = []
        # The end position in the ring buffer of the rows in the first of them.
        self._until: Position | None = None
        self._moved_at = self._cared_at = float("-inf")
        # Re-entrant, because a signal handler may finish a run that its thread is
        # finishing.
        self._writing = threading.RLock()
        self._is_ended = False
        self.background = Background("seamark-writer", self.turn)
        if ring is not None:
            ring.call_writer = self._call

    def start(self) -> None:
        """Start the thread, or retry at the next logged data if it cannot start now."""
        self.background.ensure()
        if not self.background.is_alive:
            self._be_called_by_next()

    def turn(self) -> float:
        """Write pending data; return the seconds until the next turn."""
        now = time.monotonic()
        is_burst = False
        has_work = self._has_work
        with self._writing:
            if has_work or now >= self._moved_at + _RING_SECONDS:
                is_burst = self._move_some(now)
        if now >= self._cared_at + _CARE_SECONDS:
            self._cared_at = now
            self._care()
        if is_burst:
            return _BURST_SECONDS
        return _INTERVAL_SECONDS if has_work else self._sleep()

    def flush(self) -> bool:
        """Write pending data now; return whether changes of attributes are written.

        For threads other than the writer's own.
        """
        with self._writing:
            self._move_some(time.monotonic())
            return not (self._unwritten or self._is_ended)

    def hurry(self) -> None:
        """Wake the thread to write pending data."""
        self._moved_at = float("-inf")
        self.background.wake()

    def catch_up(self) -> bool:
        """Write pending data, unless that was just done; return whether more is left.

        For the sender and the syncer, which run just then: waking the writer would
        interrupt the training once more and delay new data.
        """
        now = time.monotonic()
        if now < self._moved_at + _LATELY_SECONDS:
            return False
        # Another thread is already writing.
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
        """Write all data and the last message; return whether that succeeded."""
        deadline = time.monotonic() + seconds
        # A thread that hangs in the file system keeps the lock.
        if not self.background.stop(seconds):
            return False
        # A finished run must not be called, or kept alive, by the buffer.
        self._buffer.call = None
        if not self._writing.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return False
        try:
            self._is_ended = True
            # Data that cannot be written now is lost.
            self._patience_seconds = min(_PATIENCE_SECONDS, seconds / 4)
            return self._write_all(deadline) and self._write_last(
                self._last_payloads(failure, is_preempted, ended_at), deadline
            )
        finally:
            self._writing.release()

    def close(self) -> bool:
        """Stop writing; return False while a thread still writes, possibly forever."""
        if self.background.is_alive or not self._writing.acquire(timeout=_HANG_SECONDS):
            return False
        self._is_ended = True
        self._writing.release()
        return True

    @property
    def is_all_written(self) -> bool:
        """Whether no data is left in memory."""
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
        """Return whether there is time; deliveries meanwhile make room on a full disk."""
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
    def _has_work(self) -> bool:
        """Whether data is in a queue, or the ring buffer is half full."""
        is_crowded = self._ring is not None and self._ring.is_half_full
        return is_crowded or bool(self._buffer or self._unwritten)

    def _sleep(self) -> float:
        """Wake the thread when data is queued; return the seconds to sleep."""
        self._buffer.call = self.background.wake
        # Data may have been queued just before.
        if self._has_work:
            return _INTERVAL_SECONDS
        until_due = self._moved_at + _RING_SECONDS - time.monotonic()
        return min(_SLEEP_SECONDS, max(_INTERVAL_SECONDS, until_due))

    def _call(self) -> None:
        """Wake the thread; called by logging calls in the training thread."""
        self.background.ensure()
        self.background.wake()
        if self.background.is_alive:
            if self._ring is not None:
                self._ring.call_when_half_full()
        else:
            self._be_called_by_next()

    def _be_called_by_next(self) -> None:
        """Start the thread again at the next logged data: no other may be running.

        It starts at most once a second, and then restarts the others.
        """
        if self._ring is not None:
            self._ring.call_at_next_row()
        self._buffer.call = self._call

    def _move_some(self, now: float) -> bool:
        """Write some data, unless the run has ended; return whether more is left."""
        is_more = not self._is_ended and self._write_some()
        self._moved_at = float("-inf") if is_more else now
        return is_more

    def _write_some(self) -> bool:
        """Write a limited amount of data; return whether more is left."""
        if not self._write_unwritten():
            return False
        found = self._taken()
        if found:
            self._unwritten = payloads(found)
            self._write_unwritten()
        return not self._is_all_taken

    def _taken(self) -> list[bytes]:
        """Return messages with pending data, those from the ring buffer first."""
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
                    f"the offline queue {self._spool.folder} cannot be written ({error}); "
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
        """Move the spool if writing has failed for too long; return whether it moved."""
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        # The agent's own limits apply in every folder.
        is_over = now >= self._failing_since + self._patience_seconds
        if isinstance(error, SpoolFull) or not is_over:
            return False
        self._failing_since = None
        return self._move(error)

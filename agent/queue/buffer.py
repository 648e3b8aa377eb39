"""Logged data that is not yet written: lock-free queues for records and changes.

Rows go to the ring buffer first. The training thread only writes to mapped memory or
appends to a deque, which is safe in signal handlers, finalizers and logging handlers.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from seamark.recording.records import Record
from seamark.recording.values import Value

# For rows when the ring buffer is full or absent; far above the rate of a training
# loop.
CAPACITY_BYTES = 64 * 1024 * 1024
# Python's overhead for a row.
_ROW_BYTES = 48
MAX_CHANGES = 200_000
# For records: more output than this within a quarter of a second is dropped.
RECORD_CAPACITY_BYTES = 32 * 1024 * 1024
# Python's overhead for a record.
_RECORD_BYTES = 250


class SetValue(NamedTuple):
    """An attribute's new value."""

    path: str
    value: Value
    # Whether the process had logged no points yet.
    early: bool = False


class SetFile(NamedTuple):
    """A file assigned to a path; its content is in the queue's folder."""

    path: str
    digest: str
    size: int  # bytes
    media_type: str
    name: str


class TagChange(NamedTuple):
    """Tags to add and to remove."""

    add: frozenset[str]
    remove: frozenset[str]


class Rewind(NamedTuple):
    """The step from which a series is logged again, and the time of that."""

    path: str
    step: float
    time: int  # microseconds since 1970


Change = SetValue | SetFile | TagChange | Rewind


class Buffer:
    """Holds data until the writer takes it; drops and counts when full."""

    def __init__(self, capacity: int = CAPACITY_BYTES) -> None:
        # Called once by the next put, to wake a sleeping writer.
        self.call: Callable[[], None] | None = None
        self._capacity = capacity
        self._rows: deque[bytes] = deque()
        # Approximate: threads may overwrite each other's sums; reset when the queue is
        # empty.
        self._row_bytes = 0
        self._changes: deque[Change] = deque()
        self._records: deque[Record] = deque()
        self._record_bytes = 0  # approximate as well
        self._dropped = 0
        # Re-entrant, because a signal handler may log while its thread counts.
        self._counting = threading.RLock()

    def __len__(self) -> int:
        return len(self._rows) + len(self._changes) + len(self._records)

    def put_row(self, row: bytes, points: int) -> None:
        """Queue a row, or count its points as dropped."""
        if self._row_bytes < self._capacity:
            self._rows.append(row)
            self._row_bytes += len(row) + _ROW_BYTES
            self._call_once()
        else:
            self.count_dropped(points)

    def put(self, change: Change) -> None:
        """Queue a change, or count it as dropped."""
        if len(self._changes) < MAX_CHANGES:
            self._changes.append(change)
            self._call_once()
        else:
            self.count_dropped(1)

    def put_record(self, record: Record) -> None:
        """Queue a record, or count it as dropped."""
        if self._record_bytes < RECORD_CAPACITY_BYTES:
            self._records.append(record)
            self._record_bytes += len(record.data) + _RECORD_BYTES
            self._call_once()
        else:
            self.count_dropped(1)

    def take_rows(self, most_bytes: int) -> list[bytes]:
        """Remove and return the oldest rows."""
        rows: list[bytes] = []
        taken = 0
        while self._rows and taken < most_bytes:
            rows.append(self._rows.popleft())
            taken += len(rows[-1]) + _ROW_BYTES
        self._row_bytes = max(0, self._row_bytes - taken) if self._rows else 0
        return rows

    def take_records(self, most_bytes: int) -> list[Record]:
        """Remove and return the oldest records."""
        records: list[Record] = []
        taken = 0
        while self._records and taken < most_bytes:
            records.append(self._records.popleft())
            taken += len(records[-1].data) + _RECORD_BYTES
        left = max(0, self._record_bytes - taken)
        self._record_bytes = left if self._records else 0
        return records

    def take_changes(self) -> list[Change]:
        """Remove and return all changes."""
        return [self._changes.popleft() for _ in range(len(self._changes))]

    def count_dropped(self, points: int) -> None:
        """Count lost points until they are reported to the server."""
        with self._counting:
            self._dropped += points

    def take_dropped(self) -> int:
        """Return the number of points dropped since the last call, and reset it."""
        with self._counting:
            dropped, self._dropped = self._dropped, 0
            return dropped

    def _call_once(self) -> None:
        call = self.call
        if call is not None:
            self.call = None
            call()

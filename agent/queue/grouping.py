"""Converts rows and changes to payloads of frames; points become columns (pure)."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from seamark import messages
from seamark.path import is_encodable
from seamark.queue.buffer import Change, Rewind, SetFile, SetValue, TagChange
from seamark.queue.rows import Row
from seamark.recording.records import Record, grouped
from seamark.user_warnings import Notices

# Well below the server's 4 MiB, so that a damaged frame costs little, and below the 1
# MiB that nginx accepts by default, even without compression.
PAYLOAD_BYTES = 960 * 1024
_REWINDS_IN_MESSAGE = 1_000
_TICKS_IN_MESSAGE = 40_000  # 24 bytes each
_VALUE_BYTES = 8
_RECORDS_IN_MESSAGE = 10_000  # 20 bytes each, plus their values
_RECORD_BYTES_IN_MESSAGE = PAYLOAD_BYTES // 2
# Rows of one step within this interval share the timestamp of the first.
_TICK_MICROSECONDS = 1_000

# The number of points in a message, and the function that encodes it.
Message = tuple[int, Callable[[], bytes]]
# A path and its values.
Column = tuple[str, bytes]
Item = TypeVar("Item")


def encoded(
    rows: Iterable[Row],
    changes: Iterable[Change] = (),
    records: Iterable[Record] = (),
    *,
    dropped: int = 0,
    notices: Notices,
) -> list[bytes]:
    """Return the encoded messages, those of rows first."""
    found: list[bytes] = []
    for points, encode in (
        *_messages_of_rows(rows),
        *_messages_of_changes(changes),
        *_messages_of_records(records),
    ):
        message = _encoded(encode, notices)
        if message is None:
            dropped += points
        else:
            found.append(message)
    if dropped:
        found.append(messages.drop(dropped))
    return found


def payloads(encoded_messages: Iterable[bytes]) -> list[bytes]:
    """Return frame payloads that hold the messages in order."""
    return [messages.payload(group) for group in _fitting(encoded_messages, len)]


def _encoded(encode: Callable[[], bytes], notices: Notices) -> bytes | None:
    try:
        return encode()
    except (TypeError, ValueError, OverflowError, struct.error) as error:
        # One invalid message must not drop the batch.
        notices.warn(
            "encoding", f"a message cannot be encoded and is dropped: {error!r}"
        )
        return None


def _messages_of_changes(changes: Iterable[Change]) -> Iterator[Message]:
    values: dict[str, SetValue | SetFile] = {}
    rewinds: dict[int, list[Rewind]] = {}
    for change in changes:
        if isinstance(change, Rewind):
            rewinds.setdefault(change.time, []).append(change)
        elif isinstance(change, TagChange):
            yield 0, partial(messages.change_tags, change.add, change.remove)
        else:
            # Only the last of several values would ever be visible.
            values[change.path] = change
    for change in values.values():
        encode = (
            messages.set_file if isinstance(change, SetFile) else messages.set_value
        )
        yield 0, partial(encode, *change)
    for moment, together in rewinds.items():
        for low in range(0, len(together), _REWINDS_IN_MESSAGE):
            paths, steps, _ = zip(
                *together[low : low + _REWINDS_IN_MESSAGE], strict=True
            )
            yield 0, partial(messages.rewind, paths, steps, moment)


def _messages_of_records(records: Iterable[Record]) -> Iterator[Message]:
    for some in grouped(
        records, most=_RECORDS_IN_MESSAGE, most_bytes=_RECORD_BYTES_IN_MESSAGE
    ):
        kinds, paths, steps, times, values = zip(*some, strict=True)
        yield (
            len(some),
            partial(messages.records, kinds[0], paths[0], steps, times, values),
        )


def _messages_of_rows(rows: Iterable[Row]) -> Iterator[Message]:
    for steps, times, some in _logged_together(_grouped(rows)):
        for low in range(0, len(steps), _TICKS_IN_MESSAGE):
            high = min(low + _TICKS_IN_MESSAGE, len(steps))
            part = slice(low * _VALUE_BYTES, high * _VALUE_BYTES)
            columns = [(path, data[part]) for each in some for path, data in each]
            for fitting in _fitting(columns, _size_of_column):
                yield (
                    (high - low) * len(fitting),
                    partial(
                        messages.packed_points,
                        [path for path, _ in fitting],
                        steps[low:high],
                        times[low:high],
                        [data for _, data in fitting],
                    ),
                )


class _RowGroup:
    """The rows of paths that are always logged together."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        self.paths = paths
        self.steps: list[float] = []
        self.times: list[int] = []
        self.values: list[bytes] = []

    def columns(self) -> list[Column]:
        """Return the values of each path, in order of the paths."""
        data = b"".join(self.values)
        if len(self.paths) == 1:
            return [(self.paths[0], data)]
        # As integers, so that no bit of a NaN changes.
        words = array("Q", data)
        width = len(self.paths)
        return [
            (path, words[place::width].tobytes())
            for place, path in enumerate(self.paths)
        ]


def _grouped(rows: Iterable[Row]) -> list[_RowGroup]:
    """Group rows by their paths, and align their timestamps.

    Metrics of one step may be logged by several calls; with one timestamp they share
    their steps and times in messages and in storage.
    """
    found: dict[tuple[str, ...], _RowGroup] = {}
    # The step and time of the first of the rows that were logged together.
    tick_step, tick_time = -1.0, 0
    for paths, step, time, values in rows:
        group = found.get(paths)
        if group is None:
            group = found[paths] = _RowGroup(paths)
        is_together = (
            step == tick_step and 0 <= time - tick_time <= _TICK_MICROSECONDS
        ) and (not group.times or group.times[-1] < tick_time)
        if not is_together:
            tick_step, tick_time = step, time
        group.steps.append(step)
        group.times.append(tick_time)
        group.values.append(values)
    return list(found.values())


def _logged_together(
    groups: Iterable[_RowGroup],
) -> Iterator[tuple[list[float], list[int], list[list[Column]]]]:
    """Yield steps, times, and the columns of all paths that share them."""
    together: dict[tuple[object, ...], list[_RowGroup]] = {}
    for group in groups:
        # A path that cannot be encoded must not affect others.
        apart = () if all(map(is_encodable, group.paths)) else group.paths
        key = (apart, tuple(group.steps), tuple(group.times))
        together.setdefault(key, []).append(group)
    for some in together.values():
        for distinct in _without_repeats(some):
            first = distinct[0]
            yield first.steps, first.times, [group.columns() for group in distinct]


def _without_repeats(groups: Iterable[_RowGroup]) -> Iterator[list[_RowGroup]]:
    """Yield groups without common paths: a message has each path once."""
    some: list[_RowGroup] = []
    paths: set[str] = set()
    for group in groups:
        if not paths.isdisjoint(group.paths):
            yield some
            some, paths = [], set()
        some.append(group)
        paths.update(group.paths)
    if some:
        yield some


def _fitting(
    items: Iterable[Item], size_of: Callable[[Item], int]
) -> Iterator[list[Item]]:
    """Yield as many items at a time as fit a payload; at least one."""
    group: list[Item] = []
    size = 0
    for item in items:
        if group and size + size_of(item) > PAYLOAD_BYTES:
            yield group
            group, size = [], 0
        group.append(item)
        size += size_of(item)
    if group:
        yield group


def _size_of_column(column: Column) -> int:
    path, data = column
    # A character takes up to four bytes.
    return len(data) + 4 * len(path)

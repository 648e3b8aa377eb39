"""From logged items to the payloads of frames: points become columns."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from agent import messages
from agent.buffer import Item, Point, SetValue, TagChange
from agent.notices import Notices

# Well below the tracker's 4 MiB: a damaged frame then costs little.
_PAYLOAD_BYTES = 1024 * 1024
_TICKS_IN_MESSAGE = 40_000  # 24 bytes each
# Points of one step that follow each other so soon have the time of the first.
_TICK_MICROSECONDS = 1_000

Columns = tuple[list[float], list[int], list[float]]
# How many points a message holds, and what encodes it.
Message = tuple[int, Callable[[], bytes]]


def payloads(
    items: Sequence[Item],
    *,
    last_steps: dict[str, float],
    dropped: int,
    notices: Notices,
) -> list[bytes]:
    """Return the payloads that carry the items.

    Points without a step get the one after their series' last, which
    `last_steps` remembers from call to call.
    """
    encoded: list[bytes] = []
    for points, encode in _messages(items, last_steps):
        message = _encoded(encode, notices)
        if message is None:
            dropped += points
        else:
            encoded.append(message)
    if dropped:
        encoded.append(messages.drop(dropped))
    return [messages.payload(group) for group in _fitting(encoded)]


def _encoded(encode: Callable[[], bytes], notices: Notices) -> bytes | None:
    try:
        return encode()
    except (TypeError, ValueError, OverflowError, struct.error) as error:
        # What slipped past all checks must not take the others with it.
        notices.warn("encoding", f"something cannot be sent: {error!r}")
        return None


def _messages(items: Sequence[Item], last_steps: dict[str, float]) -> Iterator[Message]:
    series = _Series(last_steps)
    values: dict[str, SetValue] = {}
    for item in items:
        if isinstance(item, SetValue):
            # Only the last of several values was ever to be seen.
            values[item.path] = item
        elif isinstance(item, TagChange):
            yield 0, partial(messages.change_tags, item.add, item.remove)
        else:
            series.add(item)

    for path, value in values.values():
        yield 0, partial(messages.set_value, path, value)
    for paths, steps, times, columns in series.logged_together():
        yield (
            len(steps) * len(paths),
            partial(messages.points, paths, steps, times, columns),
        )


class _Series:
    """Points on their way to columns."""

    def __init__(self, last_steps: dict[str, float]) -> None:
        self._last_steps = last_steps
        self._columns: dict[str, Columns] = {}
        # The step and time of the first of points that were logged together.
        self._tick = (-1.0, 0)

    def add(self, point: Point) -> None:
        path, step, time, value = point
        if step is None:
            step = self._last_steps.get(path, -1.0) + 1.0
        self._last_steps[path] = step
        columns = self._columns.get(path)
        if columns is None:
            columns = self._columns[path] = ([], [], [])
        columns[0].append(step)
        columns[1].append(self._shared_time(step, time, columns[1]))
        columns[2].append(value)

    def _shared_time(self, step: float, time: int, earlier: list[int]) -> int:
        """Return the time of the tick that the point belongs to.

        Metrics of one step are logged one after the other; with one time they share
        the message, and later the storage, of their steps and times.
        """
        first_step, first_time = self._tick
        is_together = (
            step == first_step and 0 <= time - first_time <= _TICK_MICROSECONDS
        )
        if is_together and (not earlier or earlier[-1] < first_time):
            return first_time
        self._tick = step, time
        return time

    def logged_together(
        self,
    ) -> Iterator[tuple[list[str], list[float], list[int], list[list[float]]]]:
        """Yield paths, their steps and times, and a column of values for each."""
        groups: dict[tuple[str, tuple[float, ...], tuple[int, ...]], list[str]] = {}
        for path, (steps, times, _) in self._columns.items():
            # One that cannot be sent must not take others with it.
            apart = "" if _is_unicode(path) else path
            groups.setdefault((apart, tuple(steps), tuple(times)), []).append(path)
        for (_, all_steps, all_times), paths in groups.items():
            for low in range(0, len(all_steps), _TICKS_IN_MESSAGE):
                part = slice(low, low + _TICKS_IN_MESSAGE)
                steps, times = list(all_steps[part]), list(all_times[part])
                for some in _fitting_paths(paths, len(steps)):
                    columns = [self._columns[path][2][part] for path in some]
                    yield some, steps, times, columns


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False  # it holds half of a surrogate pair
    return True


def _fitting_paths(paths: Sequence[str], tick_count: int) -> Iterator[list[str]]:
    """Yield as many paths at a time as fit with their columns into a message."""
    group: list[str] = []
    size = 0
    for path in paths:
        # A character takes up to four bytes.
        cost = 8 * tick_count + 4 * len(path)
        if group and size + cost > _PAYLOAD_BYTES:
            yield group
            group, size = [], 0
        group.append(path)
        size += cost
    if group:
        yield group


def _fitting(encoded: Sequence[bytes]) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    size = 0
    for message in encoded:
        if group and size + len(message) > _PAYLOAD_BYTES:
            yield group
            group, size = [], 0
        group.append(message)
        size += len(message)
    if group:
        yield group

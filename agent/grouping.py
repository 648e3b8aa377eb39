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
_POINTS_IN_MESSAGE = 40_000  # 24 bytes each

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
    series: dict[str, Columns] = {}
    values: dict[str, SetValue] = {}
    for item in items:
        if isinstance(item, SetValue):
            # Only the last of several values was ever to be seen.
            values[item.path] = item
        elif isinstance(item, TagChange):
            yield 0, partial(messages.change_tags, item.add, item.remove)
        else:
            _add_point(series, item, last_steps)

    for path, value in values.values():
        yield 0, partial(messages.set_value, path, value)
    for path, (steps, times, numbers) in series.items():
        for low in range(0, len(steps), _POINTS_IN_MESSAGE):
            part = slice(low, low + _POINTS_IN_MESSAGE)
            columns = steps[part], times[part], numbers[part]
            yield len(columns[0]), partial(messages.points, path, *columns)


def _add_point(
    series: dict[str, Columns], point: Point, last_steps: dict[str, float]
) -> None:
    path, step, time, value = point
    if step is None:
        step = last_steps.get(path, -1.0) + 1.0
    last_steps[path] = step
    columns = series.get(path)
    if columns is None:
        columns = series[path] = ([], [], [])
    columns[0].append(step)
    columns[1].append(time)
    columns[2].append(value)


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

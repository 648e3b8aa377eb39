"""From logged items to the payloads of frames: points become columns (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent import messages
from agent.buffer import Item, Point, SetValue, TagChange

# Well below the tracker's 4 MiB: a damaged frame then costs little.
_PAYLOAD_BYTES = 1024 * 1024
_POINTS_IN_MESSAGE = 40_000  # 24 bytes each

Columns = tuple[list[float], list[int], list[float]]


def payloads(
    items: Sequence[Item], *, last_steps: dict[str, float], dropped: int
) -> list[bytes]:
    """Return the payloads that carry the items.

    Points without a step get the one after their series' last, which
    `last_steps` remembers from call to call.
    """
    encoded = list(_encode(items, last_steps))
    if dropped:
        encoded.append(messages.drop(dropped))
    return [messages.payload(group) for group in _fitting(encoded)]


def _encode(items: Sequence[Item], last_steps: dict[str, float]) -> Iterator[bytes]:
    series: dict[str, Columns] = {}
    values: dict[str, SetValue] = {}
    for item in items:
        if isinstance(item, SetValue):
            # Only the last of several values was ever to be seen.
            values[item.path] = item
        elif isinstance(item, TagChange):
            yield messages.change_tags(item.add, item.remove)
        else:
            _add_point(series, item, last_steps)

    for path, value in values.values():
        yield messages.set_value(path, value)
    for path, (steps, times, numbers) in series.items():
        for low in range(0, len(steps), _POINTS_IN_MESSAGE):
            part = slice(low, low + _POINTS_IN_MESSAGE)
            yield messages.points(path, steps[part], times[part], numbers[part])


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

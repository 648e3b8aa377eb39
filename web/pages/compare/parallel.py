"""Axes of parallel coordinates: where each run crosses each of them (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from web.templatetags.format import number

# Words on an axis; of more, the middle ones are left out.
LONGEST_WORD = 24
MAX_WORDS = 40
TICKS = 5

Value = float | str | None


@dataclass(frozen=True, slots=True)
class AxisTick:
    place: float  # in the unit of the axis: a number, or the position of a word
    text: str


@dataclass(frozen=True, slots=True)
class ParallelAxis:
    """An axis from `low` to `high`; the position of a run without a value is None."""

    path: str
    label: str
    low: float
    high: float
    ticks: tuple[AxisTick, ...]
    places: tuple[float | None, ...]
    texts: tuple[str, ...]


def parallel_axis(path: str, label: str, values: Sequence[Value]) -> ParallelAxis:
    """Lay out an axis: numbers by value, texts in order."""
    if any(isinstance(value, str) for value in values):
        return _of_words(path, label, values)
    numbers = [value for value in values if isinstance(value, float)]
    low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
    if low == high:
        room = abs(low) / 10 or 1.0
        low, high = low - room, high + room
    return ParallelAxis(
        path,
        label,
        low,
        high,
        tuple(AxisTick(place, _short(place)) for place in _places(low, high)),
        tuple(value if isinstance(value, float) else None for value in values),
        tuple(map(_text, values)),
    )


def _places(low: float, high: float) -> list[float]:
    # Each end by its share, because the difference of two huge numbers need not be one.
    shares = [index / (TICKS - 1) for index in range(TICKS)]
    return [low * (1 - share) + high * share for share in shares]


def _of_words(path: str, label: str, values: Sequence[Value]) -> ParallelAxis:
    words = sorted({_text(value) for value in values if value is not None}, key=_order)
    places = {word: float(index) for index, word in enumerate(words)}
    shown = words if len(words) <= MAX_WORDS else [words[0], words[-1]]
    return ParallelAxis(
        path,
        label,
        -0.5,
        len(words) - 0.5,
        tuple(AxisTick(places[word], _cut(word)) for word in shown),
        tuple(None if value is None else places[_text(value)] for value in values),
        tuple(map(_text, values)),
    )


def _order(word: str) -> tuple[bool, float, str]:
    try:
        return False, float(word), word
    except ValueError:
        return True, 0.0, word


def _text(value: Value) -> str:
    return value if isinstance(value, str) else number(value)


def _short(value: float) -> str:
    return number(float(f"{value:.3g}"))


def _cut(word: str) -> str:
    return word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD - 1]}…"

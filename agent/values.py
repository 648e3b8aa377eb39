"""Turns what training code holds into what the tracker stores (pure).

Arrays and tensors are recognised by what they can do, never by their type, so
that no framework is imported.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from enum import Enum
from typing import Any

from agent.errors import UnsupportedValue
from agent.path import is_encodable

# What a single-valued attribute holds; a set of strings is stored as one.
Value = float | int | bool | str | datetime | frozenset[str]

LONGEST_TEXT = 65_536  # characters
LARGEST_SET = 1_000  # strings
LONGEST_SET_STRING = 1_024  # characters
_DEEPEST_NESTING = 32
_LATEST_MICROSECONDS = 253_402_214_400_000_000  # the last day of the year 9999
_SMALLEST_INTEGER, _LARGEST_INTEGER = -(2**63), 2**63 - 1


def to_number(value: object) -> float:
    """Return anything that is one number as a float; NaN and infinities are numbers."""
    # Text that looks like a number is text.
    if isinstance(value, (str, bytes, bytearray)):
        raise UnsupportedValue(value, "is not a number")
    try:
        return float(_unwrapped(value))
    except Exception as error:
        # The value's own code ran: it may raise whatever it likes.
        raise UnsupportedValue(
            value, f"is not one number ({_reason(error)})"
        ) from error


def to_step(step: object) -> float:
    """Return a step as a float; unlike values, steps are finite."""
    number = to_number(step)
    if not math.isfinite(number):
        raise UnsupportedValue(step, "that is not finite cannot be a step")
    return number


def to_microseconds(time: float | datetime) -> int:
    """Return a time, in seconds since 1970 or aware, as microseconds since 1970."""
    try:
        seconds = time.timestamp() if isinstance(time, datetime) else to_step(time)
        microseconds = round(seconds * 1_000_000)
    except (ValueError, OverflowError, OSError):
        # A moment that has no timestamp, or one too large for this system.
        microseconds = -1
    if not 0 <= microseconds <= _LATEST_MICROSECONDS:
        raise UnsupportedValue(time, "is no time of the years 1970 to 9999")
    return microseconds


def to_value(value: object) -> Value:
    """Return a single value as the tracker stores it, or refuse it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _text(value, f"{type(value).__name__}.{value.name}")
    if isinstance(value, str):
        return _text(value, str(value))
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, (set, frozenset)):
        return _string_set(value)
    number = _plain_number(value)
    return _described(value) if number is None else number


def flatten(
    path: str, value: object, *, empty: object = "{}"
) -> Iterator[tuple[str, object]]:
    """Yield the leaves of nested dictionaries with their paths; `empty` for empty ones."""
    yield from _flatten(path, value, empty, depth=0)


def _flatten(
    path: str, value: object, empty: object, *, depth: int
) -> Iterator[tuple[str, object]]:
    fields = _fields(value)
    if not fields:
        yield path, empty if fields is not None else value
        return
    # A dictionary that contains itself ends here too.
    if depth == _DEEPEST_NESTING:
        raise UnsupportedValue(
            value, f"is nested deeper than {_DEEPEST_NESTING} levels"
        )
    for key, member in fields.items():
        # A member of an enumeration that is text is found again by that text.
        name = str.__str__(key) if isinstance(key, str) else str(key)
        below = f"{path}/{name}" if path else name
        yield from _flatten(below, member, empty, depth=depth + 1)


def _fields(value: object) -> Mapping[Any, object] | None:
    if isinstance(value, Mapping):
        return value
    # argparse.Namespace, and settings written as a dataclass.
    kind = type(value)
    if kind.__name__ == "Namespace" or hasattr(kind, "__dataclass_fields__"):
        fields: Mapping[Any, object] | None = getattr(value, "__dict__", None)
        return fields
    return None


# Any: the members of foreign number types are known only at run time.
def _unwrapped(value: Any) -> Any:
    """The number inside a NumPy or PyTorch scalar, wherever the memory lies."""
    item = getattr(value, "item", None)
    return item() if callable(item) else value


def _plain_number(value: object) -> float | int | bool | None:
    """An int, float or bool if that is what the value is; None if it is no number."""
    try:
        plain = _unwrapped(value)
        if isinstance(plain, bool):
            return plain
        integer = None if isinstance(plain, float) else _integer(plain)
        if integer is None:
            return float(plain) if hasattr(plain, "__float__") else None
    except Exception:  # noqa: BLE001 - foreign code
        # The value's own code ran: an array of many numbers, a complex one, or one
        # beyond all floats is no single number.
        return None
    return _checked_integer(integer)


# Any: see above.
def _integer(number: Any) -> int | None:
    try:
        return operator.index(number)
    except TypeError:
        # TensorFlow's tensors offer this even if they hold a fraction.
        return None


def _checked_integer(number: int) -> int:
    if not _SMALLEST_INTEGER <= number <= _LARGEST_INTEGER:
        raise UnsupportedValue(
            number, "must fit into 64 bits; store it as text instead"
        )
    return number


def _moment(value: datetime) -> datetime:
    """The same moment in UTC, as a plain datetime: pandas has a class of its own."""
    try:
        plain = datetime.combine(value.date(), value.time(), value.tzinfo)
        return plain.astimezone(timezone.utc)
    except Exception as error:
        # The value's own code ran, and not every date has a moment.
        raise UnsupportedValue(value, f"has no moment ({_reason(error)})") from error


def _described(value: object) -> str:
    """The text of lists, paths, devices, ...: whatever has a text of its own."""
    kind = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        raise UnsupportedValue(value, "has no value that can be stored")
    try:
        text = str(value)
    except Exception as error:
        # The value's own code ran: it may raise whatever it likes.
        raise UnsupportedValue(value, f"has no text ({_reason(error)})") from error
    return _text(value, text)


def _text(value: object, text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise UnsupportedValue(value, f"is longer than {LONGEST_TEXT:,} characters")
    if not is_encodable(text):
        return text.encode("utf-8", "replace").decode()
    return text


def _string_set(values: set[object] | frozenset[object]) -> frozenset[str]:
    texts = frozenset(str(value) for value in values)
    if len(texts) > LARGEST_SET:
        raise UnsupportedValue(
            values, f"of more than {LARGEST_SET:,} strings is too large"
        )
    if any(len(t) > LONGEST_SET_STRING or not is_encodable(t) for t in texts):
        raise UnsupportedValue(
            values, f"may hold only strings of up to {LONGEST_SET_STRING:,} characters"
        )
    return texts


def _reason(error: Exception) -> str:
    # Not its text: that is foreign code again, and may be as long as an array.
    return type(error).__name__

"""Converts values of training code to values that the server stores (pure).

Arrays and tensors are recognized by their methods, not by their type, so that no
framework is imported.
"""

from __future__ import annotations

import math
import operator
import re
from datetime import datetime, timezone
from enum import Enum
from typing import Any

from seamark.errors import AgentError, UnsupportedValue
from seamark.path import is_encodable
from seamark.recording.duck_types import (
    can,
    is_array,
    is_picture,
    is_table,
    is_time,
    list_of,
    size_of,
)
from seamark.recording.nested import is_list, json_text

# The types of a single value; a set of strings is stored as a set.
Value = float | int | bool | str | datetime | frozenset[str] | None

LONGEST_TEXT = 65_536  # characters
LARGEST_SET = 1_000  # strings
LONGEST_SET_STRING = 1_024  # characters
LARGEST_ARRAY = 1_000  # elements of an array that is stored as a list
LARGEST_STEP = 2.0**53  # above, floats skip integers
_LATEST_MICROSECONDS = 253_402_214_400_000_000  # the last day of the year 9999
_PLACE = re.compile(r" at 0x[0-9a-fA-F]+")
_SMALLEST_INTEGER, _LARGEST_INTEGER = -(2**63), 2**63 - 1


def to_number(value: object) -> float:
    """Return a single number of any type as a float; includes NaN and infinities."""
    if type(value) is float:
        return value
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError  # noqa: TRY301 - text that looks like a number is text
        item = getattr(value, "item", None)
        plain: Any = item() if callable(item) else value
        number = float(plain)
    except Exception as error:
        # The value's own code ran and may raise anything.
        raise UnsupportedValue(
            value, f"is not one number ({_reason(error)}){_advice(value)}"
        ) from error
    # Nanoseconds since 1970 come as large integers; checking the type of every NumPy
    # integer would double the time.
    if type(plain) is int and plain > LARGEST_STEP and is_time(value):
        raise a_time(value)
    return number


def a_time(value: object) -> UnsupportedValue:
    """Return the error for a time or a duration passed as a number."""
    return UnsupportedValue(value, "is a time, not a number")


def to_step(step: object) -> float:
    """Return a step as a finite float."""
    try:
        number = to_number(step)
    except UnsupportedValue as error:
        raise UnsupportedValue(step, "is not a step: a step is one number") from error
    if not math.isfinite(number):
        raise UnsupportedValue(step, "is not a step: it is not finite")
    if abs(number) > LARGEST_STEP:
        raise UnsupportedValue(
            step, "is not a step: it exceeds 2^53; pass a time as time="
        )
    return number


def to_microseconds(time: float | datetime) -> int:
    """Return a time as microseconds since 1970.

    Accepts seconds since 1970, a datetime, or a NumPy datetime in UTC.
    """
    try:
        moment = _plain_time(time) if is_time(time) else time
        if isinstance(moment, datetime):
            moment = moment.timestamp()
        microseconds = round(to_number(moment) * 1_000_000)
    except Exception:  # noqa: BLE001 - foreign code
        # Not a number, a time without a timestamp or out of range, or a foreign class
        # whose own code ran.
        microseconds = -1
    if not 0 <= microseconds <= _LATEST_MICROSECONDS:
        raise UnsupportedValue(
            time,
            "is not a time from 1970 to 9999, in seconds since 1970 or as a datetime",
        )
    return microseconds


def to_value(value: object) -> Value:
    """Return a single value as the server stores it; raises UnsupportedValue.

    A small array becomes the text of its list.
    """
    try:
        return _to_value(value)
    except AgentError:
        raise
    except Exception as error:
        # The value's own code ran and may raise anything.
        raise UnsupportedValue(
            value, f"has no value that can be stored ({_reason(error)})"
        ) from error


def _to_value(value: object) -> Value:  # noqa: PLR0911 - one for each kind
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        # The text of a str enumeration member is its value.
        return _text(value, str.__str__(value))
    if isinstance(value, Enum) and not isinstance(value, (int, float)):
        return _value_of_member(value)
    if is_time(value):
        value = _plain_time(value)
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, (set, frozenset)):
        return _string_set(value)
    number = _plain_number(value)
    if number is not None:
        return number
    return _listed(value) if is_array(value) else _described(value)


def _value_of_member(member: Enum) -> Value:
    try:
        return _to_value(member.value)
    except UnsupportedValue:
        return _text(member, member.name)


# Any: the members of foreign number types are known only at run time.
def _unwrapped(value: Any) -> Any:
    """Return the number in a NumPy or PyTorch scalar on any device."""
    item = getattr(value, "item", None)
    return item() if callable(item) else value


# Any: see above.
def _plain_time(value: Any) -> object:
    """Return a NumPy datetime (UTC) or duration of one element as a Python object."""
    if size_of(value) != 1:
        return value
    plain = value.item()
    if isinstance(plain, int):
        # Finer than Python's times; microseconds are kept.
        plain = value.astype(f"{value.dtype.kind}8[us]").item()
    if isinstance(plain, datetime) and plain.tzinfo is None:
        return plain.replace(tzinfo=timezone.utc)
    # NaT, or a time without a unit or outside Python's years.
    return str(value) if plain is None or isinstance(plain, int) else plain


def _listed(array: object) -> str:
    size = size_of(array)
    if size > LARGEST_ARRAY:
        raise UnsupportedValue(
            array,
            f"of {size:,} elements is too large for a value; the limit is"
            f" {LARGEST_ARRAY:,}; upload it as an image, or append agent.Histogram"
            " of it",
        )
    return _text(array, json_text(list_of(array)))


def _advice(value: object) -> str:
    """Return advice on how to store a value that is not a number."""
    try:
        if is_picture(value) or is_table(value):
            return "; upload it"
        if is_array(value):
            return "; append its mean, or agent.Histogram or agent.Image of it"
    except Exception:  # noqa: BLE001 - foreign code
        return ""
    return ""


def _plain_number(value: object) -> float | int | bool | None:
    """Return an int, float or bool; None if the value is not a number."""
    try:
        plain = _unwrapped(value)
        if isinstance(plain, bool):
            return plain
        integer = None if isinstance(plain, float) else _integer(plain)
    except Exception:  # noqa: BLE001 - foreign code
        # The value's own code ran: an array of many numbers is not a single number.
        return None
    if integer is not None:
        # Larger integers, such as random seeds of 128 bits, are stored as text.
        return integer if _SMALLEST_INTEGER <= integer <= _LARGEST_INTEGER else None
    return _plain_float(plain)


# Any: see above.
def _plain_float(number: Any) -> float | None:
    try:
        found = float(number) if hasattr(number, "__float__") else None
    except Exception:  # noqa: BLE001 - foreign code: a complex one, or several
        return None
    # A Decimal beyond the range of floats is stored as text too.
    is_beyond = found is not None and math.isinf(found) and "E" in str(number)
    return None if is_beyond else found


# Any: see above.
def _integer(number: Any) -> int | None:
    try:
        return operator.index(number)
    except TypeError:
        # TensorFlow tensors have `__index__` even if they hold a fraction.
        return None


def _moment(value: datetime) -> datetime:
    """Return the same time in UTC as a plain datetime; pandas has a subclass."""
    try:
        plain = datetime.combine(value.date(), value.time(), value.tzinfo)
        return plain.astimezone(timezone.utc)
    except Exception as error:
        # The value's own code ran, and not every date has a timestamp.
        raise UnsupportedValue(value, f"has no timestamp ({_reason(error)})") from error


def _described(value: object) -> str:
    """Return the text of lists, paths, devices and other objects with their own text."""
    if _is_content(value):
        raise UnsupportedValue(value, "is not a value; upload it")
    kind = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        raise UnsupportedValue(value, "has no value that can be stored")
    # The address of functions, for example, differs in each run.
    text = json_text(value) if is_list(value) else str(value)
    return _text(value, _PLACE.sub("", text))


def _is_content(value: object) -> bool:
    """Return whether its text is meaningless: bytes, an open file."""
    if isinstance(value, (bytes, bytearray)):
        return b"\0" in value or "\ufffd" in value.decode("utf-8", "replace")
    is_open = not isinstance(value, type) and can(value, "read", "close")
    return is_open or isinstance(value, memoryview)


def _text(value: object, text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise UnsupportedValue(value, f"is longer than {LONGEST_TEXT:,} characters")
    if "\0" in text:
        raise UnsupportedValue(value, "contains a NUL character")
    if not is_encodable(text):
        return text.encode("utf-8", "replace").decode()
    return text


def _string_set(values: set[object] | frozenset[object]) -> frozenset[str]:
    texts = frozenset(
        str(value.value if isinstance(value, Enum) else value) for value in values
    )
    if len(texts) > LARGEST_SET:
        raise UnsupportedValue(
            values, f"of more than {LARGEST_SET:,} strings is too large"
        )
    if any("\0" in text for text in texts):
        raise UnsupportedValue(values, "holds a string with a NUL character")
    if any(len(t) > LONGEST_SET_STRING or not is_encodable(t) for t in texts):
        raise UnsupportedValue(
            values, f"may hold only strings of up to {LONGEST_SET_STRING:,} characters"
        )
    return texts


def _reason(error: Exception) -> str:
    # Without its text: that runs foreign code and may be as long as an array.
    return type(error).__name__

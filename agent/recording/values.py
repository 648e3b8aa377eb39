"""Turns what training code holds into what the tracker stores (pure).

Arrays and tensors are recognised by what they can do, never by their type, so
that no framework is imported.
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

# What a single-valued attribute holds; a set of strings is stored as one.
Value = float | int | bool | str | datetime | frozenset[str] | None

LONGEST_TEXT = 65_536  # characters
LARGEST_SET = 1_000  # strings
LONGEST_SET_STRING = 1_024  # characters
LARGEST_ARRAY = 1_000  # elements that are stored as a list
LARGEST_STEP = 2.0**53  # beyond, floats leave integers out
_LATEST_MICROSECONDS = 253_402_214_400_000_000  # the last day of the year 9999
_PLACE = re.compile(r" at 0x[0-9a-fA-F]+")
_SMALLEST_INTEGER, _LARGEST_INTEGER = -(2**63), 2**63 - 1


def to_number(value: object) -> float:
    """Return anything that is one number as a float; NaN and infinities are numbers."""
    if type(value) is float:
        return value
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError  # noqa: TRY301 - text that looks like a number is text
        item = getattr(value, "item", None)
        plain: Any = item() if callable(item) else value
        number = float(plain)
    except Exception as error:
        # The value's own code ran: it may raise whatever it likes.
        raise UnsupportedValue(
            value, f"is not one number ({_reason(error)}){_advice(value)}"
        ) from error
    # Nanoseconds since 1970 come as integers, large ones: to ask each integer of
    # NumPy's what it is would take as long again.
    if type(plain) is int and plain > LARGEST_STEP and is_time(value):
        raise a_time(value)
    return number


def a_time(value: object) -> UnsupportedValue:
    """Return why a moment or a duration is no number."""
    return UnsupportedValue(value, "is a time, and not one number")


def to_step(step: object) -> float:
    """Return a step as a float; unlike values, steps are finite."""
    try:
        number = to_number(step)
    except UnsupportedValue as error:
        raise UnsupportedValue(step, "is no step, which is one number") from error
    if not math.isfinite(number):
        raise UnsupportedValue(step, "that is not finite is no step")
    if abs(number) > LARGEST_STEP:
        raise UnsupportedValue(
            step, "is no step: it is beyond 2^53; pass a time as time="
        )
    return number


def to_microseconds(time: float | datetime) -> int:
    """Return a time as microseconds since 1970.

    It is in seconds since 1970, a datetime, or NumPy's, which is in UTC.
    """
    try:
        moment = _plain_time(time) if is_time(time) else time
        if isinstance(moment, datetime):
            moment = moment.timestamp()
        microseconds = round(to_number(moment) * 1_000_000)
    except Exception:  # noqa: BLE001 - foreign code
        # No number, a moment that has no timestamp, one too large for this system, or
        # one of another class, whose own code ran.
        microseconds = -1
    if not 0 <= microseconds <= _LATEST_MICROSECONDS:
        raise UnsupportedValue(
            time,
            "is no time of the years 1970 to 9999, in seconds since 1970 or as a datetime",
        )
    return microseconds


def to_value(value: object) -> Value:
    """Return a single value as the tracker stores it, or refuse it.

    A small array is the text of the list that it holds.
    """
    try:
        return _to_value(value)
    except AgentError:
        raise
    except Exception as error:
        # The value's own code ran: it may raise whatever it likes.
        raise UnsupportedValue(
            value, f"has no value that can be stored ({_reason(error)})"
        ) from error


def _to_value(value: object) -> Value:  # noqa: PLR0911 - one for each kind
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        # Of a member of an enumeration that is text, that text.
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
    """The number inside a NumPy or PyTorch scalar, wherever the memory lies."""
    item = getattr(value, "item", None)
    return item() if callable(item) else value


# Any: see above.
def _plain_time(value: Any) -> object:
    """One moment of NumPy's, which is in UTC, or duration, as Python has it."""
    if size_of(value) != 1:
        return value
    plain = value.item()
    if isinstance(plain, int):
        # Finer than Python's times; microseconds are kept.
        plain = value.astype(f"{value.dtype.kind}8[us]").item()
    if isinstance(plain, datetime) and plain.tzinfo is None:
        return plain.replace(tzinfo=timezone.utc)
    # No time at all, or one without a unit or beyond Python's years.
    return str(value) if plain is None or isinstance(plain, int) else plain


def _listed(array: object) -> str:
    size = size_of(array)
    if size > LARGEST_ARRAY:
        raise UnsupportedValue(
            array,
            f"of {size:,} elements is too large for a value, which lists up to"
            f" {LARGEST_ARRAY:,}; upload it as a picture, or append agent.Histogram"
            " of it",
        )
    return _text(array, json_text(list_of(array)))


def _advice(value: object) -> str:
    """What would store after all what is no number."""
    try:
        if is_picture(value) or is_table(value):
            return "; upload it"
        if is_array(value):
            return "; append its mean, or agent.Histogram or agent.Image of it"
    except Exception:  # noqa: BLE001 - foreign code
        return ""
    return ""


def _plain_number(value: object) -> float | int | bool | None:
    """An int, float or bool if that is what the value is; None if it is no number."""
    try:
        plain = _unwrapped(value)
        if isinstance(plain, bool):
            return plain
        integer = None if isinstance(plain, float) else _integer(plain)
    except Exception:  # noqa: BLE001 - foreign code
        # The value's own code ran: an array of many numbers is no single number.
        return None
    if integer is not None:
        # Larger ones, as random seeds of 128 bits, are text.
        return integer if _SMALLEST_INTEGER <= integer <= _LARGEST_INTEGER else None
    return _plain_float(plain)


# Any: see above.
def _plain_float(number: Any) -> float | None:
    try:
        found = float(number) if hasattr(number, "__float__") else None
    except Exception:  # noqa: BLE001 - foreign code: a complex one, or several
        return None
    # A Decimal beyond all floats is text, too.
    is_beyond = found is not None and math.isinf(found) and "E" in str(number)
    return None if is_beyond else found


# Any: see above.
def _integer(number: Any) -> int | None:
    try:
        return operator.index(number)
    except TypeError:
        # TensorFlow's tensors offer this even if they hold a fraction.
        return None


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
    if _is_content(value):
        raise UnsupportedValue(value, "is no value; upload it")
    kind = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        raise UnsupportedValue(value, "has no value that can be stored")
    # Functions, say, lie elsewhere in memory in each run.
    text = json_text(value) if is_list(value) else str(value)
    return _text(value, _PLACE.sub("", text))


def _is_content(value: object) -> bool:
    """Whether its text would say nothing of what it holds: bytes, an open file."""
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
    # Not its text: that is foreign code again, and may be as long as an array.
    return type(error).__name__

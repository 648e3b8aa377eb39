"""Turns what training code holds into what the tracker stores (pure).

Arrays and tensors are recognised by what they can do, never by their type, so
that no framework is imported.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from enum import Enum
from types import MemberDescriptorType
from typing import Any

from agent.errors import AgentError, InvalidPath, UnsupportedValue, shown
from agent.foreign import is_array, is_picture, is_table, is_time, list_of, size_of
from agent.path import is_encodable

# What a single-valued attribute holds; a set of strings is stored as one.
Value = float | int | bool | str | datetime | frozenset[str]

LONGEST_TEXT = 65_536  # characters
LARGEST_SET = 1_000  # strings
LONGEST_SET_STRING = 1_024  # characters
LARGEST_ARRAY = 1_000  # elements that are stored as a list
_DEEPEST_NESTING = 32
MOST_MEMBERS = 100_000  # of nested dictionaries, all levels together
_LATEST_MICROSECONDS = 253_402_214_400_000_000  # the last day of the year 9999
_LARGE = 2**53  # beyond, floats leave integers out
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
    if type(plain) is int and plain > _LARGE and is_time(value):
        raise a_time(value)
    return number


def a_time(value: object) -> UnsupportedValue:
    """Return why a moment or a duration is no number."""
    return UnsupportedValue(value, "is a time, and not one number")


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
    except AgentError:
        raise
    except Exception:  # noqa: BLE001 - foreign code
        # A moment that has no timestamp, one too large for this system, or one of
        # another class, whose own code ran.
        microseconds = -1
    if not 0 <= microseconds <= _LATEST_MICROSECONDS:
        raise UnsupportedValue(time, "is no time of the years 1970 to 9999")
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
    if isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _text(value, f"{type(value).__name__}.{value.name}")
    if isinstance(value, str):
        return _text(value, str(value))
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


# What holds nothing, without a look at it.
_LEAVES = frozenset({float, int, bool, str})
# Is told why a member of a dictionary is left out, and its path.
Refuse = Callable[[AgentError, str], None]


def flatten(
    path: str, value: object, *, refuse: Refuse, empty: object = "{}"
) -> Iterator[tuple[str, object]]:
    """Yield the leaves of nested dictionaries with their paths; `empty` for empty ones.

    What cannot be read is refused, and takes nothing else along.
    """
    if not isinstance(path, str):
        raise InvalidPath(path, "is not a string")
    yield from _Walk(refuse, empty).leaves(path, value)


class _Walk:
    """Goes through nested dictionaries, which may contain each other."""

    def __init__(self, refuse: Refuse, empty: object) -> None:
        self._refuse = refuse
        self._empty = empty
        # The dictionaries on the way down, by what they are and not by what they equal.
        self._above: list[object] = []
        self._members = 0

    def leaves(self, path: str, value: object) -> Iterator[tuple[str, object]]:
        """Raise UnsupportedValue where there are too many to go through."""
        self._members += 1
        if self._members > MOST_MEMBERS:
            # Few that share others, level by level, are as many as one likes.
            raise UnsupportedValue(value, f"is one of more than {MOST_MEMBERS} values")
        # Of what is plain no code of its own runs: what is raised meanwhile comes from a
        # signal handler of the user's, to be caught further up.
        if type(value) in _LEAVES:
            yield path, value
            return
        members = _plain_members(value)
        if members is None:
            yield from self._leaves_of_foreign(path, value)
        elif not members:
            yield path, self._empty
        elif reason := self._not_entered(value):
            self._refuse(UnsupportedValue(value, reason), path)
        else:
            self._above.append(value)
            for name, member in members:
                yield from self.leaves(f"{path}/{name}" if path else name, member)
            self._above.pop()

    def _leaves_of_foreign(
        self, path: str, value: object
    ) -> Iterator[tuple[str, object]]:
        try:
            fields = _fields(value)
            # At once: another thread may change it meanwhile.
            keys = [] if fields is None else [*fields]
        except Exception as error:  # noqa: BLE001 - foreign code
            # The dictionary's own code ran, here and below: it may raise whatever it
            # likes.
            self._refuse(_unread(value, path, error), path)
            return
        if not keys or fields is None:
            yield path, value if fields is None else self._empty
            return
        if reason := self._not_entered(value):
            self._refuse(UnsupportedValue(value, reason), path)
            return
        self._above.append(value)
        for key in keys:
            below = path
            try:
                # A member of an enumeration that is text is found again by that text.
                name = str.__str__(key) if isinstance(key, str) else str(key)
                below = f"{path}/{name}" if path else name
                member = fields[key]
            except Exception as error:  # noqa: BLE001 - foreign code
                self._refuse(_unread(value, below, error), below)
                continue
            yield from self.leaves(below, member)
        self._above.pop()

    def _not_entered(self, value: object) -> str:
        if any(value is one for one in self._above):
            return "contains itself"
        if len(self._above) == _DEEPEST_NESTING:
            return f"is nested deeper than {_DEEPEST_NESTING} levels"
        return ""


def _plain_members(value: object) -> list[tuple[str, object]] | None:
    """Return what a dictionary of texts holds; None if it is anything else."""
    if type(value) is not dict:
        return None
    # Of a copy, made at once: another thread may change it meanwhile.
    members = [*value.copy().items()]
    is_plain = {str}.issuperset(type(name) for name, _ in members)
    return members if is_plain else None


def _unread(value: object, path: str, error: Exception) -> UnsupportedValue:
    return UnsupportedValue(
        value, f"cannot be read at {shown(path)} ({_reason(error)})"
    )


def _fields(value: object) -> Mapping[Any, object] | None:
    if isinstance(value, Mapping):
        return value
    # argparse.Namespace, and settings written as a dataclass.
    kind = type(value)
    names = getattr(kind, "__dataclass_fields__", None)
    if names is None:
        return (
            getattr(value, "__dict__", None) if kind.__name__ == "Namespace" else None
        )
    # Those with slots have no dictionary, and a slot may be empty.
    slots = {
        name: getattr(value, name)
        for name in names
        if type(getattr(kind, name, None)) is MemberDescriptorType
        and hasattr(value, name)
    }
    return {**slots, **getattr(value, "__dict__", {})}


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
    return _text(array, str(list_of(array)))


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
    return _text(value, str(value))


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

"""Reads and judges one message of an agent; the other half of docs/protocol.md (pure).

Whatever the bytes are, the only exception is Unacceptable.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from tracker.ingest.limits import LIMITS

NUMBER_BYTES = 8
# Times are microseconds since 1970, up to the end of the year 9999.
LATEST_TIME = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp()) * 1_000_000

NO_NUL = r"\A[^\x00]*\Z"
RunName = Annotated[str, Meta(min_length=1, max_length=255, pattern=NO_NUL)]
ProjectName = Annotated[str, Meta(min_length=1, max_length=200, pattern=NO_NUL)]
StageName = Annotated[str, Meta(max_length=100, pattern=NO_NUL)]
Tag = Annotated[
    str,
    Meta(min_length=1, max_length=LIMITS.set_string_characters, pattern=NO_NUL),
]
Time = Annotated[int, Meta(ge=0, le=LATEST_TIME)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
_Scalar: TypeAlias = float | int | bool | str | datetime
Value: TypeAlias = _Scalar | tuple[str, ...]


class Open(Struct, tag_field="t", tag="open", frozen=True):
    project: ProjectName
    run: RunName
    rank: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    host: Annotated[str, Meta(max_length=255, pattern=NO_NUL)]
    pid: Annotated[int, Meta(ge=0, le=2**53)]
    agent: Annotated[str, Meta(max_length=50, pattern=NO_NUL)]
    time: Time
    stage: StageName = "main"
    workspace: str | None = None


class AddPoints(Struct, tag_field="t", tag="points", frozen=True):
    """Points of one series, as columns of little-endian numbers."""

    path: str
    steps: bytes
    times: bytes
    values: bytes

    @property
    def count(self) -> int:
        return len(self.values) // NUMBER_BYTES


class SetValue(Struct, tag_field="t", tag="set", frozen=True):
    path: str
    value: Value


class _UnjudgedValue(Struct, tag_field="t", tag="set", frozen=True):
    path: str
    value: msgspec.Raw


class ChangeTags(Struct, tag_field="t", tag="tags", frozen=True):
    add: Annotated[list[Tag], Meta(max_length=LIMITS.set_strings)] = []
    remove: Annotated[list[Tag], Meta(max_length=LIMITS.set_strings)] = []


class Drop(Struct, tag_field="t", tag="drop", frozen=True):
    points: Count


class Close(Struct, tag_field="t", tag="close", frozen=True):
    state: Literal["finished", "failed", "crashed"]
    time: Time
    failure: str = ""


_Unjudged: TypeAlias = Open | AddPoints | _UnjudgedValue | ChangeTags | Drop | Close
Content: TypeAlias = Open | AddPoints | SetValue | ChangeTags | Drop | Close
# First bytes of MessagePack's extensions, of which timestamps are one.
EXTENSIONS = frozenset({0xC7, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8})
KINDS = frozenset({"open", "points", "set", "tags", "drop", "close"})


class _AnyKind(Struct):
    t: str


_contents: msgspec.msgpack.Decoder[_Unjudged] = msgspec.msgpack.Decoder(_Unjudged)
_values = msgspec.msgpack.Decoder(float | int | bool | str | list[str])
_timestamps = msgspec.msgpack.Decoder(datetime)
_kinds = msgspec.msgpack.Decoder(_AnyKind)


class Unacceptable(Exception):
    """One message is refused; `code` is part of the protocol."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def clean_path(text: str) -> str:
    """Return the path as it is stored, or refuse it."""
    path = text.strip("/")
    if not path:
        raise Unacceptable("invalid_path", "The path is empty.")
    if len(path) > LIMITS.path_characters:
        raise Unacceptable(
            "invalid_path",
            f"The path has more than {LIMITS.path_characters} characters.",
        )
    if "\0" in path:
        raise Unacceptable("invalid_path", "The path holds a NUL character.")
    return path


def read_message(raw: bytes | msgspec.Raw) -> Content:
    try:
        content = _contents.decode(raw)
    except UnicodeDecodeError as error:
        raise Unacceptable("invalid_message", "A text is not UTF-8.") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _reason(raw, error) from error

    match content:
        case AddPoints():
            return _judged_points(content)
        case _UnjudgedValue():
            return SetValue(clean_path(content.path), _judged_value(content.value))
        case _:
            return content


def _reason(raw: bytes | msgspec.Raw, error: Exception) -> Unacceptable:
    try:
        kind = _kinds.decode(raw).t
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Unacceptable("invalid_message", "It is not a map with a kind, `t`.")
    if kind not in KINDS:
        return Unacceptable(
            "unknown_message", f"This tracker knows no message of kind {kind[:50]!r}."
        )
    if isinstance(error, RecursionError):
        return Unacceptable("invalid_message", "It is nested too deeply.")
    return Unacceptable("invalid_message", f"{error}."[:300])


def _judged_points(content: AddPoints) -> AddPoints:
    columns = (content.steps, content.times, content.values)
    if len({len(column) for column in columns}) != 1:
        raise Unacceptable("invalid_message", "The columns differ in length.")
    if len(content.values) % NUMBER_BYTES:
        raise Unacceptable("invalid_message", "A column is not made of 8-byte numbers.")
    return AddPoints(clean_path(content.path), *columns)


def _judged_value(raw: msgspec.Raw) -> Value:
    match _read_value(raw):
        case str() as text if len(text) > LIMITS.string_characters:
            raise Unacceptable(
                "value_too_large",
                f"The text has more than {LIMITS.string_characters} characters.",
            )
        case str() as text:
            return _without_nul(text)
        case list() as items:
            return _judged_set(items)
        case value:
            return value


def _read_value(raw: msgspec.Raw) -> _Scalar | list[str]:
    try:
        if memoryview(raw)[0] in EXTENSIONS:
            return _timestamps.decode(raw)
        value: _Scalar | list[str] = _values.decode(raw)
    except UnicodeDecodeError as error:
        raise Unacceptable("invalid_message", "A text is not UTF-8.") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unacceptable(
            "invalid_message",
            "A value is a number, boolean, text, timestamp or list of texts.",
        ) from error
    return value


def _judged_set(items: list[str]) -> tuple[str, ...]:
    if len(items) > LIMITS.set_strings:
        raise Unacceptable(
            "value_too_large", f"The set has more than {LIMITS.set_strings} strings."
        )
    if any(len(item) > LIMITS.set_string_characters for item in items):
        raise Unacceptable(
            "value_too_large",
            f"A string has more than {LIMITS.set_string_characters} characters.",
        )
    return tuple(sorted({_without_nul(item) for item in items}))


def _without_nul(text: str) -> str:
    # PostgreSQL cannot store it.
    if "\0" in text:
        raise Unacceptable("invalid_message", "The text holds a NUL character.")
    return text

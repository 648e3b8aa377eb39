"""Parses and validates one message of an agent, as docs/protocol.md defines (pure).

For any input, the only exception is Unacceptable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta, Struct

from tracker.ingest.limits import LIMITS
from tracker.ingest.paths import BadPath, clean_path, read_paths
from tracker.ingest.records import AddRecords, UnjudgedRecords, judged_records
from tracker.ingest.refusal import Unacceptable
from tracker.ingest.storable import LARGEST_STEP, LATEST_TIME
from tracker.series.points import Floats

NUMBER_BYTES = 8

# MessagePack's empty array.
NO_PATHS = b"\x90"
NO_NUL = r"\A[^\x00]*\Z"
RunName = Annotated[
    str, Meta(min_length=1, max_length=LIMITS.run_characters, pattern=NO_NUL)
]
ProjectName = Annotated[
    str, Meta(min_length=1, max_length=LIMITS.project_characters, pattern=NO_NUL)
]
StageName = Annotated[str, Meta(max_length=LIMITS.stage_characters, pattern=NO_NUL)]
Tag = Annotated[
    str,
    Meta(min_length=1, max_length=LIMITS.set_string_characters, pattern=NO_NUL),
]
Time = Annotated[int, Meta(ge=0, le=LATEST_TIME)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
_Scalar: TypeAlias = float | int | bool | str | datetime
# SHA-256 in lower-case hexadecimal, which identifies a file's content everywhere.
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
MediaType = Annotated[
    str,
    Meta(
        max_length=LIMITS.media_type_characters,
        pattern=r"\A[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+\Z",
    ),
]
FileName = Annotated[
    str, Meta(min_length=1, max_length=LIMITS.file_name_characters, pattern=NO_NUL)
]


class FileValue(Struct, frozen=True):
    """A file reference; its content is uploaded separately."""

    digest: Digest
    size: Annotated[int, Meta(ge=0, le=2**53)]
    type: MediaType
    name: FileName


Value: TypeAlias = _Scalar | tuple[str, ...] | FileValue | None


class Open(Struct, tag_field="t", tag="open", frozen=True):
    project: ProjectName
    run: RunName
    rank: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    host: Annotated[str, Meta(max_length=LIMITS.host_characters, pattern=NO_NUL)]
    pid: Annotated[int, Meta(ge=0, le=2**53)]
    agent: Annotated[str, Meta(max_length=LIMITS.agent_characters, pattern=NO_NUL)]
    time: Time
    stage: StageName = "main"
    workspace: str | None = None
    helper: bool = False
    resume: bool = False
    began: Time | None = None
    # Name or id of a run of the project.
    parent: RunName | None = None
    # Name or id of a run of the project, whose series this one continues after a step.
    fork_from: RunName | None = None
    fork_step: float | None = None


class AddPoints(Struct, frozen=True):
    """Points of series that were logged together, as columns of little-endian numbers.

    The value columns are in order of the paths, each as long as the steps.
    """

    paths: tuple[str, ...]
    steps: bytes
    times: bytes
    values: bytes
    # Paths of the message that are invalid.
    bad_paths: tuple[BadPath, ...] = ()

    @property
    def count(self) -> int:
        return len(self.values) // NUMBER_BYTES

    def rows(self) -> Floats:
        """Return the values, one row per path."""
        rows = np.frombuffer(self.values, "<f8")
        return rows.reshape(len(self.paths), len(self.steps) // NUMBER_BYTES)


class _UnjudgedPoints(Struct, tag_field="t", tag="points", frozen=True):
    steps: bytes
    times: bytes
    values: bytes
    paths: msgspec.Raw = msgspec.Raw(NO_PATHS)
    # In place of `paths`: the first agent version sent one series at a time.
    path: str | None = None


class SetValue(Struct, tag_field="t", tag="set", frozen=True):
    path: str
    value: Value
    # True if the process had not logged any points yet.
    early: bool = False


class _UnjudgedValue(Struct, tag_field="t", tag="set", frozen=True):
    path: str
    value: msgspec.Raw
    early: bool = False


class _UnjudgedFile(FileValue, tag_field="t", tag="file", frozen=True, kw_only=True):
    path: str


class ChangeTags(Struct, tag_field="t", tag="tags", frozen=True):
    add: Annotated[list[Tag], Meta(max_length=LIMITS.set_strings)] = []
    remove: Annotated[list[Tag], Meta(max_length=LIMITS.set_strings)] = []


class _UnjudgedRewind(Struct, tag_field="t", tag="rewind", frozen=True):
    paths: Annotated[list[str], Meta(max_length=LIMITS.rewinds)]
    steps: bytes
    time: Time


@dataclass(frozen=True, slots=True)
class Rewound:
    """Steps from which series are logged again, replacing points from before `time`."""

    steps: Mapping[str, float]
    time: int


class Drop(Struct, tag_field="t", tag="drop", frozen=True):
    points: Count


class Close(Struct, tag_field="t", tag="close", frozen=True):
    state: Literal["finished", "failed", "crashed"]
    time: Time
    failure: str = ""
    # In addition to the state, which is all that older trackers read.
    preempted: bool = False


_Unjudged: TypeAlias = (
    Open
    | _UnjudgedPoints
    | UnjudgedRecords
    | _UnjudgedValue
    | _UnjudgedFile
    | ChangeTags
    | _UnjudgedRewind
    | Drop
    | Close
)
Content: TypeAlias = (
    Open | AddPoints | AddRecords | SetValue | ChangeTags | Rewound | Drop | Close
)
# First bytes of MessagePack extensions, which include timestamps.
EXTENSIONS = frozenset({0xC7, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8})
KINDS = frozenset(
    (
        *("open", "points", "records", "set", "file", "tags", "rewind", "drop"),
        "close",
    )
)


class _AnyKind(Struct):
    t: str


class _AnyPath(Struct):
    path: str = ""


_contents: msgspec.msgpack.Decoder[_Unjudged] = msgspec.msgpack.Decoder(_Unjudged)
_values = msgspec.msgpack.Decoder(float | int | bool | str | list[str] | None)
_timestamps = msgspec.msgpack.Decoder(datetime)
_kinds = msgspec.msgpack.Decoder(_AnyKind)
_paths = msgspec.msgpack.Decoder(_AnyPath)


def read_message(raw: bytes | msgspec.Raw) -> Content:
    try:
        content = _contents.decode(raw)
    except UnicodeDecodeError as error:
        raise Unacceptable("invalid_message", "A text is not UTF-8.") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _reason(raw, error) from error

    match content:
        case _UnjudgedPoints():
            return _judged_points(content)
        case UnjudgedRecords():
            return judged_records(content)
        case _UnjudgedValue():
            value = _judged_value(content.value)
            return SetValue(clean_path(content.path), value, content.early)
        case _UnjudgedFile(digest=digest, size=size, type=type_, name=name):
            file = FileValue(digest, size, type_, name)
            return SetValue(clean_path(content.path), file)
        case _UnjudgedRewind():
            return _judged_rewind(content)
        case _:
            return content


def path_of_refused(raw: bytes | msgspec.Raw) -> str:
    """Return the path of a rejected message, if any."""
    try:
        return _paths.decode(raw).path
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def _reason(raw: bytes | msgspec.Raw, error: Exception) -> Unacceptable:
    try:
        kind = _kinds.decode(raw).t
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Unacceptable("invalid_message", "It is not a map with a kind, `t`.")
    if kind not in KINDS:
        return Unacceptable(
            "unknown_message", f"Messages of kind {kind[:50]!r} are not supported."
        )
    if isinstance(error, RecursionError):
        return Unacceptable("invalid_message", "It is nested too deeply.")
    return Unacceptable("invalid_message", f"{error}."[:300])


def _judged_points(content: _UnjudgedPoints) -> AddPoints:
    if content.path is None:
        paths = read_paths(bytes(content.paths))
    else:
        paths = read_paths(msgspec.msgpack.encode([content.path]))
    steps, times, values = content.steps, content.times, content.values
    if len(steps) % NUMBER_BYTES:
        raise Unacceptable("invalid_message", "A column is not made of 8-byte numbers.")
    if len(times) != len(steps) or len(values) != len(steps) * paths.column_count:
        raise Unacceptable("invalid_message", "The columns differ in length.")
    if not paths.names:
        reason = paths.bad[0].reason if paths.bad else "There are no paths."
        raise Unacceptable("invalid_path", reason)
    if paths.bad:
        rows = np.frombuffer(values, "V8").reshape(paths.column_count, -1)
        values = rows[list(paths.columns)].tobytes()
    return AddPoints(paths.names, steps, times, values, paths.bad)


def _judged_rewind(content: _UnjudgedRewind) -> Rewound:
    if len(content.steps) != NUMBER_BYTES * len(content.paths):
        raise Unacceptable("invalid_message", "Each path has one step.")
    steps = np.frombuffer(content.steps, "<f8")
    if not (np.abs(steps) <= LARGEST_STEP).all():
        raise Unacceptable("invalid_points", "A step is not a number up to 2^53.")
    paths = map(clean_path, content.paths)
    return Rewound(dict(zip(paths, steps.tolist(), strict=True)), content.time)


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


def _read_value(raw: msgspec.Raw) -> _Scalar | list[str] | None:
    try:
        if memoryview(raw)[0] in EXTENSIONS:
            return _timestamps.decode(raw)
        value: _Scalar | list[str] | None = _values.decode(raw)
    except UnicodeDecodeError as error:
        raise Unacceptable("invalid_message", "A text is not UTF-8.") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unacceptable(
            "invalid_message",
            "A value is a number, boolean, text, timestamp, list of texts or nil.",
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

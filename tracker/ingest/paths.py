"""Reads the paths of a message that adds points (pure).

A process names the same thousand paths in every batch. So what they are is found out
once, and remembered for as long as they keep coming.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from tracker.ingest.arrays import claimed_length
from tracker.ingest.limits import LIMITS
from tracker.ingest.refusal import Unacceptable
from tracker.server.caches import Memory

# What is remembered in each server process, at most.
MAX_BYTES = 64 * 1024 * 1024
# Of a text and of a list's place for it, beside the characters.
BYTES_BESIDE = 100

_decoder = msgspec.msgpack.Decoder(tuple[str, ...])


@dataclass(frozen=True, slots=True)
class BadPath:
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Paths:
    """The good paths as they are stored, and the columns they are in."""

    names: tuple[str, ...]
    columns: tuple[int, ...]
    # How many columns there are, with those of the bad paths.
    column_count: int
    bad: tuple[BadPath, ...]


def read_paths(raw: bytes) -> Paths:
    """Read a MessagePack array of texts; the same bytes mostly give the same object."""
    paths = _remembered.get(raw)
    if paths is None:
        paths = _read_paths(raw)
        if not paths.bad:
            # The bytes themselves, and texts of up to four bytes a character.
            _remembered.remember(raw, paths, 5 * len(raw) + _bytes_beside(paths.names))
    return paths


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
    if len(path.encode()) > LIMITS.path_bytes:
        raise Unacceptable(
            "invalid_path", f"The path has more than {LIMITS.path_bytes} bytes."
        )
    if "\0" in path:
        raise Unacceptable("invalid_path", "The path holds a NUL character.")
    return path


def _read_paths(raw: bytes) -> Paths:
    if claimed_length(raw) > LIMITS.attributes:
        raise Unacceptable(
            "too_many_attributes", f"There are more than {LIMITS.attributes} paths."
        )
    try:
        texts = _decoder.decode(raw)
    except UnicodeDecodeError as error:
        raise Unacceptable("invalid_message", "A path is not UTF-8.") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unacceptable("invalid_message", "Paths are an array of texts.") from error

    columns: dict[str, int] = {}
    bad: list[BadPath] = []
    for column, text in enumerate(texts):
        try:
            path = clean_path(text)
        except Unacceptable as error:
            bad.append(BadPath(text, str(error)))
        else:
            if columns.setdefault(path, column) != column:
                bad.append(BadPath(text, "The message has this path twice."))
        if len(bad) > LIMITS.bad_paths:
            raise Unacceptable(
                "invalid_path", f"There are more than {LIMITS.bad_paths} bad paths."
            )
    return Paths(tuple(columns), tuple(columns.values()), len(texts), tuple(bad))


def bytes_of(paths: tuple[str, ...]) -> int:
    """Return about how much memory a list of paths takes."""
    return 4 * sum(map(len, paths)) + _bytes_beside(paths)


def _bytes_beside(paths: tuple[str, ...]) -> int:
    return BYTES_BESIDE * len(paths)


_remembered: Memory[bytes, Paths] = Memory(MAX_BYTES)

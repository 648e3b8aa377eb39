"""Parses the paths of a message with points, and caches the ids of their series.

A process sends the same thousand paths in every batch; parsing them and looking them up
would take longer than storing their points.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import msgspec

from tracker.ingest.arrays import claimed_length
from tracker.ingest.limits import LIMITS
from tracker.ingest.refusal import Unacceptable
from tracker.series.points import Integers
from tracker.server.caches import Memory

# Cache size per server process.
MAX_BYTES = 64 * 1024 * 1024
# Memory of a string and its list entry, besides the characters.
BYTES_BESIDE = 100

_decoder = msgspec.msgpack.Decoder(tuple[str, ...])


@dataclass(frozen=True, slots=True)
class BadPath:
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Paths:
    """The valid paths in stored form, and their columns."""

    names: tuple[str, ...]
    columns: tuple[int, ...]
    # The number of columns, including those of invalid paths.
    column_count: int
    bad: tuple[BadPath, ...]


def read_paths(raw: bytes) -> Paths:
    """Parse a MessagePack array of texts; equal bytes usually return the same object."""
    paths = _remembered.get(raw)
    if paths is None:
        paths = _read_paths(raw)
        if not paths.bad:
            # The bytes themselves, and strings of up to four bytes per character.
            _remembered.remember(raw, paths, 5 * len(raw) + _bytes_beside(paths.names))
    return paths


def clean_path(text: str) -> str:
    """Return the path in stored form, or raise Unacceptable."""
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
    """Return the approximate memory of a list of paths in bytes."""
    return 4 * sum(map(len, paths)) + _bytes_beside(paths)


def _bytes_beside(paths: tuple[str, ...]) -> int:
    return BYTES_BESIDE * len(paths)


_remembered: Memory[bytes, Paths] = Memory(MAX_BYTES)


# Ids never change, and a deleted run takes its spools with it, so entries stay valid.
_series: Memory[tuple[UUID, tuple[str, ...]], Integers] = Memory(MAX_BYTES)


def known_series(run_id: UUID, paths: tuple[str, ...]) -> Integers | None:
    return _series.get((run_id, paths))


def remember_series(run_id: UUID, paths: tuple[str, ...], ids: Integers) -> None:
    """Cache committed ids."""
    _series.remember((run_id, paths), ids, bytes_of(paths))

"""Validates messages with records; part of docs/protocol.md (pure).

An invalid record does not affect the others of its message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tracker.ingest.limits import LIMITS
from tracker.ingest.paths import clean_path
from tracker.ingest.refusal import Unacceptable
from tracker.ingest.storable import Flags, storable
from tracker.records.histogram import NotAHistogram, read_histogram
from tracker.records.record import Records
from tracker.records.stored_file import (
    NotAStoredFile,
    StoredFile,
    read_stored_file,
    read_stored_picture,
)

NUMBER_BYTES, SIZE_BYTES = 8, 4
MAX_BYTES_OF_A_CHARACTER = 4
# The first bits of a UTF-8 continuation byte.
CONTINUING, CONTINUING_MASK = 0x80, 0xC0

# An error code of the protocol, and a message.
Reason: TypeAlias = tuple[str, str]
# An error code, a message, and the function that marks valid records.
Check: TypeAlias = tuple[str, str, Callable[[Records], Flags]]


class UnjudgedRecords(Struct, tag_field="t", tag="records", frozen=True):
    kind: str
    path: str
    steps: bytes
    times: bytes
    sizes: bytes
    values: bytes


class AddRecords(Struct, frozen=True):
    """Records of one series, and the reasons for rejected ones."""

    kind: str
    path: str
    records: Records
    reasons: tuple[Reason, ...] = ()


def judged_records(content: UnjudgedRecords) -> AddRecords:
    checks = CHECKS.get(content.kind)
    if checks is None:
        raise Unacceptable(
            "unknown_message",
            f"Records of kind {content.kind[:50]!r} are not supported.",
        )
    path = clean_path(content.path)
    records = _records(content)
    reasons: list[Reason] = []
    for code, why, check in checks:
        good = check(records)
        if not good.all():
            lost = f"{int((~good).sum())} of {len(records)} records"
            reasons.append((code, f"{lost} {why}."))
            records = records.those(good)
    return AddRecords(content.kind, path, records, tuple(reasons))


def _records(content: UnjudgedRecords) -> Records:
    count = len(content.steps) // NUMBER_BYTES
    if len(content.steps) % NUMBER_BYTES or len(content.sizes) % SIZE_BYTES:
        raise Unacceptable("invalid_message", "A column is not made of whole numbers.")
    is_as_long = len(content.times) == len(content.steps)
    if not is_as_long or len(content.sizes) != SIZE_BYTES * count:
        raise Unacceptable("invalid_message", "The columns differ in length.")
    sizes = np.frombuffer(content.sizes, "<u4").astype(np.int64)
    if int(sizes.sum()) != len(content.values):
        raise Unacceptable(
            "invalid_message", "The values do not have the declared size."
        )
    return Records(
        np.frombuffer(content.steps, "<f8"),
        np.frombuffer(content.times, "<i8"),
        sizes,
        content.values,
    )


def _have_places(records: Records) -> Flags:
    return storable(records.steps.tobytes(), records.times.tobytes())


def _are_small(records: Records) -> Flags:
    most = LIMITS.record_characters
    good = records.sizes <= most
    if good.all():
        return good
    # Only for few large records does it depend on the number of characters.
    ends = records.ends()
    for place in np.flatnonzero(~good).tolist():
        size, end = int(records.sizes[place]), int(ends[place])
        if size <= MAX_BYTES_OF_A_CHARACTER * most:
            value = np.frombuffer(records.values[end - size : end], np.uint8)
            good[place] = int(_begins_a_character(value).sum()) <= most
    return good


def _are_text(records: Records) -> Flags:
    good = np.ones(len(records), np.bool_)
    starts = (records.ends() - records.sizes)[records.sizes > 0]
    firsts = np.frombuffer(records.values, np.uint8)[starts]
    if _is_utf8(records.values) and _begins_a_character(firsts).all():
        return good
    for place, value in enumerate(records.listed()):
        good[place] = _is_utf8(value)
    return good


def _begins_a_character(data: NDArray[np.uint8]) -> Flags:
    return np.asarray((data & CONTINUING_MASK) != CONTINUING, np.bool_)


def _is_utf8(data: bytes) -> bool:
    try:
        str(data, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _are_histograms(records: Records) -> Flags:
    return np.array([_is_histogram(value) for value in records.listed()], np.bool_)


def _is_histogram(data: bytes) -> bool:
    try:
        read_histogram(data)
    except NotAHistogram:
        return False
    return True


def _are_pictures(records: Records) -> Flags:
    return _are_read(records, read_stored_picture)


def _are_files(records: Records) -> Flags:
    return _are_read(records, read_stored_file)


def _are_read(records: Records, read: Callable[[bytes], StoredFile]) -> Flags:
    return np.array([_is_read(value, read) for value in records.listed()], np.bool_)


def _is_read(data: bytes, read: Callable[[bytes], StoredFile]) -> bool:
    try:
        read(data)
    except NotAStoredFile:
        return False
    return True


PLACES: Check = (
    "invalid_points",
    "have a step that is not a number up to 2^53, or a time outside the years"
    " 1970 to 9999",
    _have_places,
)
CHECKS: dict[str, tuple[Check, ...]] = {
    "text": (
        PLACES,
        (
            "value_too_large",
            f"have more than {LIMITS.record_characters} characters",
            _are_small,
        ),
        ("invalid_message", "are not UTF-8", _are_text),
    ),
    "image": (
        PLACES,
        ("invalid_message", "do not reference an image", _are_pictures),
    ),
    "file": (
        PLACES,
        ("invalid_message", "do not reference a file", _are_files),
    ),
    "histogram": (
        PLACES,
        (
            "invalid_message",
            f"are not histograms of up to {LIMITS.histogram_bins} bins",
            _are_histograms,
        ),
    ),
}

"""The checks of a batch, step by step (pure).

Each step returns the batch without the messages it rejects, or raises if the whole
batch is rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

import numpy as np

from tracker.errors import FrameDiffers, OutOfOrder
from tracker.ingest.batch import TAGS, Batch, refuse_paths
from tracker.ingest.limits import LIMITS
from tracker.ingest.messages import (
    ChangeTags,
    Content,
    Drop,
    FileValue,
    SetValue,
    Value,
)
from tracker.ingest.records import AddRecords, Reason
from tracker.models import Kind

# The last single value wins, whatever the type of the previous one.
SINGLE_VALUES = frozenset(
    {
        *(Kind.FLOAT, Kind.INTEGER, Kind.BOOLEAN, Kind.STRING, Kind.DATETIME),
        *(Kind.STRING_SET, Kind.NONE),
    }
)
# The number of stored frames whose checksums are kept, to distinguish a repeated frame
# from another with the same number.
REMEMBERED_FRAMES = 64


@dataclass(frozen=True, slots=True)
class Known:
    """The stored state that affects a batch."""

    last_number: int
    # The kinds of the batch's paths that the run has.
    kinds: Mapping[str, Kind]
    # Number of attributes of the run.
    attribute_count: int
    # The checksums of the last stored frames, little-endian, newest last.
    checksums: bytes = b""
    # Lists of paths that are all known series; they are not in `kinds`.
    series: Container[tuple[str, ...]] = ()


Step: TypeAlias = Callable[[Batch, Known], Batch]


def judge(batch: Batch, known: Known) -> Batch:
    for step in STEPS:
        batch = step(batch, known)
    return batch


def skip_stored_frames(batch: Batch, known: Known) -> Batch:
    if batch.is_heartbeat:
        return batch
    if batch.first > known.last_number + 1:
        raise OutOfOrder(known.last_number + 1)
    if batch.first > known.last_number:
        return batch

    _expect_the_same(batch, known)
    return replace(
        batch,
        first=known.last_number + 1,
        last=max(batch.last, known.last_number),
        messages=tuple(m for m in batch.messages if m.frame > known.last_number),
        refusals=tuple(r for r in batch.refusals if r.frame > known.last_number),
        checksums=batch.checksums[known.last_number + 1 - batch.first :],
    )


def refuse_other_kinds(batch: Batch, known: Known) -> Batch:
    """Reject a series or file at a path with a value, and vice versa."""
    kinds = dict(known.kinds)

    def reason(path: str, content: Content) -> Reason | None:
        kind = kind_of(content)
        # Within the batch, the first message determines the kind of a new path.
        stored = kinds.setdefault(path, kind)
        if path == TAGS and kind is not Kind.STRING_SET:
            return (
                "type_conflict",
                "This path holds the tags, which are a set of texts.",
            )
        if _may_replace(stored, kind):
            kinds[path] = kind
            return None
        return (
            "type_conflict",
            f"The path holds a {_words(stored)}, not a {_words(kind)}.",
        )

    return refuse_paths(batch, reason, unseen=known.series)


def refuse_too_many_attributes(batch: Batch, known: Known) -> Batch:
    paths = set(known.kinds)
    most = len(paths) + LIMITS.attributes - known.attribute_count

    def reason(path: str, _: Content) -> Reason | None:
        if path in paths or len(paths) < most:
            paths.add(path)
            return None
        return (
            "too_many_attributes",
            f"The run has {LIMITS.attributes} attributes, the most a run may have.",
        )

    return refuse_paths(batch, reason, unseen=known.series)


STEPS: tuple[Step, ...] = (
    skip_stored_frames,
    refuse_other_kinds,
    refuse_too_many_attributes,
)


def remembered_checksums(before: bytes, batch: Batch) -> bytes:
    """Return the checksums to keep after the batch is stored."""
    new = np.array(batch.checksums[-REMEMBERED_FRAMES:], "<u4").tobytes()
    return (before + new)[-REMEMBERED_FRAMES * 4 :]


def kind_of(content: Content) -> Kind:
    match content:
        case SetValue():
            return kind_of_value(content.value)
        case ChangeTags():
            return Kind.STRING_SET
        case AddRecords():
            return Kind(f"{content.kind}_series")
        case _:
            return Kind.FLOAT_SERIES


def kind_of_value(value: Value) -> Kind:  # noqa: PLR0911 - one per kind
    match value:
        case None:
            return Kind.NONE
        case bool():  # before int, its base type
            return Kind.BOOLEAN
        case int():
            return Kind.INTEGER
        case float():
            return Kind.FLOAT
        case str():
            return Kind.STRING
        case datetime():
            return Kind.DATETIME
        case FileValue():
            return Kind.FILE
        case _:
            return Kind.STRING_SET


def _expect_the_same(batch: Batch, known: Known) -> None:
    """Reject frames with stored numbers and other content.

    Empty frames are exempt: an agent sends one in place of a damaged frame, without
    knowing that the frame is stored.
    """
    stored = np.frombuffer(known.checksums, "<u4").tolist()
    oldest = known.last_number + 1 - len(stored)
    compared = {
        number: stored[number - oldest] == checksum
        for number, checksum in enumerate(batch.checksums, start=batch.first)
        if oldest <= number <= known.last_number
    }
    different = {number for number, is_same in compared.items() if not is_same}
    if different:
        different &= {refusal.frame for refusal in batch.refusals} | {
            m.frame for m in batch.messages if not isinstance(m.content, Drop)
        }
    if different:
        # If the oldest known frame differs, earlier ones may, too.
        first = batch.first if oldest in different else min(different)
        same = sorted(compared.keys() - different)
        raise FrameDiffers(
            min(different), first=first, stored=[n for n in same if n > first]
        )


def _may_replace(stored: Kind, kind: Kind) -> bool:
    if stored in SINGLE_VALUES and kind in SINGLE_VALUES:
        return True
    return stored == kind or (stored, kind) == (Kind.NONE, Kind.FILE)


def _words(kind: Kind) -> str:
    return "single value" if kind in SINGLE_VALUES else kind.replace("_", " ")

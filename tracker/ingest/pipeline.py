"""The ordered steps by which a batch is judged against what is stored (pure).

Each step returns the batch, less the messages it refuses, or raises because the whole
batch cannot be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from tracker.errors import OutOfOrder
from tracker.ingest.batch import Batch, Message, refuse
from tracker.ingest.limits import LIMITS
from tracker.ingest.messages import AddPoints, ChangeTags, Content, SetValue, Value
from tracker.models import Kind

# The attribute that `tags` messages change.
TAGS = "tags"
# A number may be logged as 1 now and as 0.5 later.
NUMBERS = frozenset({Kind.INTEGER, Kind.FLOAT})


@dataclass(frozen=True, slots=True)
class Known:
    """What is stored already and decides about a batch."""

    last_number: int
    # Of the batch's paths, those the run has.
    kinds: Mapping[str, Kind]
    # All attributes of the run.
    attribute_count: int


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

    return replace(
        batch,
        first=known.last_number + 1,
        last=max(batch.last, known.last_number),
        messages=tuple(m for m in batch.messages if m.frame > known.last_number),
        refusals=tuple(r for r in batch.refusals if r.frame > known.last_number),
    )


def refuse_other_kinds(batch: Batch, known: Known) -> Batch:
    """Refuse what would make an attribute hold something of another type."""
    kinds = dict(known.kinds)
    conflicting: list[Message] = []
    for message in batch.messages:
        if (path := path_of(message.content)) is not None:
            kind = kind_of(message.content)
            # Within the batch, the first message decides what a new path holds.
            if not _agree(kinds.setdefault(path, kind), kind):
                conflicting.append(message)
    return refuse(
        batch,
        conflicting,
        "type_conflict",
        "The path already holds something of another type.",
    )


def refuse_too_many_attributes(batch: Batch, known: Known) -> Batch:
    paths = set(known.kinds)
    free = LIMITS.attributes - known.attribute_count
    surplus: list[Message] = []
    for message in batch.messages:
        path = path_of(message.content)
        if path is None or path in paths:
            continue
        if free > 0:
            free -= 1
            paths.add(path)
        else:
            surplus.append(message)
    return refuse(
        batch,
        surplus,
        "too_many_attributes",
        f"The run has {LIMITS.attributes} attributes, the most a run may have.",
    )


STEPS: tuple[Step, ...] = (
    skip_stored_frames,
    refuse_other_kinds,
    refuse_too_many_attributes,
)


def path_of(content: Content) -> str | None:
    """The attribute that a message is about, if any."""
    match content:
        case AddPoints() | SetValue():
            return content.path
        case ChangeTags():
            return TAGS
        case _:
            return None


def kind_of(content: Content) -> Kind:
    match content:
        case SetValue():
            return kind_of_value(content.value)
        case ChangeTags():
            return Kind.STRING_SET
        case _:
            return Kind.FLOAT_SERIES


def kind_of_value(value: Value) -> Kind:
    match value:
        case bool():  # before int, of which it is a kind
            return Kind.BOOLEAN
        case int():
            return Kind.INTEGER
        case float():
            return Kind.FLOAT
        case str():
            return Kind.STRING
        case datetime():
            return Kind.DATETIME
        case _:
            return Kind.STRING_SET


def _agree(one: Kind, other: Kind) -> bool:
    return one == other or {one, other} == NUMBERS

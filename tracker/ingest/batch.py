"""A batch: what one body says, and which of it was refused (pure).

One bad message is refused and the others are kept; only a body that cannot be read
at all raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from tracker.errors import MalformedBatch, TooLarge
from tracker.ingest.frames import Frame, read_frames
from tracker.ingest.limits import LIMITS
from tracker.ingest.messages import (
    LATEST_TIME,
    AddPoints,
    Content,
    Open,
    Unacceptable,
    read_message,
)

# Steps are stored as floats; beyond this, neighbouring whole numbers look the same.
LARGEST_STEP = 2.0**53
# First bytes of MessagePack's arrays: four bits and a length; or the length's width.
FIXARRAY = 0x9
ARRAY_HEADERS = {0xDC: 2, 0xDD: 4}

Flags: TypeAlias = NDArray[np.bool_]
_payloads = msgspec.msgpack.Decoder(list[msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Message:
    """One message and its place in the spool."""

    frame: int
    index: int
    content: Content


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one message was not accepted; `code` is part of the protocol."""

    frame: int
    index: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive frames of one spool, from `first` to `last`; none is a heartbeat."""

    first: int
    last: int
    messages: tuple[Message, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    @property
    def is_heartbeat(self) -> bool:
        return self.last < self.first

    @property
    def opening(self) -> Open | None:
        if self.messages and isinstance(self.messages[0].content, Open):
            return self.messages[0].content
        return None


def read_batch(body: bytes) -> Batch:
    frames = list(read_frames(body))
    if not frames:
        return Batch(first=1, last=0)

    if sum(message_count(frame.payload) for frame in frames) > LIMITS.messages:
        raise TooLarge("The batch", f"{LIMITS.messages} messages")
    messages: list[Message] = []
    refusals: list[Refusal] = []
    for frame in frames:
        for judged in _read_payload(frame):
            if isinstance(judged, Message):
                messages.append(judged)
            else:
                refusals.append(judged)

    batch = Batch(frames[0].number, frames[-1].number, tuple(messages), tuple(refusals))
    return _without_bad_points(_checked_opening(batch))


def message_count(payload: memoryview) -> int:
    """Say how many messages a payload claims to hold, without reading them.

    Each costs memory however small it is, so the claim is judged first.
    """
    first = payload[0] if payload else 0
    if first >> 4 == FIXARRAY:
        return first & 0x0F
    width = ARRAY_HEADERS.get(first, 0)
    return int.from_bytes(payload[1 : 1 + width], "big")


def refuse(batch: Batch, messages: Sequence[Message], code: str, reason: str) -> Batch:
    """Return the batch without these messages, each listed as refused."""
    if not messages:
        return batch
    places = {(message.frame, message.index) for message in messages}
    return replace(
        batch,
        messages=tuple(
            message
            for message in batch.messages
            if (message.frame, message.index) not in places
        ),
        refusals=(
            *batch.refusals,
            *(Refusal(*place, code, reason) for place in sorted(places)),
        ),
    )


def _read_payload(frame: Frame) -> list[Message | Refusal]:
    try:
        raw_messages = _payloads.decode(frame.payload)
    except (msgspec.DecodeError, RecursionError):
        # The checksum was right, so sending the frame again would not mend it: it
        # is refused like a message, and its number counts as stored.
        reason = "The frame is not a MessagePack array of messages."
        return [Refusal(frame.number, 0, "invalid_message", reason)]
    return [
        _read_place(frame.number, index, raw) for index, raw in enumerate(raw_messages)
    ]


def _read_place(frame: int, index: int, raw: msgspec.Raw) -> Message | Refusal:
    try:
        return Message(frame, index, read_message(raw))
    except Unacceptable as error:
        return Refusal(frame, index, error.code, str(error))


def _checked_opening(batch: Batch) -> Batch:
    """Make sure that frame 1, and only it, holds one `open`."""
    if batch.first == 1 and (
        batch.opening is None
        or any(message.frame == 1 for message in batch.messages[1:])
        or any(refusal.frame == 1 for refusal in batch.refusals)
    ):
        reasons = [refusal.message for refusal in batch.refusals if refusal.frame == 1]
        why = f": {reasons[0]}" if reasons else "."
        raise MalformedBatch(f"Frame 1 does not hold one valid `open` message{why}")

    late: list[Message] = [
        message
        for message in batch.messages
        if isinstance(message.content, Open) and message.frame != 1
    ]
    return refuse(batch, late, "invalid_message", "`open` belongs in frame 1 only.")


def _without_bad_points(batch: Batch) -> Batch:
    """Drop points whose step or time cannot be stored, and say so."""
    added = [m.content for m in batch.messages if isinstance(m.content, AddPoints)]
    if sum(content.count for content in added) > LIMITS.points:
        raise TooLarge("The batch", f"{LIMITS.points} points")
    # One look at all columns together; only if something is wrong, one by one.
    if _storable(
        b"".join(content.steps for content in added),
        b"".join(content.times for content in added),
    ).all():
        return batch

    messages: list[Message] = []
    refusals = list(batch.refusals)
    for message in batch.messages:
        kept, refusal = _with_good_points(message)
        messages.append(kept)
        if refusal:
            refusals.append(refusal)
    return replace(batch, messages=tuple(messages), refusals=tuple(refusals))


def _with_good_points(message: Message) -> tuple[Message, Refusal | None]:
    content = message.content
    if not isinstance(content, AddPoints):
        return message, None
    good = _storable(content.steps, content.times)
    if good.all():
        return message, None

    columns = (
        np.frombuffer(column, "<u8")[good].tobytes()
        for column in (content.steps, content.times, content.values)
    )
    return replace(message, content=AddPoints(content.path, *columns)), Refusal(
        message.frame,
        message.index,
        "invalid_points",
        f"{int((~good).sum())} of {len(good)} points have a step that is not a number"
        " up to 2^53, or a time outside the years 1970 to 9999.",
    )


def _storable(steps: bytes, times: bytes) -> Flags:
    step, time = np.frombuffer(steps, "<f8"), np.frombuffer(times, "<i8")
    # A comparison with NaN is false, so NaN is not storable as a step.
    with np.errstate(invalid="ignore"):
        good = (np.abs(step) <= LARGEST_STEP) & (time >= 0) & (time <= LATEST_TIME)
    return np.asarray(good, dtype=np.bool_)

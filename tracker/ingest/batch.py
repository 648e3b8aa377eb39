"""A parsed batch with its rejected messages (pure).

One invalid message must not drop the batch; only an unreadable body raises.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from tracker.errors import MalformedBatch, TooLarge
from tracker.ingest.arrays import claimed_length
from tracker.ingest.frames import Frame, read_frames
from tracker.ingest.limits import LIMITS
from tracker.ingest.messages import (
    AddPoints,
    ChangeTags,
    Content,
    Open,
    Rewound,
    SetValue,
    path_of_refused,
    read_message,
)
from tracker.ingest.records import AddRecords, Reason
from tracker.ingest.refusal import Refusal, Unacceptable
from tracker.ingest.storable import storable

# The attribute that `tags` messages change.
TAGS = "tags"
# Maximum number of series named in a rejection of points.
PATHS_NAMED = 3

_payloads = msgspec.msgpack.Decoder(list[msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Message:
    """One message and its position in the spool."""

    frame: int
    index: int
    content: Content


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive frames of one spool, from `first` to `last`; an empty batch is a
    heartbeat.
    """

    first: int
    last: int
    messages: tuple[Message, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    # Checksums of the frames, in order.
    checksums: tuple[int, ...] = ()

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

    if sum(claimed_length(frame.payload) for frame in frames) > LIMITS.messages:
        raise TooLarge("The batch", f"{LIMITS.messages} messages")
    messages: list[Message] = []
    refusals: list[Refusal] = []
    rewinds = 0
    for frame in frames:
        rewinds += _read_payload(frame, messages, refusals)
        # Each takes a few bytes but a database row, so parsing stops here.
        if rewinds > LIMITS.rewinds:
            raise TooLarge("The batch", f"{LIMITS.rewinds} series logged again")

    batch = Batch(
        frames[0].number,
        frames[-1].number,
        tuple(messages),
        tuple(refusals),
        tuple(frame.checksum for frame in frames),
    )
    return _without_bad_points(_checked_opening(batch))


def refuse(batch: Batch, messages: Sequence[Message], code: str, reason: str) -> Batch:
    """Return the batch without these messages, each recorded as rejected."""
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


def refuse_paths(
    batch: Batch,
    judge: Callable[[str, Content], Reason | None],
    *,
    unseen: Container[tuple[str, ...]] = (),
) -> Batch:
    """Return the batch without the paths for which `judge` returns a reason.

    Other paths of the same message are kept. Lists of paths in `unseen` are not
    checked.
    """
    messages: list[Message] = []
    refusals: list[Refusal] = []
    for message in batch.messages:
        content = message.content
        if isinstance(content, AddPoints) and content.paths in unseen:
            messages.append(message)
            continue
        reasons = {path: judge(path, content) for path in paths_of(content)}
        bad = {path: reason for path, reason in reasons.items() if reason}
        refusals += [
            Refusal(message.frame, message.index, *reason, path)
            for path, reason in bad.items()
        ]
        kept = _without_paths(content, bad) if bad else content
        if kept is not None:
            messages.append(replace(message, content=kept) if bad else message)
    if not refusals:
        return batch
    return replace(
        batch, messages=tuple(messages), refusals=(*batch.refusals, *refusals)
    )


def paths_of(content: Content) -> tuple[str, ...]:
    """Return the attribute paths of a message."""
    match content:
        case AddPoints():
            return content.paths
        case SetValue() | AddRecords():
            return (content.path,)
        case ChangeTags():
            return (TAGS,)
        case _:
            return ()


def _without_paths(content: Content, bad: Container[str]) -> AddPoints | None:
    if not isinstance(content, AddPoints):
        return None  # it has one path only
    good = [row for row, path in enumerate(content.paths) if path not in bad]
    if not good:
        return None
    return AddPoints(
        tuple(content.paths[row] for row in good),
        content.steps,
        content.times,
        content.rows()[good].tobytes(),
    )


def _read_payload(
    frame: Frame, messages: list[Message], refusals: list[Refusal]
) -> int:
    """Append the frame's messages; return the number of series that they rewind."""
    rewinds = 0
    try:
        raw_messages = _payloads.decode(frame.payload)
    except (msgspec.DecodeError, RecursionError):
        # The checksum matched, so resending the frame would not help: it is rejected
        # like a message, and its number counts as stored.
        reason = "The frame is not a MessagePack array of messages."
        refusals.append(Refusal(frame.number, 0, "invalid_message", reason))
        return 0

    for index, raw in enumerate(raw_messages):
        place = frame.number, index
        try:
            content = read_message(raw)
        except Unacceptable as error:
            path = path_of_refused(raw)
            refusals.append(Refusal(*place, error.code, str(error), path))
            continue
        messages.append(Message(*place, content))
        if isinstance(content, Rewound):
            rewinds += len(content.steps)
        if isinstance(content, AddRecords):
            refusals += [Refusal(*place, *why, content.path) for why in content.reasons]
        if isinstance(content, AddPoints):
            refusals += [
                Refusal(*place, "invalid_path", bad.reason, bad.path)
                for bad in content.bad_paths
            ]
        # A few bytes can contain many bad paths, and each is stored.
        if len(refusals) > LIMITS.messages:
            raise TooLarge(
                "The batch's list of rejected messages", f"{LIMITS.messages} paths"
            )
    return rewinds


def _checked_opening(batch: Batch) -> Batch:
    """Check that frame 1, and no other, contains exactly one `open`."""
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
    """Drop and report points whose step or time cannot be stored."""
    added = [m.content for m in batch.messages if isinstance(m.content, AddPoints)]
    if sum(content.count for content in added) > LIMITS.points:
        raise TooLarge("The batch", f"{LIMITS.points} points")
    recorded = [m.content for m in batch.messages if isinstance(m.content, AddRecords)]
    if sum(len(content.records) for content in recorded) > LIMITS.records:
        raise TooLarge("The batch", f"{LIMITS.records} records")
    # Columns without points use memory, too.
    if sum(len(content.paths) for content in added) > LIMITS.points:
        raise TooLarge("The batch", f"{LIMITS.points} paths")
    # Check all columns together first; one by one only if that fails.
    if storable(
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
    good = storable(content.steps, content.times)
    if good.all():
        return message, None

    kept = AddPoints(
        content.paths,
        np.frombuffer(content.steps, "<u8")[good].tobytes(),
        np.frombuffer(content.times, "<u8")[good].tobytes(),
        content.rows()[:, good].tobytes(),
    )
    lost = int((~good).sum()) * len(content.paths)
    some = ", ".join(content.paths[:PATHS_NAMED])
    if (more := len(content.paths) - PATHS_NAMED) > 0:
        some += f" and {more} more"
    return replace(message, content=kept), Refusal(
        message.frame,
        message.index,
        "invalid_points",
        f"{lost} of {content.count} points of {some} have a step that is not a number"
        " up to 2^53, or a time outside the years 1970 to 9999.",
        content.paths[0] if len(content.paths) == 1 else "",
    )

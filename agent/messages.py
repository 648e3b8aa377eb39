"""Encodes the messages to the server; see docs/protocol.md.

Each function returns one encoded message. Columns are little-endian byte strings, so
that every bit of a float survives, NaN payloads included.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from seamark.recording.values import Value

# Fixed key order: golden files compare bytes.
_encode = msgspec.msgpack.Encoder(order="deterministic").encode
_decode = msgspec.msgpack.Decoder().decode


@dataclass(frozen=True)
class Origin:
    """The process and run that a spool belongs to."""

    project: str
    run: str
    stage: str
    rank: int
    host: str
    pid: int
    agent: str
    time: int  # microseconds since 1970, UTC
    # Whether another process of the run started it and records its exit.
    is_helper: bool = False
    # Whether it resumes a run that may have finished.
    is_resuming: bool = False
    # Process start if `time` is later, as for a spool that continues another.
    began_at: int = 0
    # The name or the id of the parent run; "" for none.
    parent: str = ""
    # The name or the id of the run that it continues, and from which step; "" for none.
    fork_from: str = ""
    fork_step: float = 0.0

    def stored(self) -> dict[str, Any]:
        """Return its fields as JSON; fields of later versions only if they are set."""
        later = {"is_helper", "is_resuming", "began_at", "parent"}
        later |= {"fork_from", "fork_step"}
        fields = asdict(self).items()
        return {name: value for name, value in fields if value or name not in later}


def open_spool(origin: Origin) -> bytes:
    """Encode the first message of a spool, which joins or creates the run."""
    message = {
        "t": "open",
        "project": origin.project,
        "run": origin.run,
        "stage": origin.stage,
        "rank": origin.rank,
        "host": origin.host,
        "pid": origin.pid,
        "agent": origin.agent,
        "time": origin.time,
    }
    if origin.is_helper:
        message["helper"] = True
    if origin.is_resuming:
        message["resume"] = True
    if origin.began_at:
        message["began"] = origin.began_at
    if origin.parent:
        message["parent"] = origin.parent
    if origin.fork_from:
        message["fork_from"] = origin.fork_from
        message["fork_step"] = origin.fork_step
    return _encode(message)


def points(
    paths: Sequence[str],
    steps: Sequence[float],
    times: Sequence[int],
    columns: Sequence[Sequence[float]],
) -> bytes:
    """Encode points of series logged together, with a column of values for each path."""
    count = len(steps)
    packed = [struct.pack(f"<{count}d", *column) for column in columns]
    return packed_points(paths, steps, times, packed)


def packed_points(
    paths: Sequence[str],
    steps: Sequence[float],
    times: Sequence[int],
    columns: Iterable[bytes],
) -> bytes:
    """Encode points whose columns are already little-endian doubles."""
    count = len(steps)
    return _encode(
        {
            "t": "points",
            "paths": paths,
            "steps": struct.pack(f"<{count}d", *steps),
            "times": struct.pack(f"<{count}q", *times),
            "values": b"".join(columns),
        }
    )


def records(
    kind: str,
    path: str,
    steps: Sequence[float],
    times: Sequence[int],
    values: Sequence[bytes],
) -> bytes:
    """Encode records of one series; the bytes of their values are concatenated."""
    count = len(steps)
    return _encode(
        {
            "t": "records",
            "kind": kind,
            "path": path,
            "steps": struct.pack(f"<{count}d", *steps),
            "times": struct.pack(f"<{count}q", *times),
            "sizes": struct.pack(f"<{count}I", *map(len, values)),
            "values": b"".join(values),
        }
    )


def set_value(path: str, value: Value, early: bool = False) -> bytes:
    """Encode an attribute's value; `early`: set before the process logged any points."""
    stored = sorted(value) if isinstance(value, frozenset) else value
    message: dict[str, object] = {"t": "set", "path": path, "value": stored}
    return _encode({**message, "early": True} if early else message)


def set_file(path: str, digest: str, size: int, media_type: str, name: str) -> bytes:
    """Encode an attribute that is a file; its content is uploaded separately."""
    return _encode(
        {
            "t": "file",
            "path": path,
            "digest": digest,
            "size": size,
            "type": media_type,
            "name": name,
        }
    )


def rewind(paths: Sequence[str], steps: Sequence[float], time: int) -> bytes:
    """Encode the steps from which series are logged again, replacing older points."""
    packed = struct.pack(f"<{len(steps)}d", *steps)
    return _encode({"t": "rewind", "paths": paths, "steps": packed, "time": time})


def change_tags(add: Iterable[str], remove: Iterable[str]) -> bytes:
    """Encode added and removed tags."""
    return _encode({"t": "tags", "add": sorted(add), "remove": sorted(remove)})


def drop(count: int) -> bytes:
    """Encode the number of points and records dropped since the last such message."""
    return _encode({"t": "drop", "points": count})


def close(*, failure: str | None, time: int, is_preempted: bool = False) -> bytes:
    """Encode the last message of a spool; without a failure, it finished.

    Preemption is a separate field, because older servers read only the state.
    """
    state = "finished" if failure is None else "failed"
    message = {"t": "close", "state": state, "failure": failure or "", "time": time}
    return _encode({**message, "preempted": True} if is_preempted else message)


def payload(messages: Sequence[bytes]) -> bytes:
    """Encode the payload of one frame: an array of encoded messages."""
    return _encode([msgspec.Raw(message) for message in messages])


def count_points(data: bytes) -> int:
    """Return the number of points and records in a payload, as far as it is readable."""
    found = _decoded(data)
    columns = [
        message.get("steps" if message.get("t") == "records" else "values", b"")
        for message in found
    ]
    return sum(len(c) // 8 for c in columns if isinstance(c, bytes))


def holds_close(data: bytes) -> bool:
    """Return whether a frame's payload contains the last message of its spool."""
    return any(message.get("t") == "close" for message in _decoded(data))


# Any: bytes from a file that may be damaged.
def _decoded(data: bytes) -> list[dict[str, Any]]:
    try:
        decoded = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    if not isinstance(decoded, list):
        return []
    return [message for message in decoded if isinstance(message, dict)]

"""Builds the golden frames from the description next to them.

Run `python -m tests.contract.build` only when a new version of the protocol
begins: released golden files never change.
"""

from __future__ import annotations

import json
import struct
from datetime import datetime
from pathlib import Path
from typing import Any

from seamark import messages
from seamark.queue.frames import Frame
from seamark.recording.values import Value

FOLDER = Path(__file__).parent
DESCRIPTION = FOLDER / "frames-v3.json"
FRAMES = FOLDER / "frames-v3.bin"
# Before records were added to the protocol.
SECOND_VERSION = FOLDER / "frames-v2.bin"
# First version: one message per series.
FIRST_VERSION = FOLDER / "frames-v1.bin"


def build(description: dict[str, Any]) -> bytes:
    """Return the bytes of the described frames."""
    return b"".join(
        Frame(
            frame["number"], messages.payload([_message(m) for m in frame["messages"]])
        ).to_bytes()
        for frame in description["frames"]
    )


def _message(described: dict[str, Any]) -> bytes:  # noqa: PLR0911 - one for a kind
    fields = dict(described)
    kind = fields.pop("t")
    if kind == "open":
        return messages.open_spool(messages.Origin(**fields))
    if kind == "points":
        return messages.points(
            fields["paths"],
            [_double(text) for text in fields["steps"]],
            fields["times"],
            [[_double(text) for text in column] for column in fields["columns"]],
        )
    if kind == "records":
        return _records(**fields)
    if kind == "set":
        return messages.set_value(fields["path"], _value(fields["value"]))
    if kind == "tags":
        return messages.change_tags(fields["add"], fields["remove"])
    if kind == "drop":
        return messages.drop(fields["points"])
    return messages.close(failure=fields["failure"] or None, time=fields["time"])


def _records(
    kind: str, path: str, steps: list[str], times: list[int], values: list[str]
) -> bytes:
    data = [text.encode() if kind == "text" else bytes.fromhex(text) for text in values]
    return messages.records(kind, path, [_double(text) for text in steps], times, data)


def _double(text: str) -> float:
    """Return a double from the hexadecimal digits of its big-endian bits."""
    number: float = struct.unpack(">d", bytes.fromhex(text))[0]
    return number


def _value(described: dict[str, Any]) -> Value:
    """Return a value from a map with one key, its type."""
    ((kind, value),) = described.items()
    if kind == "float":
        return _double(value)
    if kind == "datetime":
        return datetime.fromisoformat(value)
    if kind == "strings":
        return frozenset(value)
    plain: Value = value
    return plain


if __name__ == "__main__":
    FRAMES.write_bytes(build(json.loads(DESCRIPTION.read_text("utf-8"))))

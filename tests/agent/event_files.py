"""Writes event files as TensorBoard's writers do."""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

from seamark.importers.tensorboard import _masked_crc

Fields = dict[int, object]


def message(*fields: tuple[int, object]) -> bytes:
    """Encode a protocol buffer from (number, value) pairs."""
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: object) -> bytes:
    match value:
        case bool() | int():
            return _varint(number << 3) + _varint(value & (1 << 64) - 1)
        case float():
            return _varint(number << 3 | 1) + struct.pack("<d", value)
        case str():
            value = value.encode()
    assert isinstance(value, bytes)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def simple(number: int, value: float) -> bytes:
    """Encode a field of the type `float`."""
    return _varint(number << 3 | 5) + struct.pack("<f", value)


def doubles(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def event(step: int, *values: bytes, wall_time: float = 1_700_000_000.0) -> bytes:
    summary = message(*((1, value) for value in values))
    return message((1, wall_time), (2, step), (5, summary))


def scalar(tag: str, value: float) -> bytes:
    return message((1, tag)) + simple(2, value)


def tensor(tag: str, plugin: str | None, *fields: tuple[int, object]) -> bytes:
    """Encode a value that a plugin shows; None leaves the plugin out."""
    metadata = [] if plugin is None else [(9, message((1, message((1, plugin)))))]
    return message((1, tag), (8, message(*fields)), *metadata)


def hyperparameters(**values: float | str | bool) -> bytes:
    """Encode a session's start, as `add_hparams` of PyTorch writes it."""
    kinds = {str: 3, bool: 4}
    entries = [
        (1, message((1, name), (2, message((kinds.get(type(value), 2), value)))))
        for name, value in values.items()
    ]
    plugin = message((1, "hparams"), (2, message((3, message(*entries)))))
    return message((1, "_hparams_/session_start_info"), (9, message((1, plugin))))


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", _masked_crc(length)) + data + bytes(4)


def file_name(number: int = 0, process: int | None = None) -> str:
    """Return a name as TensorBoard's writers make them."""
    owner = os.getpid() if process is None else process
    return f"events.out.tfevents.{int(time.time())}.host.{owner}.{number}"


def append(path: Path, *events: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        for data in events:
            file.write(record(data))

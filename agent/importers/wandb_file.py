"""Reads W&B's binary run file, `run-<id>.wandb`, of offline and of synced runs (pure).

The file is a LevelDB log: blocks of 32 KiB with checksummed fragments of records. Each
record is a protocol buffer, of which only the fields below are read. The numbers are
those of W&B's `wandb_internal.proto`.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from seamark.importers.problems import Problems
from seamark.importers.protobuf import fields, signed

# Any: JSON of strangers, here and below.
Row = dict[str, Any]

_FILE_HEADER = b":W&B\xe1\xbe"
_HEADER_BYTES = 7
_BLOCK_BYTES = 32 * 1024
_FRAGMENT = struct.Struct("<IHB")  # CRC-32, length, type
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_MAX_RECORD_BYTES = 256 << 20
_MAX_KEY_PARTS = 8

_HISTORY, _SUMMARY, _CONFIG, _STATS, _RUN, _ENVIRONMENT = 2, 3, 5, 7, 17, 26
_ITEM, _STEP, _UPDATE, _REMOVE = 1, 2, 1, 2
_STATS_TIME, _STATS_ITEM = 2, 3
_KEY, _NESTED_KEY, _VALUE_JSON = 1, 2, 16
# Typed values of newer versions.
_BOOLEAN, _INTEGER, _NUMBER, _TEXT, _JSON = 4, 5, 6, 7, 8
_RUN_CONFIG, _RUN_SUMMARY, _RUN_TAG = 4, 5, 10
_RUN_TEXTS = {
    1: "run_id",
    3: "project",
    6: "group",
    7: "job_type",
    8: "name",
    9: "notes",
}
_EXIT, _EXIT_CODE = 18, 1
_KINDS = (_CONFIG, _SUMMARY, _RUN, _ENVIRONMENT, _EXIT)
_ENVIRONMENT_HOST, _CPU_COUNT, _CPU_COUNT_LOGICAL, _GPU_COUNT, _GPU_NVIDIA = (
    12,
    16,
    17,
    19,
    24,
)
_GPU_NAME, _GPU_MEMORY = 1, 2

NO_FILE = "it is not a W&B file"
DAMAGED = "part of the file is damaged and was skipped"


@dataclass
class Values:
    """The names, config, summary and machine; later records replace earlier ones."""

    config: Row = field(default_factory=dict)
    summary: Row = field(default_factory=dict)
    machine: Row = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    notes: str = ""
    run_id: str = ""
    name: str = ""
    project: str = ""
    group: str = ""
    job_type: str = ""
    # None if the file has no end.
    exit_code: int | None = None


def is_run_file(beginning: bytes) -> bool:
    """Return whether the first bytes are those of a W&B run file."""
    return beginning.startswith(_FILE_HEADER)


def read_stats(file: BinaryIO, problems: Problems) -> Iterator[Row]:
    """Yield the system metrics of each sample, with `_timestamp` in seconds."""
    for _, record in _records(file, problems, _STATS):
        row: Row = {}
        for number, value in fields(record):
            if number == _STATS_TIME and isinstance(value, bytes):
                row["_timestamp"] = _seconds(value)
            elif number == _STATS_ITEM and isinstance(value, bytes):
                _add_item(row, value)
        yield row


def read_rows(file: BinaryIO, problems: Problems) -> Iterator[Row]:
    """Yield the rows that the script logged, with `_step` and `_timestamp`."""
    for _, record in _records(file, problems, _HISTORY):
        row: Row = {}
        for number, value in fields(record):
            if number == _ITEM and isinstance(value, bytes):
                _add_item(row, value)
            elif number == _STEP and isinstance(value, bytes):
                row.setdefault("_step", signed(dict(fields(value)).get(1, 0)))
        yield row


def read_values(file: BinaryIO, problems: Problems) -> Values:
    """Return the names, the config, the summary and the machine."""
    values = Values()
    for kind, record in _records(file, problems, *_KINDS):
        if kind == _CONFIG:
            _update(values.config, record)
        elif kind == _SUMMARY:
            _update(values.summary, record)
        elif kind == _ENVIRONMENT:
            values.machine |= _machine(record)
        elif kind == _EXIT:
            values.exit_code = signed(dict(fields(record)).get(_EXIT_CODE, 0))
        else:
            _read_run(record, values)
    values.config.pop("_wandb", None)
    return values


def _read_run(record: bytes, values: Values) -> None:
    values.tags = []
    for number, value in fields(record):
        if not isinstance(value, bytes):
            continue
        if number == _RUN_CONFIG:
            _update(values.config, value)
        elif number == _RUN_SUMMARY:
            _update(values.summary, value)
        elif number in _RUN_TEXTS:
            setattr(values, _RUN_TEXTS[number], value.decode("utf-8", "replace"))
        elif number == _RUN_TAG:
            values.tags.append(value.decode("utf-8", "replace"))


def _records(
    file: BinaryIO, problems: Problems, *kinds: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the records of some kinds: the number of the kind, and its message."""
    for number, data in enumerate(_whole_records(file, problems), 1):
        try:
            found = [
                (kind, value)
                for kind, value in fields(data)
                if kind in kinds and isinstance(value, bytes)
            ]
            # Parse the fields here, so that a damaged record is reported once.
            for _, value in found:
                for _ in fields(value):
                    pass
        except ValueError:
            problems.add(DAMAGED, number)
            continue
        yield from found


def _whole_records(file: BinaryIO, problems: Problems) -> Iterator[bytes]:
    """Yield records, joined from their fragments; damaged ones are reported."""
    if not is_run_file(file.read(_HEADER_BYTES)):
        problems.add(NO_FILE, 1)
        return
    parts: list[bytes] = []
    for number, (kind, data) in enumerate(_fragments(file, problems), 1):
        if kind in (_FULL, _FIRST):
            parts = []
        elif not parts:
            # Its beginning was damaged.
            continue
        parts.append(data)
        if sum(map(len, parts)) > _MAX_RECORD_BYTES:
            problems.add("a record is too large", number)
            parts = []
        elif kind in (_FULL, _LAST):
            yield b"".join(parts)
            parts = []


def _fragments(file: BinaryIO, problems: Problems) -> Iterator[tuple[int, bytes]]:
    number = 0
    offset = _HEADER_BYTES
    while block := file.read(_BLOCK_BYTES - offset):
        place, offset = 0, 0
        while place + _FRAGMENT.size <= len(block):
            checksum, length, kind = _FRAGMENT.unpack_from(block, place)
            start = place + _FRAGMENT.size
            data = block[start : start + length]
            number += 1
            if kind == 0 and length == 0:
                break  # the padding at the end of a block
            if len(data) != length or not _FULL <= kind <= _LAST:
                # The end of a run that is still written, or a damaged block.
                problems.add(DAMAGED, number)
                break
            place = start + length
            if zlib.crc32(data, zlib.crc32(bytes([kind]))) == checksum:
                yield kind, data
            else:
                problems.add(DAMAGED, number)


def _add_item(target: Row, data: bytes) -> None:
    """Set the value of one item under its name, within objects if it has several."""
    names, value = _named_value(data)
    for name in names[:-1]:
        inner = target.get(name)
        if not isinstance(inner, dict):
            inner = target[name] = {}
        target = inner
    if names:
        target[names[-1]] = value


def _named_value(data: bytes) -> tuple[list[str], object]:
    key, nested = "", list[str]()
    value: object = None
    for number, content in fields(data):
        if isinstance(content, bytes) and number == _KEY:
            key = content.decode("utf-8", "replace")
        elif isinstance(content, bytes) and number == _NESTED_KEY:
            nested.append(content.decode("utf-8", "replace"))
        elif isinstance(content, bytes) and number in (_VALUE_JSON, _JSON):
            value = _json(content)
        elif isinstance(content, bytes) and number == _TEXT:
            value = content.decode("utf-8", "replace")
        elif number == _INTEGER:
            value = signed(content)
        elif number == _NUMBER:
            value = content
        elif number == _BOOLEAN:
            value = bool(content)
    return ([key] if key else nested[:_MAX_KEY_PARTS]), value


def _update(target: Row, data: bytes) -> None:
    """Apply the updates and removals of a config or a summary."""
    for number, value in fields(data):
        if isinstance(value, bytes) and number == _UPDATE:
            _add_item(target, value)
        elif isinstance(value, bytes) and number == _REMOVE:
            names, _ = _named_value(value)
            if len(names) == 1:
                target.pop(names[0], None)


def _machine(data: bytes) -> Row:
    """Return the fields of `wandb-metadata.json` that are read from it."""
    found: Row = {}
    gpus: list[Row] = []
    for number, value in fields(data):
        if number == _ENVIRONMENT_HOST and isinstance(value, bytes):
            found["host"] = value.decode("utf-8", "replace")
        elif number == _CPU_COUNT:
            found["cpu_count"] = value
        elif number == _CPU_COUNT_LOGICAL:
            found["cpu_count_logical"] = value
        elif number == _GPU_COUNT:
            found["gpu_count"] = value
        elif number == _GPU_NVIDIA and isinstance(value, bytes):
            parts = dict(fields(value))
            name = parts.get(_GPU_NAME)
            gpus.append(
                {
                    "name": name.decode("utf-8", "replace")
                    if isinstance(name, bytes)
                    else None,
                    "memory_total": parts.get(_GPU_MEMORY),
                }
            )
    return found | ({"gpu_nvidia": gpus} if gpus else {})


def _json(data: bytes) -> object:
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value


def _seconds(timestamp: bytes) -> float:
    parts = dict(fields(timestamp))
    seconds, nanoseconds = parts.get(1, 0), parts.get(2, 0)
    return signed(seconds) + signed(nanoseconds) / 1e9

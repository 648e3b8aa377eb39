"""Reads TensorBoard's event files: scalars, histograms, images, texts, hyperparameters
(pure).

A file is a sequence of records: length, checksum of the length, data, checksum of the
data. Each record is a protocol buffer; field numbers are those of TensorFlow's
`event.proto`, `summary.proto` and `tensor.proto`. Checksums of the data are not
verified: CRC-32C in Python takes longer than everything else.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, MutableMapping, Sequence
from typing import BinaryIO, NamedTuple

from seamark.importers.protobuf import fields, signed, varint

_HEADER = struct.Struct("<QI")
_CHECKSUM_BYTES = 4
_LENGTH_BYTES = 8

_WALL_TIME, _STEP, _SUMMARY = 1, 2, 5
_SUMMARY_VALUE = 1
_TAG, _SIMPLE_VALUE, _IMAGE, _HISTOGRAM, _TENSOR, _METADATA = 1, 2, 4, 5, 8, 9
_PLUGIN_DATA, _PLUGIN_NAME, _PLUGIN_CONTENT = 1, 1, 2
# The hyperparameters of `add_hparams`: a map of protocol buffers' Value.
_SESSION_START, _HPARAMS, _MAP_KEY, _MAP_VALUE = 3, 1, 1, 2
_NUMBER, _STRING, _BOOLEAN = 2, 3, 4
_ENCODED_IMAGE = 4
_MIN, _MAX, _BUCKET_LIMITS, _BUCKETS = 1, 2, 6, 7
_DTYPE, _CONTENT, _STRINGS = 1, 4, 8
# By type: the format of a number, and the field that holds numbers one by one.
_FLOATS = {1: ("f", 5), 2: ("d", 6)}
_INTEGERS = {3: ("i", 7), 9: ("q", 10)}
# A picture in TensorFlow 2 follows its width and height.
_BEFORE_PICTURES = 2
_TEXT_ENDING = "/text_summary"  # appended by PyTorch
_EDGES_AND_COUNT = 3
_MAX_BINS = 512


class Damaged(Exception):
    """The file continues with bytes that are not a record."""


class Bins(NamedTuple):
    """A histogram: ascending edges, one more than counts."""

    edges: list[float]
    counts: list[float]


class Picture(NamedTuple):
    """An encoded image: PNG, JPEG or GIF."""

    data: bytes


class Hyperparameters(NamedTuple):
    """The hyperparameters of a run, by name."""

    values: dict[str, float | str | bool]


Value = float | str | Bins | Picture | Hyperparameters


class Event(NamedTuple):
    """Values logged together, by tag."""

    step: int
    time: float  # seconds since 1970
    values: list[tuple[str, Value]]


def read_record(file: BinaryIO, max_bytes: int) -> tuple[bytes | None, int]:
    """Return the next record's data and its size in the file.

    The size is 0 if the record is not complete yet. The data is None if it exceeds
    `max_bytes`; the caller then continues after it. Raises Damaged.
    """
    header = file.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None, 0
    length, checksum = _HEADER.unpack(header)
    if _masked_crc(header[:_LENGTH_BYTES]) != checksum:
        raise Damaged
    size = _HEADER.size + length + _CHECKSUM_BYTES
    if length > max_bytes:
        return None, size
    data = file.read(length + _CHECKSUM_BYTES)
    if len(data) < length + _CHECKSUM_BYTES:
        return None, 0
    return data[:length], size


def read_event(data: bytes, plugins: MutableMapping[str, str]) -> Event:
    """Return the values of a record; raise ValueError if it is damaged.

    `plugins` remembers which plugin shows a tag: writers may name it only once.
    """
    step, time = 0, 0.0
    values: list[tuple[str, Value]] = []
    for number, content in fields(data):
        if number == _STEP:
            step = signed(content)
        elif number == _WALL_TIME and isinstance(content, float):
            time = content
        elif number == _SUMMARY and isinstance(content, bytes):
            for kind, value in fields(content):
                if kind == _SUMMARY_VALUE and isinstance(value, bytes):
                    values += _values(value, plugins)
    return Event(step, time, values)


def _values(
    data: bytes, plugins: MutableMapping[str, str]
) -> Iterator[tuple[str, Value]]:
    found = dict(fields(data))
    tag = _text(found.get(_TAG))
    plugin, content = _plugin(found.get(_METADATA))
    if plugin == "hparams":
        if given := _hyperparameters(content):
            yield "params", Hyperparameters(given)
        return
    simple = found.get(_SIMPLE_VALUE)
    if isinstance(simple, float):
        yield tag, simple
        return
    if isinstance(image := found.get(_IMAGE), bytes):
        picture = dict(fields(image)).get(_ENCODED_IMAGE)
        if isinstance(picture, bytes):
            yield tag, Picture(picture)
    elif isinstance(histogram := found.get(_HISTOGRAM), bytes):
        yield from _tagged(tag, _bins(_legacy_rows(histogram)))
    elif isinstance(tensor := found.get(_TENSOR), bytes):
        if plugin:
            plugins[tag] = plugin
        yield from _of_tensor(tag, tensor, plugins.get(tag, ""))


def _of_tensor(tag: str, tensor: bytes, plugin: str) -> Iterator[tuple[str, Value]]:
    if plugin == "scalars":
        yield from ((tag, number) for number in _numbers(tensor)[:1])
    elif plugin == "histograms":
        flat = _numbers(tensor)
        columns = (flat[place::_EDGES_AND_COUNT] for place in range(_EDGES_AND_COUNT))
        yield from _tagged(tag, _bins(list(zip(*columns, strict=False))))
    elif plugin == "images":
        for index, picture in enumerate(_strings(tensor)[_BEFORE_PICTURES:]):
            yield f"{tag}/{index}" if index else tag, Picture(picture)
    elif plugin == "text":
        texts = [part.decode("utf-8", "replace") for part in _strings(tensor)]
        yield tag.removesuffix(_TEXT_ENDING), "\n".join(texts)


def _tagged(tag: str, bins: Bins | None) -> Iterator[tuple[str, Value]]:
    if bins is not None:
        yield tag, bins


def _plugin(metadata: object) -> tuple[str, bytes]:
    """Return the name of the plugin that shows a tag, and the plugin's own data."""
    plugin = _parts(_parts(metadata).get(_PLUGIN_DATA))
    return _text(plugin.get(_PLUGIN_NAME)), _bytes(plugin.get(_PLUGIN_CONTENT))


def _hyperparameters(content: bytes) -> dict[str, float | str | bool]:
    """Return the hyperparameters of a session's start; none of other messages."""
    values: dict[str, float | str | bool] = {}
    for number, entry in fields(_bytes(_parts(content).get(_SESSION_START))):
        if number != _HPARAMS:
            continue
        named = _parts(entry)
        value = _parts(named.get(_MAP_VALUE))
        name = _text(named.get(_MAP_KEY))
        if isinstance(amount := value.get(_NUMBER), float):
            values[name] = amount
        elif _STRING in value:
            values[name] = _text(value[_STRING])
        elif _BOOLEAN in value:
            values[name] = bool(value[_BOOLEAN])
    return values


def _parts(message: object) -> dict[int, int | float | bytes]:
    return dict(fields(_bytes(message)))


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else b""


def _legacy_rows(data: bytes) -> list[tuple[float, ...]]:
    """Return (left edge, right edge, count) of each bucket of a HistogramProto."""
    found = dict(fields(data))
    low, high = (_doubles(found.get(number))[:1] or [0.0] for number in (_MIN, _MAX))
    limits, counts = _doubles(found.get(_BUCKET_LIMITS)), _doubles(found.get(_BUCKETS))

    # Outer buckets reach beyond the values: up to the largest double there is.
    def within(edge: float) -> float:
        return min(max(edge, *low), *high)

    rights = [within(limit) for limit in limits]
    return list(zip([*low, *rights], rights, counts, strict=False))


def _bins(rows: Sequence[Sequence[float]]) -> Bins | None:
    """Return the bins from the first to the last with values; None without values."""
    filled = [place for place, row in enumerate(rows) if row[2] > 0]
    if not filled:
        return None
    kept = rows[filled[0] : filled[-1] + 1]
    if kept[-1][1] <= kept[0][0]:
        middle = kept[0][0]
        room = max(0.5, abs(middle) * 1e-6)
        return Bins([middle - room, middle + room], [sum(row[2] for row in kept)])
    edges, counts, empty = [kept[0][0]], list[float](), 0.0
    for _, right, count in kept:
        if right > edges[-1]:
            edges.append(right)
            counts.append(count + empty)
            empty = 0.0
        else:
            # A bin without width.
            empty += count
    counts[-1] += empty
    while len(counts) > _MAX_BINS:
        counts = [sum(counts[place : place + 2]) for place in range(0, len(counts), 2)]
        edges = [*edges[:-1:2], edges[-1]]
    return Bins(edges, counts)


def _numbers(tensor: bytes) -> list[float]:
    """Return the numbers of a tensor; none of other types."""
    found = dict(fields(tensor))
    kind = found.get(_DTYPE)
    form, field = _FLOATS.get(signed(kind)) or _INTEGERS.get(signed(kind)) or ("", 0)
    content, listed = found.get(_CONTENT), found.get(field)
    if not form:
        return []
    if isinstance(content, bytes) and content:
        return _unpacked(form, content)
    if not isinstance(listed, bytes):
        return [] if listed is None else [float(listed)]
    if form in "fd":
        return _unpacked(form, listed)
    numbers, place = list[float](), 0
    while place < len(listed):
        number, place = varint(listed, place)
        numbers.append(float(signed(number)))
    return numbers


def _strings(tensor: bytes) -> list[bytes]:
    return [
        value
        for number, value in fields(tensor)
        if number == _STRINGS and isinstance(value, bytes)
    ]


def _doubles(packed: object) -> list[float]:
    if isinstance(packed, float):
        return [packed]
    return _unpacked("d", packed) if isinstance(packed, bytes) else []


def _unpacked(form: str, data: bytes) -> list[float]:
    count = len(data) // struct.calcsize(form)
    try:
        return [float(number) for number in struct.unpack(f"<{count}{form}", data)]
    except struct.error:
        raise ValueError("numbers end after their message") from None


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


_TABLE = _table()


def _masked_crc(data: bytes) -> int:
    """Return the CRC-32C, rotated and shifted as TFRecord files store it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF

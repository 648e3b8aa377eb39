"""Encodes and decodes chunks of records; format in docs/formats/records.md (pure)."""

from __future__ import annotations

import struct
import threading

import numpy as np
import zstandard

from tracker.records.record import Records
from tracker.series.codec import framed, seal, take_framed, unseal
from tracker.series.columns import (
    Damaged,
    Reader,
    decode_floats,
    decode_integers,
    decompress,
    encode_floats,
    encode_integers,
)

# Maximum size of a chunk. A record is found by reading its chunk, so chunks are as
# large as can be read quickly; larger ones would hardly compress better.
CHUNK_RECORDS = 16_384
CHUNK_BYTES = 1024 * 1024

MAGIC = b"SMR"
VERSION = 1
# Compression levels for chunks that are rewritten soon, and for final ones.
QUICK_LEVEL, DENSE_LEVEL = 3, 9

_HEAD = struct.Struct("<II")  # number of records, bytes of their values


class _Compressors(threading.local):
    """One per thread: they are expensive to create and not thread-safe."""

    def __init__(self) -> None:
        self.quick = zstandard.ZstdCompressor(level=QUICK_LEVEL)
        self.dense = zstandard.ZstdCompressor(level=DENSE_LEVEL)


_compressors = _Compressors()


def encode(records: Records, *, is_dense: bool = False) -> bytes:
    """Encode 1 to CHUNK_RECORDS records, in order."""
    compressor = _compressors.dense if is_dense else _compressors.quick
    columns = framed(
        [
            encode_floats(records.steps),
            encode_integers(records.times),
            encode_integers(records.sizes),
        ]
    )
    head = _HEAD.pack(len(records), len(records.values))
    return seal(MAGIC, VERSION, head, *columns, compressor.compress(records.values))


def decode(data: bytes | memoryview) -> Records:
    """Decode records; raise Damaged for any bytes that `encode` did not produce."""
    _, body = unseal(MAGIC, (VERSION,), data)
    reader = Reader(body)
    count, length = reader.unpack(_HEAD)
    if not 1 <= count <= CHUNK_RECORDS or length > CHUNK_BYTES:
        raise Damaged(f"{count} records of {length} bytes")
    steps = decode_floats(take_framed(reader), count)
    times = decode_integers(take_framed(reader), count)
    sizes = decode_integers(take_framed(reader), count)
    # Each size is bounded first, so that the sum cannot overflow.
    if sizes.min() < 0 or sizes.max() > length or int(np.sum(sizes)) != length:
        raise Damaged("the sizes do not match the values")
    return Records(steps, times, sizes, decompress(reader.rest(), length))

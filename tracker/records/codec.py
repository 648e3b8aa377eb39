"""Chunks of records to bytes and back; layout in docs/formats/records.md (pure)."""

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

# The most one chunk holds. What is looked for is found by reading one of them, so they
# are as large as can be read in a moment; larger ones would hardly be denser.
CHUNK_RECORDS = 16_384
CHUNK_BYTES = 1024 * 1024

MAGIC = b"SMR"
VERSION = 1
# Of what is soon rewritten, and of what is rewritten for the last time.
QUICK_LEVEL, DENSE_LEVEL = 3, 9

_HEAD = struct.Struct("<II")  # records, bytes of their values


class _Compressors(threading.local):
    """Each thread's own: they are dear to make and not to be shared."""

    def __init__(self) -> None:
        self.quick = zstandard.ZstdCompressor(level=QUICK_LEVEL)
        self.dense = zstandard.ZstdCompressor(level=DENSE_LEVEL)


_compressors = _Compressors()


def encode(records: Records, *, is_dense: bool = False) -> bytes:
    """Encode one to CHUNK_RECORDS records, in the order they have."""
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
    """Decode records; raise Damaged for any bytes that `encode` did not make."""
    _, body = unseal(MAGIC, (VERSION,), data)
    reader = Reader(body)
    count, length = reader.unpack(_HEAD)
    if not 1 <= count <= CHUNK_RECORDS or length > CHUNK_BYTES:
        raise Damaged(f"{count} records of {length} bytes")
    steps = decode_floats(take_framed(reader), count)
    times = decode_integers(take_framed(reader), count)
    sizes = decode_integers(take_framed(reader), count)
    # None of them alone is too large, so that their sum is none that wrapped around.
    if sizes.min() < 0 or sizes.max() > length or int(np.sum(sizes)) != length:
        raise Damaged("the sizes are not those of the values")
    return Records(steps, times, sizes, decompress(reader.rest(), length))

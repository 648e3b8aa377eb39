"""Every decoder of untrusted bytes, with the exceptions it may raise."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from mmap import mmap
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import zstandard

from seamark.queue.frames import Frame, read_frames
from seamark.queue.layouts import Layout
from seamark.queue.recovery import Left
from seamark.queue.ring import DEFINITIONS, OVERHANG_BYTES, ROWS, Ring, ring_bytes_with
from seamark.queue.spool import ACKNOWLEDGED_FILE, DESCRIPTION_FILE, SEGMENT_SUFFIX
from seamark.queue.spool_reader import SpoolReader, find_spools
from seamark.recording.media.histogram import Histogram
from tests.slow.fuzz.wrappings import FRAMES, GZIP, NOTHING, SEAL, Wrapping
from tests.tracker.records.examples import records
from tracker.api.bodies import SMALLEST_PIECE_BYTES, UNPACK, ZSTD_LARGEST_RATIO
from tracker.api.strict_json import read_json
from tracker.errors import InvalidInput, MalformedBatch, TooLarge
from tracker.ingest.batch import read_batch
from tracker.queries.run_query.parser import parse
from tracker.queries.run_query.refusal import BadQuery
from tracker.records import codec as records_codec
from tracker.records.histogram import NotAHistogram, read_histogram
from tracker.series import codec, journal
from tracker.series.columns import Damaged

TESTS = Path(__file__).parents[2]
MIB = 2**20
UNPACKED_BYTES = MIB
# Decompressed size of the smallest piece, doubled while it is appended.
LARGEST_PIECE = 2 * SMALLEST_PIECE_BYTES * ZSTD_LARGEST_RATIO
SPOOL_ID = str(UUID(int=7))
MAX_BYTES = 2**16
NOW = datetime(2026, 1, 31, tzinfo=UTC)


@dataclass(frozen=True)
class Decoder:
    """`cap_bytes` limits the memory for one input of at most MAX_BYTES."""

    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    refusals: tuple[type[Exception], ...] = (Damaged,)
    wrapping: Wrapping = SEAL
    cap_bytes: int = 4 * MIB


def golden(pattern: str) -> tuple[bytes, ...]:
    found = sorted(TESTS.glob(pattern))
    assert found, pattern
    return tuple(path.read_bytes() for path in found)


def spool(data: bytes) -> list[Frame]:
    """Read a segment as left by its process, and end the queue."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / SPOOL_ID
        home.mkdir()
        (home / f"{1:020}{SEGMENT_SUFFIX}").write_bytes(data)
        reader = SpoolReader(home)
        found = reader.frames_from(1, most_bytes=MIB)
        assert [frame.number for frame in found] == list(range(1, len(found) + 1))
        reader.pending_bytes()
        if found:
            reader.acknowledge(found[-1].number)
            reader.unreported_end_at()
        return found


def spool_notes(data: bytes) -> object:
    """Read the files next to the segments: the spool's description and progress."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / SPOOL_ID
        home.mkdir()
        for name in (DESCRIPTION_FILE, ACKNOWLEDGED_FILE):
            (home / name).write_bytes(data)
        (home / f"{1:020}{SEGMENT_SUFFIX}").write_bytes(Frame(2, b"\x90").to_bytes())
        (reader,) = find_spools(Path(folder))
        return reader.url, reader.run, reader.frames_from(1, most_bytes=MIB)


# Bytes of an input before the definitions and before the rows of a ring file.
RING_PARTS = (512, 2_048)


def ring(data: bytes) -> object:
    """Recover the rows of a ring buffer whose parts are packed in the input."""
    head, definitions = data[: RING_PARTS[0]], data[RING_PARTS[0] : RING_PARTS[1]]
    memory = b"".join(
        [
            head.ljust(DEFINITIONS, b"\0"),
            definitions.ljust(ROWS - DEFINITIONS, b"\0"),
            data[RING_PARTS[1] :],
            bytes(OVERHANG_BYTES),
        ]
    )
    found = [*Left(memory, last=1)]
    for row in found:
        assert len(row.values) == 8 * len(row.paths)
    return found


def some_ring() -> bytes:
    """A ring with two frames announced and a row behind them, as an input."""
    with mmap(-1, ring_bytes_with(2_048)) as memory:
        made = Ring(Path("ring"), memory)
        layouts = {number: Layout(number, ("a",) * number) for number in (1, 3)}
        for layout in layouts.values():
            layout.is_defined = made.define(layout)
        for frame, number in enumerate((1, 3), 1):
            made.write(layouts[number], 0, 1.0, [0.5] * number)
            _, high = made.read(layouts, most_bytes=2_048)
            made.announce(frame, high)
            made.release(high)
        made.write(layouts[1], 0, 2.0, [0.5])
        definitions = DEFINITIONS + RING_PARTS[1] - RING_PARTS[0]
        parts = memory[: RING_PARTS[0]], memory[DEFINITIONS:definitions]
        return b"".join([*parts, memory[ROWS : ROWS + 2_048]])


# Any: JSON values.
def origin_with(**fields: Any) -> dict[str, Any]:
    """A queue's description, except for these fields of its origin."""
    texts = dict.fromkeys(("project", "run", "stage", "host", "agent"), "x")
    numbers = dict.fromkeys(("rank", "pid", "time"), 0)
    return {"url": "http://localhost:1", "origin": {**texts, **numbers, **fields}}


def unpack(encoding: str, data: bytes) -> bytes:
    return UNPACK[encoding](data, UNPACKED_BYTES)


count = 300
steps = np.arange(count, dtype=np.float64)
times = np.arange(count, dtype=np.int64) ** 2
values = np.random.default_rng(0).normal(size=count)
ticks = (steps, times)
tick_columns = {name: steps.view(codec.dtype_of(name)) for name in codec.TICK_COLUMNS}
value_columns = {
    name: values.view(codec.dtype_of(name)) for name in codec.VALUE_COLUMNS
}


CHUNKS_OF_RECORDS = tuple(
    records_codec.encode(records([b"line %d" % n for n in range(lines)]))
    for lines in (1, 300)
)


def query(data: bytes) -> object:
    return parse(data.decode(errors="surrogateescape"), NOW)


QUERIES = (
    b'train/loss < 0.3 and tags contains "dali" or state = "failed"',
    b'not (min("a \\"b\\"") >= -1e-3 or x is nan) and exists y and note ~ "z"',
    b"started > -7d and duration < 1.5h and created != 2026-01-31T12:00Z",
)
DECODERS = {
    "batch": Decoder(
        read_batch,
        golden("contract/frames-v*.bin"),
        (MalformedBatch, TooLarge),
        FRAMES,
        cap_bytes=32 * MIB,
    ),
    "query": Decoder(query, QUERIES, (BadQuery,), NOTHING),
    "chunk": Decoder(
        partial(codec.decode, ticks=ticks),
        (*golden("tracker/series/golden/chunk-v*.bin"), codec.encode(values)),
    ),
    "ticks": Decoder(
        codec.decode_ticks,
        (
            *golden("tracker/series/golden/ticks-v*.bin"),
            codec.encode_ticks(steps, times),
        ),
    ),
    "overview": Decoder(
        partial(codec.decode_overview, ticks=tick_columns),
        (
            *golden("tracker/series/golden/overview-v*.bin"),
            codec.encode_overview(value_columns, values),
        ),
    ),
    "ticks overview": Decoder(
        codec.decode_ticks_overview,
        (
            *golden("tracker/series/golden/ticks-overview-v*.bin"),
            codec.encode_ticks_overview(tick_columns),
        ),
    ),
    "journal": Decoder(
        journal.decode,
        golden("tracker/series/golden/journal-v*.bin"),
        # The first version's columns may be a million numbers of a few bytes.
        cap_bytes=96 * MIB,
    ),
    "chunk of records": Decoder(records_codec.decode, CHUNKS_OF_RECORDS),
    "histogram": Decoder(
        read_histogram,
        (
            Histogram([0.0, 1.0, 5.0, float("nan")], bins=7).encoded(),
            Histogram(edges=[0, 1, 10], counts=[3, 0.5]).encoded(),
        ),
        (NotAHistogram,),
        NOTHING,
    ),
    "frames of a file": Decoder(
        lambda data: list(read_frames(data)),
        golden("contract/frames-v*.bin"),
        (),
        FRAMES,
    ),
    "spool": Decoder(spool, golden("contract/frames-v*.bin"), (), FRAMES),
    "ring": Decoder(ring, (some_ring(),), (), NOTHING),
    "spool's notes": Decoder(
        spool_notes,
        (
            json.dumps(origin_with()).encode(),
            b"00000000000000000001",
            # Valid in JSON but not in MessagePack.
            json.dumps(origin_with(run="\ud800")).encode(),
            json.dumps(origin_with(pid=2**70)).encode(),
            json.dumps(origin_with(time=[], project={})).encode(),
            b"[" * 100_000,
            b"9" * 5_000,
        ),
        (),
        NOTHING,
    ),
    "zstd body": Decoder(
        partial(unpack, "zstd"),
        (zstandard.compress(b"content" * 99), zstandard.compress(bytes(2 * MIB))),
        (MalformedBatch, TooLarge),
        NOTHING,
        cap_bytes=2 * UNPACKED_BYTES + LARGEST_PIECE,
    ),
    "gzip body": Decoder(
        partial(unpack, "gzip"),
        (gzip.compress(b"content" * 99), gzip.compress(bytes(2 * MIB))),
        (MalformedBatch, TooLarge),
        GZIP,
        cap_bytes=2 * UNPACKED_BYTES + LARGEST_PIECE,
    ),
    "JSON body": Decoder(
        read_json,
        (b'{"name": "climb", "rungs": [{"run": "a", "note": "\\u00e9 1e5"}, -1.5e3]}',),
        (InvalidInput,),
        NOTHING,
    ),
}

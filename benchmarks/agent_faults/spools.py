"""CF-02: spools are cut, zeroed, changed and mixed up; intact records are read."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from benchmarks.agent_faults.case import Bound, Found, Size, none_of
from benchmarks.faults.case import SEED
from seamark import messages
from seamark.queue import spool
from seamark.queue.frames import HEADER_BYTES, Frame, read_frames
from seamark.queue.spool_reader import SpoolReader

TAIL_BYTES, PAGE_BYTES = 64 * 1024, 4096
LONGEST_FRAME_POINTS = 24
FLIPS = 100  # single bits per spool
# Cuts at each byte are read from this many records before; at every 997th the whole
# spool is opened again, as by another process.
FRAMES_BEFORE, OPENED_EVERY = 4, 997
SEGMENT_BYTES = 32 * 1024
EVERYTHING = 2**30
EMPTY_PAYLOAD = b"\x90"
ORIGIN = messages.Origin(
    project="p", run="r", stage="s", rank=0, host="h", pid=1, agent="0", time=0
)


@dataclass(slots=True)
class Read:
    """Results of reading damaged spools, summed over all damages of one kind."""

    damages: int = 0
    raised: int = 0
    intact: int = 0  # frames that no damage touched
    recovered: int = 0  # of the intact ones
    altered: int = 0  # with another payload than written
    most_lost: int = 0  # frames by one damage

    def add(self, written: dict[int, bytes], touched: set[int], found: object) -> None:
        """Compare the records read with those written; `found` may be an exception."""
        self.damages += 1
        self.intact += len(written) - len(touched)
        if not isinstance(found, dict):
            self.raised += 1
            return
        right = {n for n, payload in found.items() if written.get(n) == payload}
        self.recovered += len(right - touched)
        # In place of a lost one stands an empty one.
        self.altered += sum(
            n not in right and payload != EMPTY_PAYLOAD for n, payload in found.items()
        )
        self.most_lost = max(self.most_lost, len(written) - len(right))


def damaged(size: Size) -> list[Found]:
    """Damage so many spools in each way, and read them."""
    chance = random.Random(SEED)
    reads = {
        f"cut at each byte of the last {TAIL_BYTES // 1024} KiB": Read(),
        f"a page of {PAGE_BYTES // 1024} KiB is zeroed, each of the tail": Read(),
        f"a bit is flipped, {FLIPS} of each": Read(),
        "two segments have each other's names": Read(),
    }
    cut, zeroed, flipped, swapped = reads.values()
    for number in range(size.amount):
        folder = size.folder / f"spools{number}"
        one = _written(folder, chance, segment_bytes=spool.SEGMENT_BYTES)
        _cut(one, cut)
        _zero(one, zeroed)
        _flip(one, flipped, chance)
        several = _written(folder, chance, segment_bytes=SEGMENT_BYTES)
        _swap(several, swapped, chance)
    return [
        _found(f"{words}; {size.amount} spools", read) for words, read in reads.items()
    ]


def _found(done: str, read: Read) -> Found:
    share = 100 * read.recovered / read.intact
    bounds = [
        none_of("raised", read.raised),
        none_of("altered frames", read.altered),
        Bound("intact frames recovered = 100 %", read.recovered == read.intact),
    ]
    if "bit" in done:
        bounds.append(Bound("lost by one bit ≤ 1 frame", read.most_lost <= 1))
    figures = [
        f"{read.damages:,} times; of {read.intact:,} intact frames {share:g} % recovered",
        f"at most {read.most_lost:,} lost by one damage",
    ]
    return Found(done, figures, bounds)


def _written(folder: Path, chance: random.Random, *, segment_bytes: int) -> Path:
    """Write a spool a little longer than its tail; return its folder."""
    with patch.object(spool, "SEGMENT_BYTES", segment_bytes):
        opened = spool.create_spool(folder / uuid.uuid4().hex, ORIGIN, url=None)
        size = 0
        while size < TAIL_BYTES + PAGE_BYTES:
            count = chance.randint(1, LONGEST_FRAME_POINTS)
            column = [chance.random() for _ in range(count)]
            moments = [chance.getrandbits(40) for _ in range(count)]
            payload = messages.payload(
                [messages.points(["train/loss"], column, moments, [column])]
            )
            opened.write(payload)
            size += HEADER_BYTES + len(payload)
        opened.close()
    return opened.folder


def _segments(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{spool.SEGMENT_SUFFIX}"))


def _payloads(frames: Sequence[Frame]) -> dict[int, bytes]:
    return {frame.number: frame.payload for frame in frames}


def _read(folder: Path) -> object:
    """Read all of a spool as another process would; return an exception if raised."""
    try:
        return _payloads(SpoolReader(folder).frames_from(1, most_bytes=EVERYTHING))
    except Exception as error:  # noqa: BLE001 - that it raised is what is counted
        return error


def _read_bytes(data: bytes) -> object:
    try:
        return _payloads(list(read_frames(data)))
    except Exception as error:  # noqa: BLE001 - likewise
        return error


def _cut(folder: Path, read: Read) -> None:
    (segment,) = _segments(folder)
    data = segment.read_bytes()
    frames = list(read_frames(data))
    starts = [frame.end - HEADER_BYTES - len(frame.payload) for frame in frames]
    whole = len(frames)
    for length in range(len(data), len(data) - TAIL_BYTES - 1, -1):
        while whole and frames[whole - 1].end > length:
            whole -= 1
        first = max(0, whole - FRAMES_BEFORE)
        # Reading goes forward, so a cut does not affect earlier records.
        found = _read_bytes(data[starts[first] : length])
        read.add(_payloads(frames[first:whole]), set(), found)
        if length % OPENED_EVERY == 0:
            segment.write_bytes(data[:length])
            read.add(_payloads(frames[:whole]), set(), _read(folder))
    segment.write_bytes(data)


def _zero(folder: Path, read: Read) -> None:
    (segment,) = _segments(folder)
    data = segment.read_bytes()
    for start in range(len(data) - TAIL_BYTES, len(data), PAGE_BYTES):
        end = min(len(data), start + PAGE_BYTES)
        _change(folder, read, data, start, bytes(end - start))
    segment.write_bytes(data)


def _flip(folder: Path, read: Read, chance: random.Random) -> None:
    (segment,) = _segments(folder)
    data = segment.read_bytes()
    for place in chance.sample(range(len(data)), FLIPS):
        _change(folder, read, data, place, bytes([data[place] ^ 1 << place % 8]))
    segment.write_bytes(data)


def _change(folder: Path, read: Read, data: bytes, start: int, instead: bytes) -> None:
    (segment,) = _segments(folder)
    end = start + len(instead)
    segment.write_bytes(data[:start] + instead + data[end:])
    read.add(
        _payloads(list(read_frames(data))), _touched(data, start, end), _read(folder)
    )


def _touched(data: bytes, start: int, end: int) -> set[int]:
    def beginning(frame: Frame) -> int:
        return frame.end - HEADER_BYTES - len(frame.payload)

    return {f.number for f in read_frames(data) if f.end > start and beginning(f) < end}


def _swap(folder: Path, read: Read, chance: random.Random) -> None:
    written = _read(folder)
    assert isinstance(written, dict)
    for one, other in _pairs(_segments(folder), chance):
        mine, its = one.read_bytes(), other.read_bytes()
        one.write_bytes(its)
        other.write_bytes(mine)
        read.add(written, set(), _read(folder))
        one.write_bytes(mine)
        other.write_bytes(its)


def _pairs(
    segments: Sequence[Path], chance: random.Random
) -> Iterator[tuple[Path, Path]]:
    """Two neighbors, and two by chance."""
    yield segments[0], segments[1]
    one, other = chance.sample(list(segments), 2)
    yield one, other

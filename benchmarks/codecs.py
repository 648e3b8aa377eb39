"""Compares compressors on columns of points with the encoding that Seamark uses.

    .venv/bin/pip install -r benchmarks/requirements-codecs.txt
    .venv/bin/python -m benchmarks.codecs

Prints Markdown tables; a library that is not installed has a row with a note. Each
compressor gets the numbers as its documentation recommends, narrowed like ours: losses
as 32-bit floats. "Shuffle" groups bytes of equal significance.
"""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from tracker.series import columns
from tracker.series.codec import CHUNK_POINTS

START = 1_767_225_600_000_000
SECONDS_OF_A_FIGURE = 0.2
# Size of a logged number before compression.
LOGGED_BYTES = 8

# Any: numbers of any width.
Numbers = NDArray[Any]
Pack, Unpack = Callable[[Numbers], bytes], Callable[[bytes], Numbers]


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    logged: Numbers
    # As a library is given it, if that is another way.
    narrowed: Numbers


@dataclass(frozen=True, slots=True)
class Coder:
    """How a column becomes bytes and comes back; `make` sees the column first."""

    name: str
    package: str
    make: Callable[[Numbers], tuple[Pack, Unpack]]


def some_columns(count: int) -> Iterator[Column]:
    chance = np.random.default_rng(0)
    loss = np.exp(-np.arange(count) / 3_000) + chance.normal(0, 0.05, count)
    narrow = loss.astype(np.float32)
    yield Column("losses, float32", narrow.astype(np.float64), narrow)
    constant = np.full(count, 3e-4)
    yield Column("constants", constant, constant)
    tenths = np.clip(chance.normal(70, 8, count), 0, 100).round(1)
    yield Column("hardware, tenths", tenths, tenths)
    as_integers = np.rint(tenths * 10).astype(np.int64)
    yield Column("hardware, tenths as integers", tenths, as_integers)
    steps = np.arange(float(count))
    yield Column("steps", steps, steps)
    spent = chance.normal(50_000, 2_000, count).astype(np.int64)
    times = START + np.cumsum(spent)
    yield Column("times, each 50 ms ± 2 ms", times, times)
    yield Column("times, as differences", times, np.diff(times, prepend=times[0]))


def ours(numbers: Numbers) -> tuple[Pack, Unpack]:
    count = len(numbers)
    if numbers.dtype.kind == "f":
        return columns.encode_floats, lambda data: columns.decode_floats(
            memoryview(data), count
        )
    return columns.encode_integers, lambda data: columns.decode_integers(
        memoryview(data), count
    )


def shuffled(
    compress: Callable[[bytes], bytes], decompress: Callable[[bytes], bytes]
) -> Callable[[Numbers], tuple[Pack, Unpack]]:
    def make(numbers: Numbers) -> tuple[Pack, Unpack]:
        width, dtype = numbers.itemsize, numbers.dtype

        def pack(some: Numbers) -> bytes:
            planes = np.ascontiguousarray(some.view(np.uint8).reshape(-1, width).T)
            return compress(planes.tobytes())

        def unpack(data: bytes) -> Numbers:
            planes = np.frombuffer(decompress(data), np.uint8).reshape(width, -1)
            return np.ascontiguousarray(planes.T).view(dtype)[:, 0]

        return pack, unpack

    return make


def as_it_is(
    compress: Callable[[bytes], bytes], decompress: Callable[[bytes], bytes]
) -> Callable[[Numbers], tuple[Pack, Unpack]]:
    def make(numbers: Numbers) -> tuple[Pack, Unpack]:
        dtype = numbers.dtype
        return (
            lambda some: compress(some.tobytes()),
            lambda data: np.frombuffer(decompress(data), dtype),
        )

    return make


def zstd(level: int) -> tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]:
    packer = zstandard.ZstdCompressor(level=level)
    return packer.compress, zstandard.ZstdDecompressor().decompress


def of_lz4(numbers: Numbers) -> tuple[Pack, Unpack]:
    frame = import_module("lz4.frame")
    return shuffled(frame.compress, frame.decompress)(numbers)


def of_blosc2(filter_name: str) -> Callable[[Numbers], tuple[Pack, Unpack]]:
    def make(numbers: Numbers) -> tuple[Pack, Unpack]:
        blosc2 = import_module("blosc2")
        chosen, dtype = getattr(blosc2.Filter, filter_name), numbers.dtype

        def pack(some: Numbers) -> bytes:
            packed: bytes = blosc2.compress2(
                some,
                typesize=some.itemsize,
                codec=blosc2.Codec.ZSTD,
                clevel=3,
                nthreads=1,
                filters=[chosen],
            )
            return packed

        return pack, lambda data: np.frombuffer(
            blosc2.decompress2(data, nthreads=1), dtype
        )

    return make


def of_pcodec(level: int) -> Callable[[Numbers], tuple[Pack, Unpack]]:
    def make(_numbers: Numbers) -> tuple[Pack, Unpack]:
        pcodec = import_module("pcodec")
        standalone = pcodec.standalone
        configuration = pcodec.ChunkConfig(compression_level=level)

        def pack(some: Numbers) -> bytes:
            packed: bytes = standalone.simple_compress(some, configuration)
            return packed

        return pack, standalone.simple_decompress

    return make


CODERS = (
    Coder("ours", "", ours),
    Coder("zstd 3, as it is", "zstandard", as_it_is(*zstd(3))),
    *(
        Coder(f"shuffle, zstd {level}", "zstandard", shuffled(*zstd(level)))
        for level in (1, 3, 9, 19)
    ),
    Coder("shuffle, zlib 6", "", shuffled(zlib.compress, zlib.decompress)),
    Coder("shuffle, lz4", "lz4", of_lz4),
    Coder("blosc2, shuffle, zstd 3", "blosc2", of_blosc2("SHUFFLE")),
    Coder("blosc2, bitshuffle, zstd 3", "blosc2", of_blosc2("BITSHUFFLE")),
    Coder("pcodec 4", "pcodec", of_pcodec(4)),
    Coder("pcodec 8", "pcodec", of_pcodec(8)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", type=int, default=CHUNK_POINTS)
    count = parser.parse_args().points
    print(f"{count:,} points, one thread, Python {sys.version.split()[0]}")
    print(", ".join(releases()))
    for column in some_columns(count):
        print(f"\n## {column.name}\n")
        print("| coder | bytes/point | encode MB/s | decode MB/s |")
        print("|---|---|---|---|")
        for coder in CODERS:
            print(f"| {coder.name} | {' | '.join(figures(coder, column))} |")


def releases() -> Iterator[str]:
    for package in dict.fromkeys(coder.package for coder in CODERS):
        if package:
            try:
                yield f"{package} {metadata.version(package)}"
            except metadata.PackageNotFoundError:
                yield f"{package} not installed"


def figures(coder: Coder, column: Column) -> tuple[str, ...]:
    """Return bytes per point and the speed in each direction, or the error."""
    numbers = column.logged if coder.make is ours else column.narrowed
    try:
        pack, unpack = coder.make(numbers)
    except ImportError:
        return ("not installed", "", "")
    data = pack(numbers)
    if unpack(data).tobytes() != numbers.tobytes():
        return ("does not come back", "", "")
    size = f"{len(data) / len(numbers):.3f}"
    megabytes = LOGGED_BYTES * len(numbers) / 1e6
    paces = (
        megabytes / best(work) for work in (lambda: pack(numbers), lambda: unpack(data))
    )
    return (size, *(f"{pace:,.0f}" for pace in paces))


def best(work: Callable[[], object]) -> float:
    """Return the seconds of the quickest of many times."""
    until = time.perf_counter() + SECONDS_OF_A_FIGURE
    quickest = float("inf")
    while time.perf_counter() < until:
        began = time.perf_counter()
        work()
        quickest = min(quickest, time.perf_counter() - began)
    return quickest


if __name__ == "__main__":
    main()

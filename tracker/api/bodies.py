"""Reads request bodies in pieces, with limits on sent and decompressed bytes."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Generator, Hashable
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Protocol

import zstandard
from django.http import HttpRequest, UnreadablePostError

from tracker.errors import LengthRequired, MalformedBatch, TooLarge, UnsupportedMedia
from tracker.server.body_reader import Arrivals
from tracker.server.body_timeouts import Places
from tracker.server.processes import SLOW_BATCHES_AT_ONCE, UPLOADS_AT_ONCE

FILE_READ_BYTES = 256 * 1024
LENGTH_DIGITS = 18
# Together with form readers (web/bodies.py) fewer than the server's threads, and fewer
# still per token; slow bodies use additional threads.
READERS, READERS_OF_A_TOKEN = 4, 3
WAIT_SECONDS = 2.0
# A larger window would only use memory.
ZSTD_WINDOW_BYTES = 8 * 1024 * 1024
# zstd produces at most one block of 128 KiB from its smallest input of four bytes.
ZSTD_LARGEST_RATIO = 128 * 1024 // 4
# deflate needs at least two bits for 258 bytes.
GZIP_LARGEST_RATIO = 258 * 4
SMALLEST_PIECE_BYTES = 128
LARGEST_PIECE_BYTES = 4096
GZIP_FORMAT = 16 + zlib.MAX_WBITS


_batches = Arrivals(
    Places(READERS, READERS_OF_A_TOKEN),
    Places(SLOW_BATCHES_AT_ONCE, SLOW_BATCHES_AT_ONCE // 2),
    wait_seconds=WAIT_SECONDS,
)
# Files have their own threads, so that points need not wait for them.
_files = Arrivals(
    Places(UPLOADS_AT_ONCE, UPLOADS_AT_ONCE - 1),
    Places(UPLOADS_AT_ONCE, UPLOADS_AT_ONCE),
    wait_seconds=WAIT_SECONDS,
)


class _Decompressors(threading.local):
    """One per thread: they are expensive to create and not thread-safe."""

    def __init__(self) -> None:
        self.zstd = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES)


_decompressors = _Decompressors()


class Unpacker(Protocol):
    """A zlib or zstandard decompressor of one member or frame."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: memoryview, /) -> bytes: ...


def read_body(
    request: HttpRequest,
    *,
    sender: Hashable,
    sent_bytes: int,
    unpacked_bytes: int,
    aside: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> bytes:
    """Return the decompressed body; the caller holds `aside` while it is slow."""
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower()
    if encoding not in UNPACK:
        raise UnsupportedMedia("Content-Encoding", "zstd, gzip or absent")
    length = _declared_length(request)
    if length > sent_bytes:
        raise TooLarge("The body", f"{sent_bytes} bytes")
    if not length:
        return b""
    try:
        body = _batches.read(request, length, sender, aside=aside)
    except (OSError, UnreadablePostError) as error:
        raise MalformedBatch("The body ended before its declared length.") from error
    if len(body) != length:
        raise MalformedBatch("The body is not as long as was declared.")
    return UNPACK[encoding](bytes(body), unpacked_bytes)


def declared_length(request: HttpRequest) -> int:
    """Return the declared body length; raise LengthRequired without one."""
    return _declared_length(request)


def body_pieces(
    request: HttpRequest, length: int, *, sender: Hashable
) -> Generator[bytes]:
    """Yield exactly `length` bytes of the body in pieces, or raise.

    Callers must close it explicitly: releasing a slot takes a lock, which is unsafe in
    garbage collection.
    """
    received = 0
    arriving = _files.pieces(request, length, sender, piece_bytes=FILE_READ_BYTES)
    try:
        with closing(arriving) as pieces:
            for piece in pieces:
                received += len(piece)
                yield piece
    except (OSError, UnreadablePostError) as error:
        raise MalformedBatch("The body ended before its declared length.") from error
    if received != length:
        raise MalformedBatch("The body is not as long as was declared.")


def _declared_length(request: HttpRequest) -> int:
    declared = request.META.get("CONTENT_LENGTH") or ""
    protocol = request.META.get("SERVER_PROTOCOL", "")
    is_chunked = "HTTP_TRANSFER_ENCODING" in request.META
    if not declared and protocol.startswith("HTTP/1") and not is_chunked:
        return 0  # in HTTP/1, such a request has no body
    # Django would present any other body without a length as empty, like a heartbeat.
    if is_chunked or not declared.isascii() or not declared.isdigit():
        raise LengthRequired
    # Python rejects integers of thousands of digits; no body is that long.
    return int(declared[:LENGTH_DIGITS])


def _plain(body: bytes, limit: int) -> bytes:
    if len(body) > limit:
        raise TooLarge("The body", f"{limit} bytes")
    return body


def _unpack_zstd(body: bytes, limit: int) -> bytes:
    try:
        # With a declared content size, decompress at once into a buffer of that size.
        if 0 < zstandard.frame_content_size(body) <= limit:
            return _decompressors.zstd.decompress(body, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise MalformedBatch("The body is not zstd, or is damaged.") from error

    frame = zstandard.ZstdDecompressor(
        max_window_size=ZSTD_WINDOW_BYTES
    ).decompressobj()
    try:
        return _unpack(frame, ZSTD_LARGEST_RATIO, "zstd frame", body, limit)
    except zstandard.ZstdError as error:
        raise MalformedBatch("The body is not zstd, or is damaged.") from error


def _unpack_gzip(body: bytes, limit: int) -> bytes:
    member = zlib.decompressobj(GZIP_FORMAT)
    try:
        return _unpack(member, GZIP_LARGEST_RATIO, "gzip member", body, limit)
    except zlib.error as error:
        raise MalformedBatch("The body is not gzip, or is damaged.") from error


def _unpack(
    unpacker: Unpacker, largest_ratio: int, unit: str, body: bytes, limit: int
) -> bytes:
    unpacked = bytearray()
    view = memoryview(body)
    while view and not unpacker.eof:
        # Pieces so small that one cannot exceed the limit by much. Decompressing all at
        # once needs twice the memory, which each thread then keeps.
        left = limit - len(unpacked)
        size = min(
            max(left // largest_ratio, SMALLEST_PIECE_BYTES), LARGEST_PIECE_BYTES
        )
        unpacked += unpacker.decompress(view[:size])
        view = view[size:]
        if len(unpacked) > limit:
            raise TooLarge("The unpacked body", f"{limit} bytes")
    if view or unpacker.unused_data or not unpacker.eof:
        raise MalformedBatch(f"The body is not exactly one whole {unit}.")
    return bytes(unpacked)


UNPACK = {"identity": _plain, "zstd": _unpack_zstd, "gzip": _unpack_gzip}

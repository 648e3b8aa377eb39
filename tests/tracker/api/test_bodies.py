import gzip
import io
import struct
import time
import tracemalloc
import zlib

import pytest
import zstandard
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from tracker.api.bodies import read_body
from tracker.errors import (
    LengthRequired,
    MalformedBatch,
    TooLarge,
    TrackerError,
    UnsupportedMedia,
)
from tracker.server.body_timeouts import SMALLEST_PIECE_BYTES

MIB = 1024 * 1024
SENT, UNPACKED = 16 * MIB, 20 * MIB
zstd = zstandard.ZstdCompressor().compress


def request_with(body, *, encoding=None, length=None, **headers):
    if encoding:
        headers["content-encoding"] = encoding
    request = RequestFactory().generic("POST", "/", b"", headers=headers)
    stream = io.BytesIO(body)
    request.environ["wsgi.input"] = stream
    request.META["CONTENT_LENGTH"] = str(len(body)) if length is None else length
    request._stream = stream
    return request


def read(body, **options):
    return read_whole(request_with(body, **options))


def read_whole(request):
    return read_body(request, sender="token", sent_bytes=SENT, unpacked_bytes=UNPACKED)


def zstd_bomb(size):
    writer = zstandard.ZstdCompressor(level=19).compressobj()
    zeros = bytes(MIB)
    return b"".join(
        [*(writer.compress(zeros) for _ in range(size // MIB)), writer.flush()]
    )


@pytest.mark.parametrize("encoding", [None, "identity", "zstd", "gzip", "ZSTD"])
@pytest.mark.parametrize(
    "size", [1, SMALLEST_PIECE_BYTES - 1, SMALLEST_PIECE_BYTES + 1, 3 * MIB]
)
def test_returns_what_was_sent(encoding, size):
    content = bytes(range(256)) * (size // 256 + 1)
    pack = {"zstd": zstd, "gzip": gzip.compress}.get((encoding or "").lower(), bytes)

    assert read(pack(content), encoding=encoding) == content


def test_returns_what_was_compressed_in_a_stream():
    content = bytes(range(256)) * 10_000
    writer = zstandard.ZstdCompressor().compressobj()

    body = writer.compress(content) + writer.flush()

    assert read(body, encoding="zstd") == content


@pytest.mark.parametrize("encoding", [None, "zstd", "gzip"])
def test_an_empty_body_is_empty(encoding):
    assert read(b"", encoding=encoding) == b""


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd, zstd", "gzip,gzip", "*"])
def test_other_and_stacked_encodings_are_refused(encoding):
    with pytest.raises(UnsupportedMedia):
        read(b"x", encoding=encoding)


def test_a_request_without_length_or_chunks_has_no_body():
    assert read(b"", length="") == b""


def test_a_body_in_chunks_is_refused():
    with pytest.raises(LengthRequired):
        read(b"x", length="", **{"transfer-encoding": "chunked"})


def test_a_length_beside_chunks_is_not_trusted():
    with pytest.raises(LengthRequired):
        read(b"x", **{"transfer-encoding": "chunked"})


def test_a_later_protocol_needs_the_length():
    request = request_with(b"x", length="")
    request.META["SERVER_PROTOCOL"] = "HTTP/2"

    with pytest.raises(LengthRequired):
        read_whole(request)


@pytest.mark.parametrize("length", ["-1", "1e3", "٣", "0x10"])
def test_a_body_of_unknown_length_is_refused(length):
    with pytest.raises(LengthRequired):
        read(b"x", length=length)


@pytest.mark.parametrize("length", [str(SENT + 1), "9" * 5_000])
def test_a_body_beyond_the_limit_is_refused_unread(length):
    request = request_with(b"x", length=length)

    with pytest.raises(TooLarge):
        read_whole(request)

    assert request._stream.tell() == 0


def test_a_body_shorter_than_declared_is_refused():
    with pytest.raises(MalformedBatch):
        read(b"short", length="10")


def test_a_connection_that_breaks_is_a_malformed_body():
    class Broken(io.BytesIO):
        def read(self, *_):
            raise ConnectionResetError

    request = request_with(b"x")
    request._stream = Broken()

    with pytest.raises(MalformedBatch):
        read_whole(request)


@pytest.mark.parametrize(
    ("encoding", "bomb"),
    [
        # Created in the test, not during collection.
        pytest.param("zstd", lambda: zstd_bomb(1024 * MIB), id="zstd"),
        pytest.param("zstd", lambda: zstd(bytes(64 * MIB)), id="zstd with its size"),
        pytest.param("gzip", lambda: gzip.compress(bytes(256 * MIB), 6), id="gzip"),
    ],
)
def test_a_bomb_is_refused_within_the_limit(encoding, bomb):
    bomb = bomb()
    tracemalloc.start()
    begin = time.perf_counter()
    with pytest.raises(TooLarge):
        read(bomb, encoding=encoding)
    seconds = time.perf_counter() - begin
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 2 * UNPACKED + 8 * MIB
    assert seconds < 20  # milliseconds, except on a busy machine


@pytest.mark.parametrize("size", [UNPACKED, UNPACKED + 1])
@pytest.mark.parametrize(
    ("encoding", "pack"), [("zstd", zstd), ("gzip", gzip.compress)]
)
def test_the_limit_is_on_what_was_unpacked(size, encoding, pack):
    body = pack(bytes(size))

    if size == UNPACKED:
        assert len(read(body, encoding=encoding)) == size
    else:
        with pytest.raises(TooLarge):
            read(body, encoding=encoding)


def test_a_window_larger_than_needed_is_refused():
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    body = writer.compress(bytes(100)) + writer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)

    with pytest.raises(MalformedBatch):
        read(body, encoding="zstd")


def gzip_with_a_name(size):
    """A gzip member whose header has a long file name."""
    member = gzip.compress(b"content")
    has_name = bytes([member[3] | 8])
    return member[:3] + has_name + member[4:10] + b"x" * size + b"\0" + member[10:]


def zstd_that_claims(size):
    """A frame whose header has a wrong content size."""
    head = b"\x28\xb5\x2f\xfd" + bytes([0b1110_0000]) + struct.pack("<Q", size)
    return head + b"\x01\x00\x00"  # one empty block, the last


SKIPPABLE = struct.pack("<II", 0x184D2A50, 4) + b"skip"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        pytest.param("zstd", zstd(b"") * 100_000, id="many zstd frames"),
        pytest.param("zstd", SKIPPABLE * 100_000, id="frames to skip"),
        pytest.param("zstd", SKIPPABLE + zstd(b"content"), id="a frame to skip first"),
        pytest.param("zstd", zstd(b"content") + SKIPPABLE, id="a frame to skip last"),
        pytest.param("zstd", zstd_that_claims(2**60), id="false size"),
        pytest.param("gzip", gzip.compress(b"") * 100_000, id="many gzip members"),
        pytest.param("gzip", gzip_with_a_name(8 * MIB)[:-1], id="a name without end"),
        pytest.param("zstd", zstd(zstd(b"content"))[:-1], id="zstd in zstd, cut"),
    ],
)
def test_odd_frames_are_refused_and_take_no_room(encoding, body):
    tracemalloc.start()
    with pytest.raises((MalformedBatch, TooLarge)):
        read(body, encoding=encoding)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # The body itself is read and stored, twice during the conversion to bytes.
    assert peak < 3 * len(body) + 8 * MIB


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        pytest.param("zstd", zstd(b"content" * 100)[:-1], id="zstd cut"),
        pytest.param("zstd", zstd(b"content") + b"x", id="zstd and more"),
        pytest.param("zstd", zstd(b"one") + zstd(b"two"), id="two zstd frames"),
        pytest.param("zstd", b"not compressed", id="no zstd"),
        pytest.param("gzip", gzip.compress(b"content")[:-1], id="gzip cut"),
        pytest.param("gzip", gzip.compress(b"a") + gzip.compress(b"b"), id="two gzip"),
        pytest.param("gzip", zlib.compress(b"content"), id="zlib"),
        pytest.param("gzip", b"not compressed", id="no gzip"),
    ],
)
def test_a_damaged_body_is_malformed(encoding, body):
    with pytest.raises(MalformedBatch):
        read(body, encoding=encoding)


@given(st.binary(max_size=200), st.sampled_from(["zstd", "gzip"]))
def test_any_bytes_are_unpacked_or_refused(body, encoding):
    magic = {"zstd": b"\x28\xb5\x2f\xfd", "gzip": b"\x1f\x8b\x08"}[encoding]
    for attempt in (body, magic + body):
        try:
            read(attempt, encoding=encoding)
        except TrackerError as refusal:
            accepted = isinstance(refusal, (MalformedBatch, TooLarge))
        else:
            accepted = True
        assert accepted

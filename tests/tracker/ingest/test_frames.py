import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import frame, frames
from tracker.errors import MalformedBatch, TooLarge
from tracker.ingest.frames import read_frames
from tracker.ingest.limits import LIMITS


def test_reads_what_was_framed():
    body = frames([b"one", b"", b"three"], first=7)

    read = [(entry.number, bytes(entry.payload)) for entry in read_frames(body)]

    assert read == [(7, b"one"), (8, b""), (9, b"three")]


def test_an_empty_body_has_no_frames():
    assert list(read_frames(b"")) == []


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body):
    try:
        list(read_frames(body))
    except MalformedBatch:
        return
    assert body == b"".join(
        frame(bytes(entry.payload), entry.number) for entry in read_frames(body)
    )


@given(st.integers(0, 8 * len(frames([b"first", b"second"])) - 1))
def test_one_flipped_bit_is_always_noticed(bit):
    body = bytearray(frames([b"first", b"second"]))
    body[bit // 8] ^= 1 << (bit % 8)

    with pytest.raises(MalformedBatch):
        list(read_frames(bytes(body)))


@pytest.mark.parametrize("length", range(1, len(frames([b"first", b"second"]))))
def test_a_cut_body_is_refused_unless_cut_between_frames(length):
    body = frames([b"first", b"second"])[:length]

    if length == len(frames([b"first"])):
        assert len(list(read_frames(body))) == 1
    else:
        with pytest.raises(MalformedBatch):
            list(read_frames(body))


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param([0], id="zero"),
        pytest.param([1, 3], id="a gap"),
        pytest.param([2, 1], id="backwards"),
        pytest.param([1, 1], id="twice"),
        pytest.param([2**63], id="beyond what is stored"),
    ],
)
def test_numbers_go_up_one_by_one(numbers):
    body = b"".join(frame(b"", number) for number in numbers)

    with pytest.raises(MalformedBatch):
        list(read_frames(body))


def test_a_frame_beyond_the_limit_is_too_large():
    with pytest.raises(TooLarge):
        list(read_frames(frame(bytes(LIMITS.frame_bytes + 1), 1)))


def test_a_length_the_body_does_not_have_costs_nothing():
    checked = struct.pack("<IQ", 2**32 - 1, 1)
    body = struct.pack("<I", zlib.crc32(checked)) + checked

    with pytest.raises(MalformedBatch):
        list(read_frames(body))

"""Decoders accept or reject arbitrary bytes, within a limit of memory.

To run longer:

    TEST_EXAMPLES=5000 .venv/bin/python -m pytest tests/slow/fuzz
"""

from __future__ import annotations

import os
import tracemalloc
from contextlib import suppress

import hypothesis
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import frames, open_message
from tests.slow.fuzz.decoders import DECODERS, MIB
from tests.slow.fuzz.mutations import changed_bytes

EXAMPLES = int(os.environ.get("TEST_EXAMPLES", "150"))
looking = hypothesis.settings(max_examples=EXAMPLES)


def read(decoder, data):
    """Decode bytes; return the peak memory in bytes. Only the refusals may be raised.

    tracemalloc includes all threads, also those left by other tests. A result over the
    limit is therefore measured again: a decoder needs the same memory each time.
    """
    room = room_of_reading(decoder, data)
    if room < decoder.cap_bytes:
        return room
    return min(room, *(room_of_reading(decoder, data) for _ in range(4)))


def room_of_reading(decoder, data):
    tracemalloc.start()
    try:
        with suppress(*decoder.refusals):
            decoder.read(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", DECODERS)
def test_what_is_known_is_read_or_refused(name):
    decoder = DECODERS[name]

    decoder.read(decoder.seeds[0])
    for seed in decoder.seeds:
        assert decoder.wrapping.whole(decoder.wrapping.parts(seed)) == seed
        assert read(decoder, seed) < decoder.cap_bytes


@pytest.mark.parametrize("name", DECODERS)
@looking
@given(st.data())
def test_changed_bytes_are_read_or_refused(name, data):
    decoder = DECODERS[name]

    assert read(decoder, data.draw(changed_bytes(decoder))) < decoder.cap_bytes


@pytest.mark.parametrize("name", DECODERS)
@looking
@given(data=st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(name, data):
    decoder = DECODERS[name]

    assert read(decoder, data) < decoder.cap_bytes


def test_paths_that_are_all_bad_take_no_room_each():
    paths = ["good", *[""] * 60_000]
    message = {"t": "points", "paths": paths, "steps": b"", "times": b"", "values": b""}
    payload = msgspec.msgpack.encode([message] * 10)
    body = frames([[open_message()], payload])

    assert read(DECODERS["batch"], body) < 32 * MIB

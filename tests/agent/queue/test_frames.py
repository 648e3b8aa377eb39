from __future__ import annotations

import random

import pytest

from seamark.queue.frames import Frame, read_frames

FRAMES = [Frame(n, bytes([n]) * (n * 7 % 60)) for n in range(1, 40)]
DATA = b"".join(frame.to_bytes() for frame in FRAMES)


def contents(data):
    return [(frame.number, frame.payload) for frame in read_frames(data)]


INTACT = [(frame.number, frame.payload) for frame in FRAMES]


def test_frames_come_back_as_they_were():
    assert contents(DATA) == INTACT


def test_a_file_cut_anywhere_gives_every_whole_frame():
    ends = [frame.end for frame in read_frames(DATA)]

    for length in range(len(DATA)):
        whole = sum(end <= length for end in ends)
        assert contents(DATA[:length]) == INTACT[:whole]


@pytest.mark.parametrize("zeros", [*range(40), 32 * 2**20])
def test_zeros_are_passed_over_at_once(zeros):
    frame = Frame(7, b"payload")

    found = read_frames(bytes(zeros) + frame.to_bytes() + bytes(zeros))

    assert [(f.number, f.payload) for f in found] == [(7, b"payload")]


def test_a_flipped_bit_costs_one_frame():
    starts = [0, *(frame.end for frame in read_frames(DATA))]

    for bit in random.Random(1).sample(range(len(DATA) * 8), 2_000):
        damaged = bytearray(DATA)
        damaged[bit // 8] ^= 1 << bit % 8
        hit = next(i for i, start in enumerate(starts[1:]) if bit // 8 < start)
        assert contents(bytes(damaged)) == INTACT[:hit] + INTACT[hit + 1 :]


@pytest.mark.parametrize("seed", range(20))
def test_a_zeroed_page_costs_only_the_frames_it_touches(seed):
    place = random.Random(seed).randrange(len(DATA))
    damaged = DATA[:place] + bytes(64) + DATA[place + 64 :]

    found = contents(damaged[: len(DATA)])

    assert set(found) <= set(INTACT)
    untouched = [
        (f.number, f.payload)
        for f in read_frames(DATA)
        if f.end <= place or f.end - len(f.payload) - 16 >= place + 64
    ]
    assert [entry for entry in found if entry in untouched] == untouched


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_hold_no_frames(seed):
    assert contents(random.Random(seed).randbytes(5_000)) == []

"""Spikes that are planted, and found in whatever a system answers."""

from __future__ import annotations

import json
import struct
from itertools import islice

import pytest

from benchmarks.peers.spikes import SPIKES, shown, spikes
from benchmarks.peers.workload import blocks

PLANTED = spikes(1_000, run=3)
VALUE = PLANTED[50]


def test_each_part_of_a_run_has_one_and_no_two_are_alike():
    values = [value for run in range(20) for value in spikes(1_000, run).values()]

    assert list(PLANTED) == [50 + 100 * number for number in range(SPIKES)]
    assert len(set(values)) == 20 * SPIKES
    # What comes out of a training step is a float32.
    assert all(struct.unpack("f", struct.pack("f", v))[0] == v for v in values)


def test_they_take_the_place_of_what_was_logged_there():
    found = islice(blocks(metrics=1, steps=100, seed=1, planted=PLANTED), 10)
    bare = islice(blocks(metrics=1, steps=100, seed=1), 10)

    for with_spikes, without in zip(found, bare, strict=True):
        [values], [others] = with_spikes.values.values(), without.values.values()
        assert with_spikes.times == without.times
        for step, value, other in zip(with_spikes.steps, values, others, strict=True):
            assert value == PLANTED.get(step, other)


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"y": [0.5, VALUE]}).encode(),
        f"step,loss\n50,{VALUE}0000".encode(),
        b"head" + struct.pack("<3f", 0.5, VALUE, 0.5),
        b"head" + struct.pack("<2d", 0.5, VALUE),
    ],
    ids=["JSON", "CSV", "float32", "float64"],
)
def test_a_spike_is_found_however_it_is_written(answer):
    assert shown(answer, [VALUE]) == 1
    assert shown(answer, PLANTED.values()) == 1


def test_a_longer_number_is_no_spike():
    text = str(VALUE).encode()

    assert shown(b"[1%b, %b5, 7.%b]" % (text, text, text), [VALUE]) == 0

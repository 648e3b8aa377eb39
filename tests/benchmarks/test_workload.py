import struct
from itertools import islice, pairwise

import pytest

from benchmarks.peers.workload import CONSTANT, HARDWARE, LOSS, Block, blocks


def first(kind: str, *, count: int = 1, metrics: int = 3) -> list[Block]:
    return list(islice(blocks(metrics=metrics, steps=50, kind=kind), count))


def pauses(found: list[Block]) -> list[float]:
    times = [time for block in found for time in block.times]
    return [later - earlier for earlier, later in pairwise(times)]


def test_blocks_continue_each_other():
    one, two = first(LOSS, count=2)

    assert [*one.steps, *two.steps] == list(range(100))
    assert one.times[-1] < two.times[0]


def test_a_block_counts_its_points_and_yields_them_by_step():
    [block] = first(LOSS)
    rows = list(block.rows())

    assert len(block) == 150 == sum(len(metrics) for _, _, metrics in rows)
    assert rows[7][2]["train/metric-1"] == block.values["train/metric-1"][7]


def test_losses_are_float32_and_differ():
    [block] = first(LOSS)
    values = [value for column in block.values.values() for value in column]

    assert all(struct.unpack("f", struct.pack("f", v))[0] == v for v in values)
    assert len(set(values)) == len(values)


def test_hardware_is_percentages_in_tenths_about_each_second():
    found = first(HARDWARE, count=4)
    values = [v for block in found for column in block.values.values() for v in column]

    assert all(0 <= value <= 100 and round(value, 1) == value for value in values)
    # Ticks do not drift: each is late by itself.
    assert pauses(found) == pytest.approx([1.0] * 199, abs=0.0005)
    assert sum(pauses(found)) == pytest.approx(199.0, abs=0.0005)


def test_training_steps_take_about_50_ms():
    found = first(CONSTANT, count=4)

    assert {v for block in found for v in block.values["train/metric-0"]} == {3e-4}
    assert sum(pauses(found)) / 199 == pytest.approx(0.05, abs=0.002)


def test_two_seeds_log_different_values():
    one = next(blocks(metrics=1, steps=5, seed=1))
    two = next(blocks(metrics=1, steps=5, seed=2))

    assert one.values != two.values

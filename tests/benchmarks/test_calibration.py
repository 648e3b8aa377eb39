import pytest

from benchmarks.peers.calibration import next_blocks


def blocks_logged(seconds_per_block: float, *, wanted: float, most: int) -> list[int]:
    tries = [1]
    while (
        more := next_blocks(tries[-1], tries[-1] * seconds_per_block, wanted, most)
    ) is not None:
        tries.append(more)
    return tries


@pytest.mark.parametrize("seconds_per_block", [1e-6, 0.001, 0.3, 4.0])
def test_the_last_try_is_long_enough_or_as_large_as_it_may_be(seconds_per_block):
    last = blocks_logged(seconds_per_block, wanted=10.0, most=1_000)[-1]

    assert last == 1_000 or last * seconds_per_block >= 5.0


@pytest.mark.parametrize("seconds_per_block", [0.001, 0.3, 4.0])
def test_no_try_is_longer_than_wished_for(seconds_per_block):
    tries = blocks_logged(seconds_per_block, wanted=10.0, most=10**9)

    assert max(tries) * seconds_per_block <= 10.0


def test_a_slow_system_is_tried_once():
    assert blocks_logged(60.0, wanted=10.0, most=1_000) == [1]


def test_growth_is_careful_and_always_goes_on():
    assert next_blocks(10, 0.0, 10.0, most=1_000) == 80
    assert next_blocks(1, 4.9, 10.0, most=1_000) == 2

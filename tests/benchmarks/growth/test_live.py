import pytest

from benchmarks.growth.derivation import RANK
from benchmarks.growth.live import reading_names


def test_a_rank_has_as_many_readings_as_it_is_said_to():
    names = reading_names(RANK.readings_per_second)

    assert len(set(names)) == RANK.readings_per_second
    assert "monitoring/train/gpu/1/utilization_percent" in names


def test_a_second_of_a_rank_is_cut_into_whole_batches():
    assert RANK.steps_per_second % RANK.batches_per_second == 0


@pytest.mark.parametrize("readings", [0, 1, 9])
def test_a_host_comes_before_its_gpus(readings):
    names = reading_names(readings)

    assert len(names) == readings
    assert sum("gpu/" in name for name in names) == max(0, readings - 8)

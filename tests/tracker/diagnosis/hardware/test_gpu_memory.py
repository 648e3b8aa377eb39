from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import readings
from tracker.diagnosis.hardware.gpu_memory import measure_need, ways_to_save


def test_tensors_and_what_is_beside_them_are_needed():
    need = measure_need(
        readings(90.0),
        100.0,
        peak_bytes=readings(40.0),
        reserved_bytes=readings(80.0),
    )

    assert need.share == pytest.approx(0.5)
    assert need.beside_bytes == 10.0
    assert need.is_of_allocator


def test_without_the_allocator_all_in_use_is_needed():
    need = measure_need(readings(90.0), 100.0, peak_bytes=readings(40.0))

    assert need.share == pytest.approx(0.9)
    assert not need.is_of_allocator


def test_ways_suit_the_framework():
    torch = ways_to_save("pytorch", batch_size=64.0)
    plain = ways_to_save(None)

    assert "expandable_segments" in torch[0].code
    assert (torch[1].current, torch[1].suggested) == ("64", "32")
    assert plain[0].suggested == "half as large"


def test_a_setting_already_in_use_is_not_suggested():
    ways = ways_to_save("pytorch", autocast="bfloat16")

    assert not any("16 bits" in way.text for way in ways)
    assert any("16 bits" in way.text for way in ways_to_save("pytorch", autocast="off"))

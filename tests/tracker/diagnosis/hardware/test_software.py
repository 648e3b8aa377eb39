from __future__ import annotations

import pytest

from tracker.diagnosis.hardware.software import (
    FIRST_CUDA,
    OLDEST_DRIVERS,
    oldest_driver,
    version_of,
)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("580.65.06", (580, 65, 6)),
        ("12.4", (12, 4)),
        ("12.4rc1", (12,)),
        ("rocm6.2", ()),
        ("٣.1", ()),
        ("9" * 5000, ()),
        ("", ()),
        (None, ()),
    ],
)
def test_reads_versions_however_they_are_written(text, version):
    assert version_of(text) == version


def test_minor_versions_share_their_major_s_driver_from_11_on():
    assert oldest_driver((12, 9)) == oldest_driver((12, 0)) == (525,)
    assert oldest_driver((10, 1)) == (418, 39)
    assert oldest_driver((10, 7)) is None
    assert oldest_driver((99, 0)) is None


def test_later_versions_need_later_drivers():
    drivers = [OLDEST_DRIVERS[cuda] for cuda in sorted(OLDEST_DRIVERS)]

    assert drivers == sorted(drivers)
    assert list(FIRST_CUDA.values()) == sorted(FIRST_CUDA.values())

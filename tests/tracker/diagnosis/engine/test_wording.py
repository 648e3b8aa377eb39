from __future__ import annotations

import pytest

from tracker.diagnosis.engine.wording import (
    cores,
    count,
    duration,
    ordinal,
    percent,
    size,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0123, "12.3 ms"),
        (0.4, "400 ms"),
        (5.0, "5 s"),
        (90.0, "90 s"),
        (600.0, "10 min"),
        (9000.0, "2.5 h"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1st"),
        (2.0, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (13, "13th"),
        (21, "21st"),
        (95.0, "95th"),
        (97.5, "97.5th"),
        (112, "112th"),
        (305, "305th"),
        (572, "572nd"),
        (10_021, "10,021st"),
    ],
)
def test_ordinals(number, text):
    assert ordinal(number) == text


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(12, "12 B"), (2048, "2 KiB"), (85899345920, "80 GiB"), (2**60, "1.05e+06 TiB")],
)
def test_sizes(size_bytes, text):
    assert size(size_bytes) == text


def test_shares_cores_and_counts():
    assert percent(0.426) == "43 %"
    assert (cores(1.0), cores(0.5), cores(7.96)) == ("1 core", "0.5 cores", "8 cores")
    assert count(1, "worker", "workers") == "1 worker"
    assert count(0, "worker", "workers") == "0 workers"

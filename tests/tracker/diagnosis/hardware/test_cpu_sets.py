from __future__ import annotations

import pytest

from tracker.diagnosis.hardware.cpu_sets import parse_cpus


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0-2,8", {0, 1, 2, 8}),
        ("5", {5}),
        ("", set()),
        ("0-3,x", set()),
        ("9-1", set()),
        ("0-99999999999", set()),
    ],
)
def test_reads_lists_of_cpus(text, cpus):
    assert parse_cpus(text) == cpus

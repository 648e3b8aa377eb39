"""The agent waits for events of the real driver. Errors cannot be provoked."""

from __future__ import annotations

import time

import pytest

from seamark.probes.nvidia.nvml_events import NvmlEventsProbe
from seamark.probes.probe import ProbeUnavailable
from tests.gpu.card import number


@pytest.fixture
def probe():
    try:
        found = NvmlEventsProbe()
    except ProbeUnavailable as reason:
        pytest.skip(f"no events here: {reason}")
    yield found
    found.close()


def test_without_an_event_there_is_no_reading(probe):
    readings = probe.sample(time.monotonic())

    # Another user's program may crash meanwhile.
    assert all(path.endswith("/xid") for path in readings)
    assert all("/last_xid" in path for path in probe.news())


def test_the_gpu_is_one_of_those_that_are_listened_to(probe):
    assert number() in probe._indices.values()


def test_a_second_one_beside_it_listens_too(probe):
    other = NvmlEventsProbe()
    try:
        assert other.sample(0.0) == {}
    finally:
        other.close()

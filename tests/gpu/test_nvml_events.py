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


def test_a_wait_without_an_event_ends_in_time_and_says_nothing(probe):
    began = time.monotonic()
    readings = probe.sample(began)
    seconds = time.monotonic() - began

    # Another user's program may crash meanwhile.
    assert all(path.endswith("/xid") for path in readings)
    assert 0.5 < seconds < 5
    assert all("/last_xid" in path for path in probe.news())


def test_the_gpu_is_one_of_those_that_are_listened_to(probe):
    assert number() in probe._indices.values()


def test_a_second_one_beside_it_listens_too(probe):
    other = NvmlEventsProbe()
    try:
        assert other.sample(0.0) == {}
    finally:
        other.close()

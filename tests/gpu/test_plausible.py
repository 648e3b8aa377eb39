"""Tests of the plausible ranges; they need no GPU."""

from __future__ import annotations

import math

from seamark.probes.nvidia.nvml import NvmlProbe
from tests.agent.probes.conftest import driver  # noqa: F401 - a fixture
from tests.agent.probes.nvidia.nvml_double import Card
from tests.gpu.plausible import implausible, undescribed


def test_what_a_driver_says_of_a_card_is_described_and_plausible(driver):  # noqa: F811
    driver(Card())
    probe = NvmlProbe()
    sample = {**probe.sample(0.0), **probe.sample(5.0), **probe.sample(60.0)}

    assert sample
    assert undescribed(sample) == set()
    assert implausible(sample, probe.facts()) == []


def test_what_no_card_can_have_is_named(driver):  # noqa: F811
    driver(Card())
    facts = NvmlProbe().facts()
    sample = {
        "gpu/0/utilization_percent": 140.0,
        "gpu/0/power_watts": math.nan,
        "gpu/0/memory_used_bytes": 1e15,
        "gpu/0/sm_clock_mhz": 0.0,
    }

    assert len(implausible(sample, facts)) == 4
    assert undescribed({"gpu/0/made_up": 1.0}) == {"gpu/0/made_up"}

"""A driver that blocks, fails and loses a GPU during a run."""

from __future__ import annotations

import threading
import time

import pytest

import agent
from seamark.probes import scheduled_probe
from tests.agent.conftest import wait_until
from tests.agent.probes.nvidia.nvml_double import LOST, Card

MEASURED = "monitoring/train/"


@pytest.fixture
def values(tracker):
    def of(path):
        return tracker.values(MEASURED + path)

    return of


def fact(tracker, path):
    found = [m for m in tracker.messages() if m.get("path") == MEASURED + path]
    return found[-1]["value"] if found else None


def test_a_driver_that_blocks_takes_only_its_own_readings_along(
    tracker, values, driver, monkeypatch
):
    monkeypatch.setattr(scheduled_probe, "HANGING_SECONDS", 0.3)
    monkeypatch.setenv("SEAMARK_SAMPLE_SECONDS", "0.5")
    library = driver(Card())
    run = agent.init("r", stage="train")
    wait_until(lambda: len(values("gpu/0/utilization_percent")) >= 1)
    library.blocked = threading.Event()

    wait_until(lambda: fact(tracker, "facts/probes/nvml") == "does not answer")
    ticks = len(values("host/cpu_percent"))
    readings = len(values("gpu/0/utilization_percent"))
    wait_until(lambda: len(values("host/cpu_percent")) >= ticks + 2)
    began = time.monotonic()
    run.finish()
    took = time.monotonic() - began
    library.blocked.set()

    assert len(values("gpu/0/utilization_percent")) == readings
    assert fact(tracker, "facts/probes/host") == "measured"
    assert took < 30


def test_a_gpu_that_is_lost_leaves_the_others_and_is_told(
    tracker, values, driver, monkeypatch
):
    monkeypatch.setenv("SEAMARK_SAMPLE_SECONDS", "0.5")
    card = Card()
    driver(card, Card())
    run = agent.init("r", stage="train")
    wait_until(lambda: len(values("gpu/0/utilization_percent")) >= 1)
    card.fails["all"] = LOST

    wait_until(lambda: fact(tracker, "facts/gpu/0/state") == "lost: GPU is lost")
    before = len(values("gpu/0/utilization_percent"))
    other = len(values("gpu/1/utilization_percent"))
    wait_until(lambda: len(values("gpu/1/utilization_percent")) >= other + 2)
    run.finish()

    assert len(values("gpu/0/utilization_percent")) == before

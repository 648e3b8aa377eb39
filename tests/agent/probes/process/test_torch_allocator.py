from __future__ import annotations

import sys
import threading
import time
from types import SimpleNamespace

import pytest

from seamark.probes.probe import Job, ProbeUnavailable
from seamark.probes.process.torch_allocator import TorchAllocatorProbe
from tests.agent.conftest import wait_until


class Cuda:
    """Two GPUs; the second one belongs to another user."""

    def __init__(self, *, is_initialized=True):
        self._is_initialized = is_initialized

    def is_initialized(self):
        return self._is_initialized

    def device_count(self):
        return 2

    def memory_stats_as_nested_dict(self, device):
        if device:
            return {"reserved_bytes": {"all": {"peak": 0}}}
        return {
            "reserved_bytes": {"all": {"current": 300, "peak": 400}},
            "allocated_bytes": {"all": {"current": 200, "peak": 250}},
            "num_alloc_retries": 3,
        }

    def get_device_properties(self, device):
        return SimpleNamespace(uuid=f"ABC{device}")


class Driver:
    """Eight GPUs; until `answers` is set, it hangs."""

    NVMLError = ZeroDivisionError

    def __init__(self):
        self.answers = threading.Event()
        self.answers.set()
        self.inits = 0

    def nvmlInit(self):  # noqa: N802 - the driver library's own name
        self.inits += 1
        self.answers.wait(60)

    def nvmlDeviceGetCount(self):  # noqa: N802
        if not self.inits:
            raise self.NVMLError("uninitialized")
        return 8

    def nvmlDeviceGetHandleByIndex(self, index):  # noqa: N802
        return index

    def nvmlDeviceGetUUID(self, handle):  # noqa: N802
        return f"GPU-abc{7 - handle}"


@pytest.fixture
def driver(monkeypatch):
    driver = Driver()
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=Cuda()))
    monkeypatch.setitem(sys.modules, "pynvml", driver)
    return driver


def settled(probe, now=0.0):
    """Return the probe's sample after it has received the driver's data."""
    probe.sample(now)
    wait_until(lambda: probe._driver.has_answered)
    return probe.sample(now)


@pytest.mark.usefixtures("driver")
def test_readings_have_the_drivers_number_and_what_is_not_offered_is_absent():
    # As with `seamark run`, this process has no other use of the driver.
    probe = TorchAllocatorProbe({"CUDA_VISIBLE_DEVICES": "7,6"})

    assert settled(probe) == {
        "gpu/7/allocator/reserved_bytes": 300,
        "gpu/7/allocator/allocated_bytes": 200,
        "gpu/7/allocator/peak_allocated_bytes": 250,
        "gpu/7/allocator/retries": 3,
    }


@pytest.mark.usefixtures("driver")
def test_without_the_drivers_word_a_number_is_only_guessed_where_all_are_visible(
    monkeypatch,
):
    monkeypatch.setitem(sys.modules, "pynvml", None)

    assert "gpu/0/allocator/retries" in settled(TorchAllocatorProbe({}))
    assert settled(TorchAllocatorProbe({"CUDA_VISIBLE_DEVICES": "3"})) == {}


def test_a_driver_that_fails_is_asked_again_after_a_while(driver, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    probe = TorchAllocatorProbe({"CUDA_VISIBLE_DEVICES": "7,6"})
    settled(probe)
    monkeypatch.setitem(sys.modules, "pynvml", driver)

    assert probe.sample(1.0) == {}
    assert driver.inits == 0
    wait_until(lambda: "gpu/7/allocator/retries" in probe.sample(61.0))


def test_a_driver_that_hangs_keeps_nobody_waiting(driver):
    driver.answers.clear()
    probe = TorchAllocatorProbe({})
    began = time.monotonic()

    read = [probe.sample(float(now)) for now in (0, 1, 100)]

    assert time.monotonic() < began + 10
    assert read == [{}, {}, {}]
    wait_until(lambda: driver.inits == 1)
    driver.answers.set()
    wait_until(lambda: probe.sample(101.0))


@pytest.mark.parametrize(
    "module",
    [None, SimpleNamespace(), SimpleNamespace(cuda=Cuda(is_initialized=False))],
)
def test_a_script_that_uses_no_gpu_is_asked_for_nothing(monkeypatch, module):
    monkeypatch.setitem(sys.modules, "torch", module)

    assert TorchAllocatorProbe().sample(0.0) == {}


def test_a_program_that_is_watched_from_outside_is_not_asked():
    with pytest.raises(ProbeUnavailable):
        TorchAllocatorProbe.of(Job(watched=1))

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from agent.probes.probe import Job, ProbeUnavailable
from agent.probes.torch_allocator import TorchAllocatorProbe


class Cuda:
    """Two GPUs; the second one belongs to somebody else."""

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
    def nvmlDeviceGetCount(self):  # noqa: N802 - the driver library's own name
        return 8

    def nvmlDeviceGetHandleByIndex(self, index):  # noqa: N802
        return index

    def nvmlDeviceGetUUID(self, handle):  # noqa: N802
        return f"GPU-abc{7 - handle}"


@pytest.fixture
def torch(monkeypatch):
    fake = SimpleNamespace(cuda=Cuda())
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setitem(sys.modules, "pynvml", Driver())
    return fake


def test_readings_have_the_drivers_number_and_what_is_not_offered_is_absent(torch):
    probe = TorchAllocatorProbe({"CUDA_VISIBLE_DEVICES": "7,6"})

    assert probe.sample(0.0) == {
        "gpu/7/allocator/reserved_bytes": 300,
        "gpu/7/allocator/allocated_bytes": 200,
        "gpu/7/allocator/peak_allocated_bytes": 250,
        "gpu/7/allocator/retries": 3,
    }


def test_without_the_drivers_word_a_number_is_only_guessed_where_all_are_visible(
    torch, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pynvml", None)

    assert "gpu/0/allocator/retries" in TorchAllocatorProbe({}).sample(0.0)
    assert TorchAllocatorProbe({"CUDA_VISIBLE_DEVICES": "3"}).sample(0.0) == {}


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

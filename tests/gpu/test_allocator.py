"""Metrics of PyTorch's allocator equal PyTorch's own statistics."""

from __future__ import annotations

import time

import pytest

from seamark.probes.process.torch_allocator import TorchAllocatorProbe
from tests.agent.conftest import wait_until
from tests.gpu.card import DEVICE, number, torch
from tests.gpu.training import MIB, limited

TOLD_BY_PYTORCH = {
    "reserved_bytes": "reserved_bytes.all.current",
    "allocated_bytes": "allocated_bytes.all.current",
    "peak_allocated_bytes": "allocated_bytes.all.peak",
    "inactive_split_bytes": "inactive_split_bytes.all.current",
    "retries": "num_alloc_retries",
    "out_of_memory_count": "num_ooms",
}


@pytest.fixture
def probe():
    """A probe that maps PyTorch's index of the GPU to the driver's."""
    torch.ones(1, device=DEVICE)
    found = TorchAllocatorProbe()
    wait_until(lambda: found.sample(time.monotonic()), seconds=10)
    return found


def compare(probe):
    """Return the samples, after comparing them with PyTorch's statistics."""
    stats = torch.cuda.memory_stats(DEVICE)
    place = f"gpu/{number()}/allocator"
    sample = probe.sample(time.monotonic())

    assert sample == {f"{place}/{k}": stats[v] for k, v in TOLD_BY_PYTORCH.items()}
    return {path.removeprefix(f"{place}/"): value for path, value in sample.items()}


def tensor(mebibytes):
    return torch.empty(mebibytes * MIB, dtype=torch.uint8, device=DEVICE)


def test_what_tensors_take_and_leave_is_read(probe):
    # GPUs on which the process has no memory are not sampled.
    _kept = tensor(1)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(DEVICE)
    before = compare(probe)
    one, other = tensor(300), tensor(500)
    both = compare(probe)
    del other
    freed = compare(probe)
    torch.cuda.empty_cache()
    emptied = compare(probe)

    assert both["allocated_bytes"] - before["allocated_bytes"] == 800 * MIB
    assert freed["allocated_bytes"] - before["allocated_bytes"] == one.nbytes
    assert freed["reserved_bytes"] == both["reserved_bytes"]
    assert emptied["reserved_bytes"] <= freed["reserved_bytes"] - 500 * MIB
    assert emptied["peak_allocated_bytes"] == both["allocated_bytes"]


def test_pieces_that_cannot_be_given_back_are_read(probe):
    torch.cuda.empty_cache()
    # Tensors below 1 MiB share segments of 2 MiB.
    pieces = [torch.empty(400_000, dtype=torch.uint8, device=DEVICE) for _ in range(8)]
    before = compare(probe)["inactive_split_bytes"]
    del pieces[::2]
    after = compare(probe)["inactive_split_bytes"]

    assert after > before


def test_memory_that_could_not_be_had_is_counted(probe):
    _kept = tensor(1)
    before = compare(probe)
    with limited(256 * MIB), pytest.raises(torch.OutOfMemoryError):
        tensor(1024)
    after = compare(probe)

    assert after["out_of_memory_count"] == before["out_of_memory_count"] + 1
    assert after["retries"] > before["retries"]


def test_readings_are_those_of_a_card_of_this_size(probe):
    kept = tensor(100)
    sample = probe.sample(time.monotonic())
    total = torch.cuda.get_device_properties(DEVICE).total_memory

    held = sample[f"gpu/{number()}/allocator/reserved_bytes"]
    assert kept.nbytes <= held <= total


def test_reading_it_waits_for_nothing(probe, occupied):
    began = time.perf_counter()
    for _ in range(20):
        probe.sample(time.monotonic())
    seconds = time.perf_counter() - began

    assert not occupied.is_passed
    assert seconds < 0.2

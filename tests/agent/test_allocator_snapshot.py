"""Summary of a GPU's memory segments after an out-of-memory error."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace

import pytest

from seamark.frameworks import allocator_snapshot
from seamark.frameworks.allocator_snapshot import summarized

MIB = 2**20


def segment(*blocks, device=0):
    return {
        "device": device,
        "total_size": sum(size for size, _ in blocks),
        "blocks": [{"size": size, "state": state} for size, state in blocks],
    }


def test_memory_that_is_free_and_in_pieces_is_told_from_what_is_used():
    segments = [
        segment((6 * MIB, "active_allocated"), (2 * MIB, "inactive")),
        segment((6 * MIB, "active_allocated"), (1 * MIB, "inactive")),
        segment((2 * MIB, "active_pending_free"), (1 * MIB, "inactive")),
        segment((512 * MIB, "active_allocated"), device=1),
    ]

    assert summarized(segments, 0) == {
        "segments": 3,
        "free_pieces": 3,
        "free_bytes": 4 * MIB,
        "largest_free_bytes": 2 * MIB,
        "scattered_share": 0.5,
        "largest_pieces": "12.0 MiB  2 × 6.00 MiB\n2.0 MiB  1 × 2.00 MiB",
    }


def test_a_gpu_without_segments_has_nothing_to_tell():
    assert summarized([segment((MIB, "inactive"), device=1)], 0) == {}


def test_what_is_full_is_not_scattered():
    assert "scattered_share" not in summarized([segment((MIB, "active_allocated"))], 0)


def test_more_pieces_than_anybody_looks_at_are_said_to_be_more(monkeypatch):
    monkeypatch.setattr(allocator_snapshot, "MAX_BLOCKS", 100)
    many = [segment(*[(MIB, "inactive")] * 1_000)]

    found = summarized(many, 0)

    assert (found["free_pieces"], found["pieces_looked_at"]) == (100, 100)
    assert "pieces_looked_at" not in summarized([segment(*[(MIB, "inactive")] * 9)], 0)


@pytest.mark.parametrize("segments", [[{}], [{"device": 0}], []])
def test_a_list_of_another_form_raises_nothing(segments):
    assert summarized(segments, 0).get("free_bytes", 0) == 0


class Torch(ModuleType):
    """The allocator part of PyTorch's interface; `snapshot` may be absent."""

    def __init__(self, snapshot=None):
        super().__init__("torch")
        # Attributes that the modules read on import.
        self.are_deterministic_algorithms_enabled = self.get_num_threads = int
        self.get_float32_matmul_precision = str
        self.cuda = SimpleNamespace(
            memory_stats=lambda _: {
                "allocated_bytes.all.current": 70,
                "reserved_bytes.all.current": 100,
                "allocated_bytes.all.peak": 90,
                "num_alloc_retries": 3,
            },
            memory_summary=lambda *_, **__: "a table",
        )
        if snapshot is not None:
            self.cuda.memory_snapshot = snapshot


def allocator_of(monkeypatch, torch):
    monkeypatch.setitem(sys.modules, "torch", torch)
    for name in ("torch_loop", "torch_memory"):
        monkeypatch.delitem(sys.modules, f"seamark.frameworks.{name}", raising=False)
    memory = import_module("seamark.frameworks.torch_memory")
    for name in ("torch_loop", "torch_memory"):
        monkeypatch.delitem(sys.modules, f"seamark.frameworks.{name}", raising=False)
    return memory._allocator("cuda:1")


def test_the_allocators_account_has_its_pieces(monkeypatch):
    torch = Torch(lambda: [segment((30, "inactive"), (70, "active"), device=1)])

    found = allocator_of(monkeypatch, torch)

    assert (found["allocated_bytes"], found["summary"]) == (70, "a table")
    assert (found["free_bytes"], found["segments"]) == (30, 1)


@pytest.mark.parametrize("snapshot", [None, lambda: 1 / 0, lambda: [None]])
def test_a_snapshot_that_fails_takes_nothing_else_along(monkeypatch, snapshot):
    found = allocator_of(monkeypatch, Torch(snapshot))

    assert found["reserved_bytes"] == 100
    assert "free_bytes" not in found

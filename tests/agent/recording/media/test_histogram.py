from __future__ import annotations

import math
import struct
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import agent
from seamark.recording.media.histogram import MAX_BINS


def decoded(histogram):
    """The edges, the counts, and how many values are in no bin."""
    data = histogram.encoded()
    form, others = struct.unpack_from("<Bd", data)
    numbers = struct.unpack(f"<{(len(data) - 9) // 8}d", data[9:])
    if form == 0:
        bins = len(numbers) // 2
        return list(numbers[: bins + 1]), list(numbers[bins + 1 :]), others
    low, high, *counts = numbers
    return [low, high], counts, others


VALUES = [0.0, 0.1, 0.5, 0.9, 1.0, math.nan, math.inf]


@pytest.mark.parametrize(
    "values",
    [
        VALUES,
        tuple(VALUES),
        np.array(VALUES),
        np.array([VALUES], np.float32),
        np.array(VALUES, np.float16),
    ],
    ids=lambda values: str(getattr(values, "dtype", type(values))),
)
def test_values_of_every_kind_are_counted(values):
    edges, counts, others = decoded(agent.Histogram(values, bins=4))

    assert edges == [0.0, 1.0]
    assert counts == [2, 0, 1, 2]
    assert others == 2


def test_arrays_are_counted_as_lists_are():
    values = np.random.default_rng(1).normal(size=2_000)

    from_array = decoded(agent.Histogram(values))
    from_list = decoded(agent.Histogram(values.tolist()))

    assert from_array[0] == from_list[0]
    assert len(from_array[1]) == 64
    assert sum(from_array[1]) == sum(from_list[1]) == 2_000
    # A value on an edge may fall on either side of it.
    moved = np.abs(np.array(from_array[1]) - from_list[1]).sum()
    assert moved <= 4


@pytest.mark.parametrize("value", [0.0, 3.0, -1e20, 1e300])
def test_equal_values_lie_in_the_middle_of_some_room(value):
    (low, high), counts, _ = decoded(agent.Histogram([value] * 7, bins=3))

    assert low < value < high
    assert counts == [0, 7, 0]


@pytest.mark.parametrize("values", [[], [math.nan] * 3, np.array([])])
def test_without_finite_values_there_are_no_bins(values):
    edges, counts, others = decoded(agent.Histogram(values))

    assert (edges, counts, others) == ([0.0, 0.0], [], len(values))


def test_edges_and_counts_are_kept_as_given():
    edges, counts, others = decoded(agent.Histogram(edges=[0, 1, 10], counts=[3, 0.5]))

    assert (edges, counts, others) == ([0.0, 1.0, 10.0], [3.0, 0.5], 0)


class Hostile:
    def tolist(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"values": "text"},
        {"values": Hostile()},
        {"values": 3},
        {"values": [1j]},
        {"values": [1.7e308, -1.7e308]},
        {"values": [1.0], "bins": 0},
        {"values": [1.0], "bins": MAX_BINS + 1},
        {"values": [1.0], "bins": "many"},
        {"edges": [0, 1], "counts": [1, 2]},
        {"edges": [0], "counts": []},
        {"edges": [1, 0], "counts": [1]},
        {"edges": [0, math.inf], "counts": [1]},
        {"edges": [0, 1], "counts": [-1]},
    ],
)
def test_what_is_no_histogram_is_refused_where_it_is_logged(arguments):
    histogram = agent.Histogram(**arguments)

    with pytest.raises(agent.UnsupportedValue):
        histogram.encoded()


def test_counting_a_list_imports_no_framework():
    script = (
        "import sys, agent; agent.Histogram([1.0, 2.0]).encoded();"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=30)


class FakeTorch:
    """A stand-in for PyTorch with a GPU that does not support histograms."""

    float32, float64 = np.float32, np.float64

    class Tensor:
        def __init__(self, values, device):
            self.values = np.asarray(values, np.float32)
            self.dtype = np.float32
            self.device = SimpleNamespace(type=device)

        def detach(self):
            return self

        flatten = detach

        def to(self, dtype):
            return self

        def numel(self):
            return self.values.size

        def cpu(self):
            return type(self)(self.values, "cpu")

        def __getitem__(self, chosen):
            return type(self)(self.values[chosen], self.device.type)

    @staticmethod
    def isfinite(tensor):
        return np.isfinite(tensor.values)

    @staticmethod
    def aminmax(tensor):
        return tensor.values.min(), tensor.values.max()

    @staticmethod
    def histc(tensor, bins, min, max):  # noqa: A002 - as PyTorch calls them
        if tensor.device.type == "cuda":
            raise RuntimeError(
                "_histc_cuda does not have a deterministic implementation"
            )
        return np.histogram(tensor.values, bins=bins, range=(min, max))[0]


def test_a_gpu_that_may_not_count_leaves_it_to_the_processor(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", FakeTorch)

    edges, counts, others = decoded(
        agent.Histogram(FakeTorch.Tensor(VALUES, "cuda"), bins=4)
    )

    assert (edges, counts, others) == ([0.0, 1.0], [2, 0, 1, 2], 2)

"""Logging of numbers and tensors that are on the GPU."""

from __future__ import annotations

import math
import struct

import pytest

import agent
from tests.gpu.card import DEVICE, torch

HEAD = struct.Struct("<Bd")
TYPES = ("float16", "bfloat16", "float32", "float64", "int64", "int32", "uint8")


def scalar(value, **more):
    return torch.tensor(value, device=DEVICE, **more)


NUMBERS = {
    **{name: lambda name=name: scalar(3, dtype=getattr(torch, name)) for name in TYPES},
    "with a gradient": lambda: scalar(3.0, requires_grad=True),
    "computed": lambda: scalar(1.0, requires_grad=True) * 3,
    "one element": lambda: torch.full((1,), 3.0, device=DEVICE),
    "a parameter": lambda: torch.nn.Parameter(scalar(3.0)),
}


@pytest.mark.parametrize("words", NUMBERS)
def test_a_number_on_the_gpu_is_a_point_and_a_value(tracker, run, words):
    run["a"].append(NUMBERS[words]())
    run["a"].extend([NUMBERS[words](), NUMBERS[words]()])
    run.log({"b": NUMBERS[words](), "below": {"c": NUMBERS[words]()}})
    run["d"] = NUMBERS[words]()
    run.finish()

    assert tracker.values("a") == [3.0] * 3
    assert tracker.values("b") == tracker.values("below/c") == [3.0]
    assert tracker.attributes()["d"] == 3.0


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_what_is_not_finite_on_the_gpu_stays_so(tracker, run, name):
    dtype = getattr(torch, name)
    run["a"].extend([scalar(v, dtype=dtype) for v in (math.nan, math.inf, -math.inf)])
    run.finish()

    first, *others = tracker.values("a")
    assert math.isnan(first)
    assert others == [math.inf, -math.inf]


def counted(tensor, bins=16):
    """Return lowest and highest edge, counts, and the number of values outside the bins."""
    data = agent.Histogram(tensor, bins=bins).encoded()
    form, others = HEAD.unpack_from(data)
    low, high, *counts = struct.unpack(f"<{bins + 2}d", data[HEAD.size :])
    assert form == 1
    return low, high, counts, others


def values(name="float32", count=100_000):
    generator = torch.Generator().manual_seed(0)
    found = torch.randn(count, generator=generator)
    found[:3] = torch.tensor([math.nan, math.inf, -math.inf])
    return found.to(getattr(torch, name))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_a_histogram_of_the_gpu_is_that_of_the_host(name):
    found = values(name)
    low, high, counts, others = counted(found.to(DEVICE))
    expected_low, expected_high, expected, _ = counted(found)

    assert (low, high, others) == (expected_low, expected_high, 3)
    assert sum(counts) == sum(expected) == found.numel() - 3
    # A value on an edge may be in either bin.
    moved = sum(abs(a - b) for a, b in zip(counts, expected, strict=True))
    assert moved <= 0.02 * found.numel()


def test_a_histogram_is_logged_where_only_what_is_deterministic_may_be_done(
    tracker, run
):
    torch.use_deterministic_algorithms(True)
    try:
        run["h"].append(agent.Histogram(values().to(DEVICE)))
    finally:
        torch.use_deterministic_algorithms(False)
    run.log({"h": agent.Histogram(torch.nn.Parameter(torch.ones(8, 8, device=DEVICE)))})
    run.finish()

    found = [m for m in tracker.of_kind("records") if m["path"] == "h"]
    assert {m["kind"] for m in found} == {"histogram"}
    sizes = [size for m in found for (size,) in struct.iter_unpack("<I", m["sizes"])]
    assert len(sizes) == 2


def test_a_tensor_of_many_numbers_is_no_point(tracker):
    with agent.init("r", project="p", monitor=False) as run:
        run["a"].append(torch.ones(3, device=DEVICE))
        run["b"].append(1)

    assert tracker.values("b") == [1.0]
    assert tracker.values("a") == []

"""A training that runs out of GPU memory: the run reports what the memory contained."""

from __future__ import annotations

import contextlib
import gc
import json

import pytest

from tests.gpu.card import DEVICE, torch
from tests.gpu.training import (
    BATCH_BYTES,
    FEW_ROWS,
    MANY_ROWS,
    ROOM_BYTES,
    Training,
    limited,
)

REPORT = "monitoring/train/out_of_memory"


def facts_of(attributes):
    return {
        path.removeprefix(f"{REPORT}/"): value
        for path, value in attributes.items()
        if path.startswith(REPORT)
    }


def check(facts, expected):
    """Compare the run's report with the training's tensors."""
    for kind in ("parameters", "gradients", "optimizer"):
        found = facts[f"{kind}_bytes"]
        assert found == pytest.approx(expected[kind], rel=0.2), kind
    of_batch = facts["activations_bytes"] + facts["other_tensors_bytes"]
    assert of_batch == pytest.approx(expected["of the batch"], rel=0.2)
    assert facts["activations_bytes"] > 0.4 * expected["of the batch"]

    assert facts["device"] == "cuda:0"
    assert facts["requested_bytes"] == BATCH_BYTES
    assert 0.9 * sum(expected.values()) < facts["allocated_bytes"]
    assert facts["allocated_bytes"] <= facts["reserved_bytes"] <= 1.05 * ROOM_BYTES
    assert facts["peak_allocated_bytes"] >= facts["allocated_bytes"]
    assert facts["segments"] >= 1
    assert 0 <= facts["largest_free_bytes"] <= facts["free_bytes"]
    assert "parameters: float32 4096×4096  × 8" in facts["largest"]


def exhaust(run, training):
    """Train until memory runs out; return the type of the error."""
    training.step(FEW_ROWS)
    refused = pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory")
    with refused as raised, run:
        training.step(MANY_ROWS)
    return raised.type


def test_a_step_that_does_not_fit_is_reported_and_the_script_goes_on(tracker, run):
    with limited(ROOM_BYTES):
        training = Training()
        kind = exhaust(run, training)
        expected = training.expected
        # The tensors of the failed step are freed with its error.
        gc.collect()
        loss = training.step(FEW_ROWS)

    assert kind is torch.OutOfMemoryError
    assert loss >= 0
    check(facts_of(tracker.attributes()), expected)
    (closed,) = tracker.of_kind("close")
    assert "out of memory" in closed["failure"]


def test_memory_that_is_caught_in_the_loop_ends_no_run(tracker, run):
    fitted = []
    kept = torch.ones(1, device=DEVICE)
    with limited(2**28):
        for size in run.loader([2**20, 2**31, 2**20]):
            with contextlib.suppress(torch.OutOfMemoryError), run.phase("forward"):
                fitted.append(torch.ones(size, dtype=torch.uint8, device=DEVICE))
        torch.cuda.synchronize()
    run.finish()

    assert kept.item() == 1
    assert len(fitted) == 2
    assert len(tracker.values("monitoring/train/step/seconds")) == 3
    assert not any("out_of_memory/" in path for path in tracker.attributes())


SCRIPT = """
import json, torch, agent
from tests.gpu.training import FEW_ROWS, MANY_ROWS, ROOM_BYTES, Training, limited

run = agent.init("r", project="p", stage="train", monitor=False)
with limited(ROOM_BYTES):
    training = Training()
    training.step(FEW_ROWS)
    try:
        with run:
            training.step(MANY_ROWS)
    except torch.OutOfMemoryError:
        expected = training.expected
    segments = torch.cuda.memory_snapshot()
print(json.dumps([expected, any(s.get("is_expandable") for s in segments)]))
"""


def test_it_is_reported_where_segments_grow(tracker, run_script):
    ended = run_script(
        SCRIPT, seconds=40, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"
    )

    assert ended.returncode == 0, ended.stderr
    expected, is_expandable = json.loads(ended.stdout.splitlines()[-1])
    if not is_expandable:
        pytest.skip("the segments of this PyTorch do not grow here")
    check(facts_of(tracker.attributes()), expected)

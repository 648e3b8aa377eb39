"""run.probe on a real GPU waits for the GPU and restores its state."""

from __future__ import annotations

import gc

import pytest

from tests.gpu.card import DEVICE, torch
from tests.gpu.training import MIB, limited
from tests.gpu.workloads import Stopwatch, occupy

PROBE = "monitoring/train/probe"
# Size of an example; each layer of a step keeps as much.
FLOATS = 2 * MIB
LAYERS = 24


class Model:
    """One weight and large examples: the batch uses nearly all memory."""

    def __init__(self) -> None:
        self.weight = torch.ones((), device=DEVICE, requires_grad=True)

    def step(self, batch: torch.Tensor) -> torch.Tensor:
        hidden = torch.nn.functional.dropout(batch)
        for _ in range(LAYERS):
            hidden = torch.tanh(hidden * self.weight)
        loss = hidden.mean()
        loss.backward()
        return loss.detach()


def make_batch(size: int) -> torch.Tensor:
    return torch.rand(size, FLOATS, device=DEVICE)


def allocated() -> int:
    gc.collect()
    return torch.cuda.memory_allocated(DEVICE)


def test_the_largest_batch_that_is_found_fits(tracker, run):
    model = Model()
    model.step(make_batch(1))
    result = run.probe.batch(model.step, make_batch, sizes=[2, 4, 8, 16], seconds=2)
    run.finish()

    assert len(result.memory_bytes) > 1
    built = 4 * FLOATS * (1 + LAYERS)
    assert result.memory.slope == pytest.approx(built, rel=0.25)
    assert result.largest >= max(result.step_seconds)
    assert tracker.attributes()[f"{PROBE}/batch/largest"] == result.largest

    torch.cuda.empty_cache()
    model.step(make_batch(result.largest))
    torch.cuda.synchronize()


def test_a_trial_leaves_memory_and_random_numbers_as_they_were(run):
    def numbers():
        return torch.rand(3).tolist() + torch.rand(3, device=DEVICE).tolist()

    model = Model()
    model.step(make_batch(1))
    torch.manual_seed(0)
    expected = numbers()
    torch.manual_seed(0)
    kept = torch.ones(64 * MIB, device=DEVICE)
    before = allocated()
    assert run.probe.batch(model.step, make_batch, sizes=[1, 2, 4], seconds=1)
    after = allocated()

    assert numbers() == expected
    assert after == pytest.approx(before, rel=0.05)
    assert kept.sum().item() == kept.numel()


def test_a_size_that_does_not_fit_is_survived(tracker, run):
    model = Model()
    model.step(make_batch(1))
    with limited(2048 * MIB):
        before = allocated()
        result = run.probe.batch(
            model.step, make_batch, sizes=[1, 2, 4, 1000], seconds=2
        )
        after, held = allocated(), torch.cuda.memory_reserved(DEVICE)
        # Restored, because the script may change it.
        model.step(make_batch(2))
    run.finish()

    assert result.out_of_memory_at == 1000
    assert max(result.step_seconds) <= result.largest < 1000
    assert after == pytest.approx(before, rel=0.05, abs=MIB)
    assert held < 512 * MIB
    assert not any("out_of_memory/" in path for path in tracker.attributes())


def test_a_step_is_timed_until_the_gpu_has_done_it(tracker, run):
    kept = torch.ones(1, device=DEVICE)
    occupy(1)
    with Stopwatch() as watch:
        occupy(10)
    expected = watch.seconds

    def step(batch):
        occupy(10)

    result = run.probe.synthetic(step, kept, seconds=0.8)
    run.finish()

    assert result.step_seconds == pytest.approx(expected, rel=0.2)
    assert f"{PROBE}/synthetic/step_seconds" in tracker.attributes()


def test_a_loader_that_pins_memory_is_tried_and_goes_on(run):
    data = torch.utils.data.TensorDataset(torch.ones(400, 64))
    loader = torch.utils.data.DataLoader(data, batch_size=8, pin_memory=True)
    tried = run.probe.loader(loader, seconds=0.5)
    twice = run.probe.cached(loader, batches=5, seconds=0.5)

    assert tried.batches > 20
    assert twice.batches == 5
    assert all(batch.is_pinned() for (batch,) in loader)


def test_parts_that_are_tried_are_no_steps_of_the_loop(tracker, run):
    model = Model()
    for _ in run.loader(range(2)):
        with run.phase("forward"):
            run.probe.synthetic(model.step, make_batch(1), seconds=0.2)
            occupy(1)
        torch.cuda.synchronize()
    run.finish()

    assert len(tracker.values("monitoring/train/step/seconds")) == 2

"""CUDA graphs: captures contain no events, and replays are timed."""

from __future__ import annotations

import shutil
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import pytest

from tests.gpu.card import DEVICE, torch
from tests.gpu.workloads import Stopwatch, occupy

STEP = "monitoring/train/step"


def test_a_capture_within_a_phase_succeeds_and_holds_no_event(tracker, run):
    graph = torch.cuda.CUDAGraph()
    values = torch.ones(256, 256, device=DEVICE)
    # Load the kernel before it is captured.
    result = values * 2
    result += 1
    occupy(1)
    torch.cuda.synchronize()
    for number in run.loader(range(4)):
        if number == 2:
            # Events of earlier steps stay pending: a query would end the capture.
            with run.phase("capture"), torch.cuda.graph(graph):
                with run.phase("captured"):
                    result = values * 2
                    occupy(5)
                with run.phase("captured too"):
                    result += 1
        else:
            with run.phase("work"):
                occupy(5)
        if number == 3:
            torch.cuda.synchronize()
    graph.replay()
    torch.cuda.synchronize()
    run.finish()

    assert result.unique().item() == 3
    assert len(tracker.values(f"{STEP}/device/work_seconds")) == 3
    told = {path for path in tracker.paths() if "/device/" in path}
    assert not any("captured" in path for path in told)
    assert len(tracker.values(f"{STEP}/seconds")) == 4


def test_a_replay_is_timed_like_any_other_work(tracker, run):
    graph = torch.cuda.CUDAGraph()
    kept = torch.ones(1, device=DEVICE)
    occupy(1)
    with torch.cuda.graph(graph):
        for _ in range(4):
            occupy(5)
    watches = [Stopwatch() for _ in range(6)]
    for number in run.loader(range(6)):
        with run.phase("replay"), watches[number]:
            graph.replay()
        if number == 5:
            torch.cuda.synchronize()
    run.finish()

    measured = [watch.seconds for watch in watches]
    assert kept.item() == 1
    assert min(measured) > 0.01
    found = tracker.values(f"{STEP}/device/replay_seconds")
    assert found == pytest.approx(measured, rel=0.2, abs=0.0005)
    assert median(tracker.values(f"{STEP}/phase/replay_seconds")) < 0.005


@pytest.fixture
def compiler(monkeypatch):
    """Backends that compile in this process; others start slowly."""
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    if not any(map(shutil.which, ("cc", "gcc", "clang"))) or not headers.exists():
        pytest.skip("Triton needs a C compiler, and Python's headers")
    if find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    from torch._inductor import config

    monkeypatch.setattr(config, "compile_threads", 1)
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def test_steps_that_torch_compile_makes_graphs_of_are_timed(tracker, run, compiler):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1)
    ).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    compiled = torch.compile(model, mode="reduce-overhead")
    inputs = torch.randn(128, 256, device=DEVICE)
    for number in run.loader(range(8)):
        torch.compiler.cudagraph_mark_step_begin()
        with run.phase("forward"):
            loss = compiled(inputs).square().mean()
        with run.phase("backward"):
            loss.backward()
        with run.phase("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        run["loss"].append(loss.detach())
        if number == 7:
            torch.cuda.synchronize()
    run.finish()

    losses = tracker.values("loss")
    assert len(losses) == 8
    assert losses == sorted(losses, reverse=True)
    for name in ("forward", "backward", "optimizer"):
        seconds = tracker.values(f"{STEP}/device/{name}_seconds")
        # The first step, which records the graphs, may have no GPU times.
        assert len(seconds) >= 7
        assert 0 < median(seconds) < 0.1

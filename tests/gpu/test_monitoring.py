"""A training with complete monitoring: every probe runs in the agent's threads."""

from __future__ import annotations

import time
from statistics import median

import agent
from seamark.probes.reading import pattern_of
from tests.gpu.card import DEVICE, number, torch
from tests.gpu.workloads import product

TRAIN = "monitoring/train"
SECONDS = 4.5


def test_a_training_is_measured_from_all_sides(tracker, tell):
    work = product(torch.bfloat16)
    run = agent.init("r", project="p", stage="train", monitor=True, strict=True)
    until = time.monotonic() + SECONDS

    def batches():
        while time.monotonic() < until:
            yield 0

    for _ in run.loader(batches()):
        with run.phase("product"):
            for _ in range(20):
                work()
        torch.cuda.synchronize(DEVICE)
    run.finish()

    gpu = f"{TRAIN}/gpu/{number()}"
    assert max(tracker.values(f"{gpu}/utilization_percent")) > 50
    held = torch.cuda.memory_reserved(DEVICE)
    assert held in tracker.values(f"{gpu}/allocator/reserved_bytes")
    assert min(tracker.values(f"{TRAIN}/step/device/product_seconds")) > 0
    check_facts(tracker)
    tell(costs(tracker))


def check_facts(tracker):
    facts = tracker.attributes()
    for name in ("nvml", "nvml_events", "torch_allocator"):
        assert facts[f"{TRAIN}/facts/probes/{name}"] == "measured"
    lines = facts[f"{TRAIN}/facts/readings"].splitlines()
    described = {line.partition("\t")[0] for line in lines}
    logged = {
        pattern_of(path.removeprefix(f"{TRAIN}/"))
        for path in tracker.paths()
        if path.startswith(f"{TRAIN}/gpu/")
    }
    assert logged <= described
    assert not any("/state" in path for path in facts if "/facts/gpu/" in path)


def costs(tracker):
    """Return a line with the agent's CPU use."""
    share = tracker.values(f"{TRAIN}/agent/cpu_share")
    late = tracker.values(f"{TRAIN}/agent/tick_late_seconds")
    turns = tracker.values(f"{TRAIN}/agent/probes/nvml_seconds")
    less = tracker.attributes().get(f"{TRAIN}/facts/gpu/{number()}/asked_less")
    return (
        f"the agent beside a training on the GPU: {100 * median(share):.2f} % of a core,"
        f" ticks {1000 * max(late):.1f} ms late at most, turns of the driver's probe"
        f" {1000 * median(turns):.1f} ms, {1000 * max(turns):.1f} ms at most;"
        f" asked less: {less or 'nothing'}"
    )

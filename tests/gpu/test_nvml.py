"""Metrics of the real driver on a busy and on an idle GPU."""

from __future__ import annotations

import gc
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean, median

import psutil
import pynvml
import pytest

from seamark.probes.nvidia.fields import Energy
from seamark.probes.nvidia.gpm import gpm_of_gpu
from seamark.probes.nvidia.nvml import NvmlProbe
from seamark.probes.nvidia.users import Pids, Users
from seamark.probes.reading import pattern_of
from seamark.recording.values import Value
from tests.gpu.card import DEVICE, handle, number, process_numbers, torch
from tests.gpu.plausible import implausible, undescribed
from tests.gpu.workloads import (
    COPIED_BYTES,
    Busy,
    Work,
    copy_on_card,
    copy_to_card,
    product,
)

GIB = 2**30
SETTLED_SECONDS = 2.0


@dataclass
class Recording:
    """The samples of a probe, one per second, with the CPU time of each."""

    facts: dict[str, Value]
    samples: list[dict[str, float]] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)

    def values(self, path: str) -> list[float]:
        path = f"gpu/{number()}/{path}"
        return [sample[path] for sample in self.samples if path in sample]


def record(count: int) -> Recording:
    probe = NvmlProbe()
    recording = Recording(dict(probe.facts()))
    try:
        for turn in range(count):
            time.sleep(1.0 if turn else 0.0)
            began = time.thread_time()
            recording.samples.append(dict(probe.sample(time.monotonic())))
            recording.cpu_seconds.append(time.thread_time() - began)
        recording.facts |= probe.news()
    finally:
        probe.close()
    return recording


@pytest.fixture(scope="module")
def idle() -> Recording:
    torch.ones(1, device=DEVICE)
    torch.cuda.synchronize()
    time.sleep(SETTLED_SECONDS)
    return record(3)


@pytest.fixture(scope="module")
def busy(idle: Recording) -> Recording:
    """A large matrix product that has started."""
    with Busy(product(torch.bfloat16)):
        # The power reading is a mean of the last second.
        time.sleep(1.5)
        return record(7)


def test_every_path_is_described(idle, busy):
    paths = {path: 0.0 for sample in (*idle.samples, *busy.samples) for path in sample}

    assert len(paths) > 20
    assert undescribed(paths) == set()


def test_every_value_is_one_that_a_gpu_can_have(idle, busy):
    wrong = [
        line
        for recording in (idle, busy)
        for sample in recording.samples
        for line in implausible(sample, recording.facts)
    ]

    assert wrong == []


def test_no_probe_of_it_fails(idle, busy):
    states = [k for r in (idle, busy) for k in r.facts if k.endswith("/state")]

    assert states == []


def test_it_is_used_while_it_computes_and_not_before(idle, busy):
    assert max(idle.values("utilization_percent")) < 20
    assert min(busy.values("utilization_percent")) > 50


def test_it_takes_power_while_it_computes(idle, busy):
    assert min(busy.values("power_watts")) > 1.2 * max(idle.values("power_watts"))


def test_its_clock_is_not_said_to_be_that_of_an_idle_card_while_it_computes(busy):
    assert set(busy.values("idle_share")) == {0.0}
    assert min(busy.values("sm_clock_mhz")) > 300


def test_reasons_of_lower_clocks_are_told(busy):
    paths = {path for sample in busy.samples for path in sample if "/limited/" in path}

    assert f"gpu/{number()}/limited/power_share" in paths


def test_energy_over_time_is_the_power_that_was_read():
    energy = Energy(pynvml, handle())
    watts = []
    with Busy(product(torch.bfloat16)):
        time.sleep(1.5)
        try:
            energy(time.monotonic())
        except pynvml.NVMLError_NotSupported:
            pytest.skip("this card does not count its energy")
        for _ in range(15):
            time.sleep(0.1)
            watts.append(pynvml.nvmlDeviceGetPowerUsage(handle()) / 1000)
        found = energy(time.monotonic())

    assert found["power_mean_watts"] == pytest.approx(fmean(watts), rel=0.25)
    assert found["energy_joules"] == pytest.approx(1.5 * fmean(watts), rel=0.35)


def counted(work: Work, seconds: float = 0.6) -> tuple[dict[str, float], float]:
    """Return the hardware counters for this work, and its calls per second."""
    gpm = gpm_of_gpu(pynvml, handle())
    if gpm is None:
        pytest.skip("this card has no hardware counters for everybody (GPM)")
    try:
        with Busy(work) as thread:
            time.sleep(0.4)
            first, began = thread.calls, time.monotonic()
            gpm(began)
            time.sleep(seconds)
            last, ended = thread.calls, time.monotonic()
            return gpm(ended), (last - first) / (ended - began)
    finally:
        gpm.close()


def test_hardware_counters_see_tensor_cores_multiply():
    found, _ = counted(product(torch.bfloat16))

    assert found["gpm/sm_active_percent"] > 50
    assert found["gpm/tensor_active_percent"] > 30
    assert found["gpm/dram_active_percent"] < 80


def test_hardware_counters_see_the_memory_work():
    found, _ = counted(copy_on_card())

    assert found["gpm/dram_active_percent"] > 50
    assert found["gpm/tensor_active_percent"] < 5


def test_hardware_counters_see_a_card_that_does_nothing():
    torch.cuda.synchronize()
    found, _ = counted(partial(time.sleep, 0.01))

    assert found["gpm/sm_active_percent"] < 5
    assert found["gpm/tensor_active_percent"] < 1


def test_bytes_over_the_bus_are_those_that_were_copied():
    quiet, _ = counted(partial(time.sleep, 0.01))
    found, calls_per_second = counted(copy_to_card())

    copied = calls_per_second * COPIED_BYTES
    received = found["pcie_receive_bytes_per_second"]
    assert copied / 2 < received < copied * 2
    assert received > 10 * quiet["pcie_receive_bytes_per_second"]


def test_the_memory_of_the_job_is_what_pytorch_holds_and_a_context():
    kept = torch.ones(2 * GIB, dtype=torch.uint8, device=DEVICE)
    found = Users(pynvml, handle(), Pids(os.getpid()))(0.0)

    assert found["processes"] >= 1
    if "job_processes" not in found:
        assert os.getpid() not in process_numbers()
        pytest.skip("the driver names processes by the numbers of another namespace")
    assert found["job_processes"] == 1
    if "job_memory_bytes" not in found:
        pytest.skip("the driver does not say what a process holds")
    held = torch.cuda.memory_reserved(DEVICE)
    assert kept.nbytes <= held <= found["job_memory_bytes"] <= held + 3 * GIB


def test_memory_that_is_used_is_what_was_taken():
    probe = NvmlProbe()
    path = f"gpu/{number()}/memory_used_bytes"
    torch.ones(1, device=DEVICE)
    torch.cuda.empty_cache()
    before = probe.sample(time.monotonic())[path]
    kept = torch.ones(2 * GIB, dtype=torch.uint8, device=DEVICE)
    torch.cuda.synchronize()
    after = probe.sample(time.monotonic() + 1)[path]
    probe.close()

    assert after - before == pytest.approx(kept.nbytes, rel=0.05)


def test_facts_are_those_that_cuda_tells(idle):
    properties = torch.cuda.get_device_properties(DEVICE)
    place = f"facts/gpu/{number()}"
    facts = {
        path.removeprefix(f"{place}/"): value
        for path, value in idle.facts.items()
        if path.startswith(place)
    }

    assert facts["name"] == properties.name
    assert facts["uuid"] == f"GPU-{properties.uuid}"
    assert facts["compute_capability"] == f"{properties.major}.{properties.minor}"
    total = properties.total_memory
    assert total <= facts["memory_total_bytes"] <= 1.1 * total
    described = {fact.path for fact in NvmlProbe.states}
    of_gpu = {pattern_of(path) for path in idle.facts if path.startswith(place)}
    assert of_gpu <= described


def test_facts_of_power_and_bus_agree_with_each_other(idle):
    facts, place = idle.facts, f"facts/gpu/{number()}"
    if f"{place}/power_limit_watts" in facts:
        watts = facts[f"{place}/power_limit_watts"]
        assert 10 < watts <= facts.get(f"{place}/power_limit_max_watts", 3_000)
        assert facts.get(f"{place}/power_limit_min_watts", 0) <= watts
    assert 1 <= facts[f"{place}/pcie_generation_max"] <= 8
    assert facts[f"{place}/pcie_width_max"] in (1, 2, 4, 8, 16, 32)
    for now in idle.values("pcie_generation"):
        assert 1 <= now <= facts[f"{place}/pcie_generation_max"]
    for now in idle.values("pcie_width"):
        assert 1 <= now <= facts[f"{place}/pcie_width_max"]


def test_two_probes_beside_each_other_say_the_same():
    probes = [NvmlProbe(), NvmlProbe()]
    found: list[dict[str, float]] = [{}, {}]
    with Busy(product(torch.bfloat16)):
        for _ in range(3):
            time.sleep(1.0)
            for probe, merged in zip(probes, found, strict=True):
                merged.update(probe.sample(time.monotonic()))
    for probe in probes:
        probe.close()

    for name in ("utilization_percent", "power_watts", "sm_clock_mhz"):
        one, other = (merged[f"gpu/{number()}/{name}"] for merged in found)
        assert one == pytest.approx(other, rel=0.2), name
    active = [m.get(f"gpu/{number()}/gpm/sm_active_percent") for m in found]
    assert active[0] == pytest.approx(active[1], rel=0.2)


class Counting:
    """The driver's library, with the number of calls of each function."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name):
        found = getattr(pynvml, name)
        if not name.startswith("nvml") or not callable(found):
            return found

        def call(*arguments, **named):
            self.calls[name] += 1
            return found(*arguments, **named)

        return call


def test_samples_of_hardware_counters_are_given_back():
    library = Counting()
    for _ in range(5):
        probe = NvmlProbe(library=library)
        probe.sample(time.monotonic())
        probe.close()

    taken = library.calls["nvmlGpmSampleAlloc"]
    assert library.calls["nvmlGpmSampleFree"] == taken
    if gpm_of_gpu(pynvml, handle()) is not None:
        assert taken >= 10


def test_many_samples_take_no_memory():
    def sample(turns: int) -> None:
        probe = NvmlProbe()
        # Simulates an interval of one second.
        now = time.monotonic()
        for turn in range(turns):
            probe.sample(now + turn)
        probe.close()

    def taken() -> tuple[int, int]:
        gc.collect()
        return psutil.Process().memory_info().rss, torch.cuda.mem_get_info(DEVICE)[0]

    torch.ones(1, device=DEVICE)
    sample(60)
    memory, free = taken()
    sample(200)
    memory_after, free_after = taken()

    assert memory_after - memory < 8 * 2**20
    assert free - free_after < 32 * 2**20


def test_what_a_sample_costs_is_told(busy, tell):
    milliseconds = [1000 * seconds for seconds in busy.cpu_seconds]
    less = busy.facts.get(f"facts/gpu/{number()}/asked_less", "nothing")
    tell(
        f"samples of a working GPU: first {milliseconds[0]:.1f} ms of a core, then"
        f" {median(milliseconds[1:]):.1f} ms in the middle, {max(milliseconds[1:]):.1f}"
        f" ms at most; asked less: {less}"
    )

# ruff: noqa: N802 - the driver library's own names
from __future__ import annotations

from types import SimpleNamespace

import pytest

from agent.probes.nvml import NvmlProbe
from agent.probes.probe import ProbeUnavailable


class FakeNvml:
    """A driver with a list of GPUs; readings named in `unsupported` fail."""

    NVML_ERROR_NOT_SUPPORTED = 3
    NVML_TEMPERATURE_GPU = 0
    NVML_CLOCK_SM = 1

    class NVMLError(Exception):
        def __init__(self, value):
            super().__init__(value)
            self.value = value

    def __init__(self, gpus=2, unsupported=(), error=3):
        self.gpus = gpus
        self.unsupported = unsupported
        self.error = error
        self.calls = []

    def nvmlInit(self):
        if self.gpus is None:
            raise self.NVMLError(12)

    def nvmlDeviceGetCount(self):
        return self.gpus

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetUUID(self, handle):
        return f"GPU-{handle}{handle}{handle}{handle}-x"

    def nvmlDeviceGetName(self, handle):
        return b"NVIDIA Test"

    def nvmlDeviceGetUtilizationRates(self, handle):
        return self._read("utilization", SimpleNamespace(gpu=90, memory=40))

    def nvmlDeviceGetMemoryInfo(self, handle, version=None):
        return self._read("memory", SimpleNamespace(used=5, total=10))

    def nvmlDeviceGetPowerUsage(self, handle):
        return self._read("power", 250_500)

    def nvmlDeviceGetEnforcedPowerLimit(self, handle):
        return self._read("limit", 400_000)

    def nvmlDeviceGetTemperature(self, handle, sensor):
        return self._read("temperature", 61)

    def nvmlDeviceGetClockInfo(self, handle, clock):
        return self._read("clock", 1_410)

    def _read(self, name, value):
        self.calls.append(name)
        if name in self.unsupported:
            raise self.NVMLError(self.error)
        return value


def test_every_gpu_is_read():
    probe = NvmlProbe(FakeNvml(), {})

    assert probe.facts() == {
        "facts/gpu_count": 2,
        **{f"facts/gpu/{i}/name": "NVIDIA Test" for i in range(2)},
        **{f"facts/gpu/{i}/memory_total_bytes": 10 for i in range(2)},
        **{f"facts/gpu/{i}/power_limit_watts": 400.0 for i in range(2)},
    }
    sample = probe.sample(0.0)
    assert {path: v for path, v in sample.items() if path.startswith("gpu/1/")} == {
        "gpu/1/utilization_percent": 90.0,
        "gpu/1/memory_utilization_percent": 40.0,
        "gpu/1/memory_used_bytes": 5.0,
        "gpu/1/power_watts": 250.5,
        "gpu/1/temperature_celsius": 61.0,
        "gpu/1/sm_clock_mhz": 1410.0,
    }


def test_no_driver_is_no_gpu_and_no_count():
    with pytest.raises(ProbeUnavailable):
        NvmlProbe(FakeNvml(gpus=None), {})


def test_what_a_gpu_does_not_offer_is_absent_and_asked_for_once():
    library = FakeNvml(1, unsupported=("power", "limit"))
    probe = NvmlProbe(library, {})

    first, second = probe.sample(0.0), probe.sample(1.0)

    assert "gpu/0/power_watts" not in first | second
    assert len(second) == 5
    assert library.calls.count("power") == 1
    assert "facts/gpu/0/power_limit_watts" not in probe.facts()


def test_a_passing_failure_is_asked_again():
    library = FakeNvml(1, unsupported=("power",), error=999)
    probe = NvmlProbe(library, {})
    assert "gpu/0/power_watts" not in probe.sample(0.0)

    library.unsupported = ()

    assert probe.sample(1.0)["gpu/0/power_watts"] == 250.5


@pytest.mark.parametrize(
    ("visible", "indices"),
    [
        ("0", {0}),
        ("1,0", {0, 1}),
        ("GPU-1111", {1}),
        ("", set()),
        ("-1", set()),
        ("MIG-abc", {0, 1}),
    ],
)
def test_only_gpus_this_process_may_see_are_read(visible, indices):
    probe = NvmlProbe(FakeNvml(), {"CUDA_VISIBLE_DEVICES": visible})

    assert probe.facts()["facts/gpu_count"] == len(indices)
    assert {int(path.split("/")[1]) for path in probe.sample(0.0)} == indices

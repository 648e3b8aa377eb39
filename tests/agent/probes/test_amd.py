"""AMD's library is stood in for: names, units, "N/A" and errors are amdsmi 7.0's."""

import os
from enum import IntEnum

import pytest

from agent.probes.amd import AmdProbe
from agent.probes.probe import ProbeUnavailable
from agent.probes.reading import pattern_of

GIB = 2**30
NOT_SUPPORTED, BUSY, NOT_INIT = 2, 30, 32


class AmdSmiException(Exception):
    pass


class AmdSmiLibraryException(AmdSmiException):
    def __init__(self, err_code):
        super().__init__(err_code)
        self.err_code = abs(err_code)


class AmdSmi:
    """The module, with a GPU for each dictionary of answers."""

    AmdSmiException = AmdSmiException
    AmdSmiLibraryException = AmdSmiLibraryException
    AmdSmiTemperatureType = IntEnum("Type", {"EDGE": 0, "HOTSPOT": 1, "VRAM": 3})
    AmdSmiTemperatureMetric = IntEnum("Metric", {"CURRENT": 0})
    AmdSmiClkType = IntEnum("Clk", {"SYS": 0, "GFX": 0, "MEM": 4})

    def __init__(self, *gpus, has_driver=True):
        self.gpus = gpus
        self.has_driver = has_driver
        self.calls = []

    def amdsmi_init(self):
        if not self.has_driver:
            raise AmdSmiLibraryException(NOT_INIT)

    def amdsmi_shut_down(self):
        self.calls.append("shut_down")

    def amdsmi_get_processor_handles(self):
        return list(range(len(self.gpus)))

    def __getattr__(self, name):
        if not name.startswith("amdsmi_get_"):
            raise AttributeError(name)
        short = name.removeprefix("amdsmi_get_")
        if not any(short in gpu for gpu in self.gpus):
            # A function that this version does not have.
            raise AttributeError(name)

        def answer(handle, *arguments):
            self.calls.append(short)
            found = self.gpus[handle].get(short, AmdSmiLibraryException(NOT_SUPPORTED))
            if isinstance(found, Exception):
                raise found
            return found(*arguments) if callable(found) else found

        return answer


def mi300(**others):
    return {
        "gpu_asic_info": {
            "market_name": "AMD Instinct MI300X",
            "target_graphics_version": "gfx942",
        },
        "gpu_device_uuid": "abff-0000",
        "gpu_vram_usage": {"vram_total": 196_592, "vram_used": 1_024},
        "power_cap_info": {"power_cap": 750_000_000},
        "gpu_activity": {"gfx_activity": 80, "umc_activity": 20, "mm_activity": "N/A"},
        "power_info": {
            "socket_power": 400,
            "current_socket_power": 400,
            "average_socket_power": "N/A",
        },
        "temp_metric": lambda kind, metric: {0: 50, 1: 65, 3: 55}[kind],
        "clock_info": {"clk": 2_100, "min_clk": 132, "max_clk": 2_100},
        "energy_count": {
            "energy_accumulator": 1_000_000,
            "counter_resolution": 15.3,
            "timestamp": 1,
        },
        "pcie_info": {"pcie_metric": {"pcie_width": 16, "pcie_replay_count": 3}},
        "gpu_total_ecc_count": {"correctable_count": 1, "uncorrectable_count": 0},
        "gpu_process_list": [{"pid": os.getpid(), "mem": GIB}],
        **others,
    }


def test_every_gpu_is_read_in_our_units():
    library = AmdSmi(mi300(), mi300())

    sample = AmdProbe(library, {}).sample(0.0)

    of_second = {
        path.removeprefix("gpu/1/"): value
        for path, value in sample.items()
        if path.startswith("gpu/1/")
    }
    assert of_second == {
        "utilization_percent": 80,
        "memory_utilization_percent": 20,
        "memory_used_bytes": GIB,
        "power_watts": 400,
        "temperature_celsius": 65,
        "memory_temperature_celsius": 55,
        "sm_clock_mhz": 2_100,
        "memory_clock_mhz": 2_100,
        "energy_joules": 0,
        "pcie_width": 16,
        "pcie_replays": 0,
        "ecc_corrected": 1,
        "ecc_uncorrected": 0,
        "processes": 1,
        "job_processes": 1,
        "job_memory_bytes": GIB,
        "other_processes": 0,
        "other_memory_bytes": 0,
    }


def test_a_gpu_says_what_it_is():
    facts = AmdProbe(AmdSmi(mi300()), {}).facts()

    assert facts == {
        "facts/gpu_count": 1,
        "facts/gpu/0/name": "AMD Instinct MI300X",
        "facts/gpu/0/architecture": "gfx942",
        "facts/gpu/0/uuid": "abff-0000",
        "facts/gpu/0/memory_total_bytes": 196_592 * 2**20,
        "facts/gpu/0/power_limit_watts": 750.0,
    }


def test_energy_is_counted_in_the_cards_own_unit():
    gpu = mi300()
    probe = AmdProbe(AmdSmi(gpu), {})
    probe.sample(0.0)
    gpu["energy_count"] = {**gpu["energy_count"], "energy_accumulator": 2_000_000}

    sample = probe.sample(5.0)

    assert sample["gpu/0/energy_joules"] == pytest.approx(15.3)
    assert sample["gpu/0/power_mean_watts"] == pytest.approx(3.06)


def test_what_is_not_available_is_absent_and_not_zero():
    gpu = mi300(
        gpu_activity={"gfx_activity": "N/A", "umc_activity": "N/A"},
        power_info={"current_socket_power": "N/A", "average_socket_power": "N/A"},
    )

    sample = AmdProbe(AmdSmi(gpu), {}).sample(0.0)

    assert "gpu/0/utilization_percent" not in sample
    assert "gpu/0/power_watts" not in sample


def test_what_is_not_supported_is_asked_for_once_and_what_is_busy_again():
    gpu = mi300(
        gpu_activity=AmdSmiLibraryException(NOT_SUPPORTED),
        power_info=AmdSmiLibraryException(BUSY),
    )
    library = AmdSmi(gpu)
    probe = AmdProbe(library, {})

    probe.sample(0.0)
    probe.sample(1.0)

    assert library.calls.count("gpu_activity") == 1
    assert library.calls.count("power_info") == 2


def test_a_function_of_another_version_is_done_without():
    gpu = mi300()
    del gpu["energy_count"]

    sample = AmdProbe(AmdSmi(gpu), {}).sample(0.0)

    assert "gpu/0/energy_joules" not in sample
    assert sample["gpu/0/utilization_percent"] == 80


@pytest.mark.parametrize("library", [AmdSmi(has_driver=False), AmdSmi()])
def test_without_driver_or_gpu_there_is_no_probe(library):
    with pytest.raises(ProbeUnavailable):
        AmdProbe(library, {})


def test_only_gpus_this_process_may_see_are_read():
    probe = AmdProbe(AmdSmi(mi300(), mi300()), {"HIP_VISIBLE_DEVICES": "1"})

    assert {path.split("/")[1] for path in probe.sample(0.0)} == {"1"}


def test_every_path_is_described():
    probe = AmdProbe(AmdSmi(mi300()), {})
    seen = {*probe.sample(0.0), *probe.sample(5.0)}

    assert {pattern_of(path) for path in seen} <= {r.path for r in probe.readings}

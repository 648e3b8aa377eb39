"""AMD's library is stood in for: names, units, "N/A" and errors are amdsmi 7.0's."""

import os
from enum import IntEnum

import pytest

from seamark.probes.amd.amd import AmdProbe
from seamark.probes.amd.amd_events import AmdEventsProbe
from seamark.probes.probe import Job, Kept, ProbeUnavailable
from seamark.probes.reading import pattern_of

GIB = 2**30
NOT_SUPPORTED, BUSY, NOT_INIT, NO_DATA = 2, 30, 32, 40


class AmdSmiException(Exception):
    pass


class AmdSmiLibraryException(AmdSmiException):
    def __init__(self, err_code):
        super().__init__(err_code)
        self.err_code = abs(err_code)


class EventReader:
    """Receives events of all GPUs, whichever it was created for."""

    def __init__(self, library, handle, kinds):
        self.library, self.is_stopped = library, False
        library.readers.append(self)

    def read(self, milliseconds, most):
        if not self.library.events:
            raise AmdSmiLibraryException(NO_DATA)
        return [self.library.events.pop(0)]

    def stop(self):
        self.is_stopped = True


class AmdSmi:
    """The module, with a GPU for each dictionary of answers."""

    AmdSmiException = AmdSmiException
    AmdSmiLibraryException = AmdSmiLibraryException
    AmdSmiTemperatureType = IntEnum("Type", {"EDGE": 0, "HOTSPOT": 1, "VRAM": 3})
    AmdSmiTemperatureMetric = IntEnum("Metric", {"CURRENT": 0})
    AmdSmiClkType = IntEnum("Clk", {"SYS": 0, "GFX": 0, "MEM": 4})

    AmdSmiEvtNotificationType = IntEnum(
        "Event",
        ["VMFAULT", "THERMAL_THROTTLE", "GPU_PRE_RESET", "GPU_POST_RESET", "RING_HANG"],
    )

    def __init__(self, *gpus, has_driver=True):
        self.readers, self.events = [], []
        self.gpus = gpus
        self.has_driver = has_driver
        self.calls = []

    def AmdSmiEventReader(self, handle, kinds):  # noqa: N802 - the library's own name
        return EventReader(self, handle, kinds)

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


def metrics(time, **limited):
    names = ("ppt", "socket_thm", "prochot", "vr_thm", "hbm_thm")
    found = {f"{name}_residency_acc": limited.get(name, 0) for name in names}
    return {"accumulation_counter": time, **found}


def process(pid, nanoseconds=0, mem=GIB):
    return {"pid": pid, "mem": mem, "engine_usage": {"gfx": nanoseconds, "enc": 0}}


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
        "pcie_info": {
            "pcie_static": {"max_pcie_width": 16, "pcie_interface_version": 5},
            "pcie_metric": {
                "pcie_width": 16,
                "pcie_speed": 32_000,
                "pcie_bandwidth": 800,
                "pcie_replay_count": 3,
                "pcie_l0_to_recovery_count": 1,
                "pcie_nak_sent_count": 0,
                "pcie_nak_received_count": "N/A",
            },
        },
        "gpu_metrics_info": metrics(1_000),
        "gpu_driver_info": {"driver_name": "amdgpu", "driver_version": "6.14.14"},
        "gpu_total_ecc_count": {"correctable_count": 1, "uncorrectable_count": 0},
        "gpu_process_list": [process(os.getpid())],
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
        "pcie_generation": 5,
        "pcie_bytes_per_second": 100_000_000,
        "pcie_replays": 0,
        "pcie_recoveries": 0,
        "ecc_corrected": 1,
        "ecc_uncorrected": 0,
        "processes": 1,
        "job_processes": 1,
        "job_memory_bytes": GIB,
        "other_processes": 0,
        "other_memory_bytes": 0,
        "other_sm_percent": 0,
    }


def test_a_gpu_says_what_it_is():
    facts = AmdProbe(AmdSmi(mi300()), {}).facts()

    assert facts == {
        "facts/gpu_count": 1,
        "facts/gpu_driver": "6.14.14",
        "facts/gpu/0/pcie_generation_max": 5,
        "facts/gpu/0/pcie_width_max": 16,
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


def test_time_with_lower_clocks_is_what_the_card_counted_between_two_looks():
    gpu = mi300()
    probe = AmdProbe(AmdSmi(gpu), {})
    first = probe.sample(0.0)
    gpu["gpu_metrics_info"] = metrics(2_000, ppt=250, hbm_thm="N/A")
    second = probe.sample(5.0)
    gpu["gpu_metrics_info"] = metrics(100)

    after_reset = probe.sample(10.0)

    limited = {k: v for k, v in second.items() if "/limited/" in k}
    assert not any("/limited/" in path for path in {**first, **after_reset})
    assert limited == {
        "gpu/0/limited/power_share": 0.25,
        "gpu/0/limited/thermal_share": 0,
        "gpu/0/limited/processor_hot_share": 0,
        "gpu/0/limited/voltage_regulator_share": 0,
    }


def test_shares_of_processes_are_their_time_on_the_engine():
    me, other = os.getpid(), 999_999_999
    gpu = mi300(gpu_process_list=[process(me), process(other)])
    probe = AmdProbe(AmdSmi(gpu), {})
    first = probe.sample(0.0)
    gpu["gpu_process_list"] = [process(me, 4_000_000_000), process(other, 500_000_000)]
    second = probe.sample(5.0)
    gpu["gpu_process_list"] = [process(me, 4_000_000_000), process(7)]

    third = probe.sample(10.0)

    assert "gpu/0/job_sm_percent" not in first
    assert second["gpu/0/job_sm_percent"] == 80
    assert second["gpu/0/other_sm_percent"] == 10
    assert third["gpu/0/job_sm_percent"] == 0
    # Of a new process, the utilization is unknown.
    assert "gpu/0/other_sm_percent" not in third


@pytest.mark.parametrize(
    ("speed", "generation"), [(16_000, 4), ("N/A", None), (1, None)]
)
def test_a_speed_that_is_no_generations_is_none(speed, generation):
    link = mi300()["pcie_info"]
    link["pcie_metric"]["pcie_speed"] = speed

    sample = AmdProbe(AmdSmi(mi300(pcie_info=link)), {}).sample(0.0)

    assert sample.get("gpu/0/pcie_generation") == generation


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


class Dead(dict):
    """The results of a GPU that stopped responding."""

    def get(self, name, default=None):
        return AmdSmiLibraryException(NOT_INIT)


def test_a_gpu_of_which_no_question_is_answered_says_so():
    library = AmdSmi(mi300(), mi300())
    probe = AmdProbe(library, {})
    probe.sample(0.0)
    assert probe.news() == {}
    alive = library.gpus
    library.gpus = (alive[0], Dead(alive[1]))

    failing = probe.sample(5.0)
    news = probe.news()
    library.gpus = alive
    probe.sample(10.0)

    assert {path.split("/")[1] for path in failing} == {"0"}
    assert news == {"facts/gpu/1/state": "fails: 32"}
    assert probe.news() == {"facts/gpu/1/state": "present"}


def test_a_sensor_that_fails_leaves_the_next_one():
    def degrees(kind, metric):
        if kind == AmdSmi.AmdSmiTemperatureType.HOTSPOT:
            raise AmdSmiLibraryException(BUSY)
        return 50

    sample = AmdProbe(AmdSmi(mi300(temp_metric=degrees)), {}).sample(0.0)

    assert sample["gpu/0/temperature_celsius"] == 50


def test_the_end_of_one_probe_leaves_the_library_to_others():
    library = AmdSmi(mi300())

    AmdProbe(library, {}).close()

    assert "shut_down" not in library.calls


def test_counts_go_on_when_the_probe_is_made_anew():
    gpu, job = mi300(), Job(kept=Kept())
    AmdProbe(AmdSmi(gpu), {}, job).sample(0.0)
    gpu["energy_count"] = {**gpu["energy_count"], "energy_accumulator": 2_000_000}

    sample = AmdProbe(AmdSmi(gpu), {}, job).sample(60.0)

    assert sample["gpu/0/energy_joules"] == pytest.approx(15.3)


def test_a_function_of_another_version_is_done_without():
    gpu = mi300()
    del gpu["energy_count"]

    sample = AmdProbe(AmdSmi(gpu), {}).sample(0.0)

    assert "gpu/0/energy_joules" not in sample
    assert sample["gpu/0/utilization_percent"] == 80


@pytest.mark.parametrize(
    "answers",
    [
        {"energy_count": {"counter_resolution": 15.3}},
        {"pcie_info": {}},
        {"gpu_process_list": [{"mem": 1}]},
        {"gpu_process_list": None},
    ],
    ids=["without energy", "without a link", "without a number", "without a list"],
)
def test_an_answer_of_another_shape_takes_nothing_else_along(answers):
    odd, other = mi300(), mi300()
    odd.update(answers)

    sample = AmdProbe(AmdSmi(odd, other), {}).sample(0.0)

    assert sample["gpu/0/utilization_percent"] == 80
    assert sample["gpu/0/ecc_corrected"] == sample["gpu/1/ecc_corrected"]
    assert "gpu/1/energy_joules" in sample


@pytest.mark.parametrize("library", [AmdSmi(has_driver=False), AmdSmi()])
def test_without_driver_or_gpu_there_is_no_probe(library):
    with pytest.raises(ProbeUnavailable):
        AmdProbe(library, {})


def test_only_gpus_this_process_may_see_are_read():
    probe = AmdProbe(AmdSmi(mi300(), mi300()), {"HIP_VISIBLE_DEVICES": "1"})

    assert {path.split("/")[1] for path in probe.sample(0.0)} == {"1"}


def test_a_ranks_own_gpu_is_at_its_place_in_the_list():
    environment = {"HIP_VISIBLE_DEVICES": "1,0"}
    probe = AmdProbe(AmdSmi(mi300(), mi300()), environment, job=Job(local_rank=1))

    assert {path.split("/")[1] for path in probe.sample(0.0)} == {"0"}


def test_every_path_is_described():
    gpu = mi300()
    probe = AmdProbe(AmdSmi(gpu), {})
    seen = {*probe.sample(0.0)}
    gpu["gpu_metrics_info"] = metrics(2_000)
    seen |= {*probe.sample(5.0)}

    assert {pattern_of(path) for path in seen} <= {r.path for r in probe.readings}


def test_an_event_is_a_point_of_its_gpu():
    library = AmdSmi(mi300(), mi300())
    probe = AmdEventsProbe(library, {})
    library.events = [{"processor_handle": 1, "event": "RING_HANG", "message": "x"}]

    assert probe.sample(0.0) == {"gpu/1/event": 5}
    assert probe.news() == {"facts/gpu/1/last_event": "RING_HANG"}
    assert probe.sample(1.0) == {}
    assert probe.news() == {}
    probe.close()
    assert all(reader.is_stopped for reader in library.readers)


def test_events_of_gpus_that_are_not_ours_are_passed_over():
    library = AmdSmi(mi300(), mi300())
    probe = AmdEventsProbe(library, {"HIP_VISIBLE_DEVICES": "1"})
    library.events = [{"processor_handle": 0, "event": "VMFAULT", "message": ""}]

    assert probe.sample(0.0) == {}


class Silent(AmdSmi):
    AmdSmiEvtNotificationType = None


@pytest.mark.parametrize(
    "library", [AmdSmi(has_driver=False), AmdSmi(), Silent(mi300())]
)
def test_without_driver_gpu_or_events_there_is_no_probe_of_events(library):
    with pytest.raises(ProbeUnavailable):
        AmdEventsProbe(library, {})

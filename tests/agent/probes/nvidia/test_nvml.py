from __future__ import annotations

import itertools
import os
import struct
import time

import pynvml
import pytest

from seamark.commands.checks.machine import look_at_machine
from seamark.probes.logbook import Logbook
from seamark.probes.nvidia.gpu import Gpu
from seamark.probes.nvidia.nvml import NvmlProbe
from seamark.probes.nvidia.users import Pids
from seamark.probes.probe import Job, Kept, ProbeUnavailable
from seamark.probes.reading import Described, pattern_of
from seamark.probes.scheduled_probe import ScheduledProbe
from seamark.queue.rows import read_row
from seamark.recording.attributes import Recorder
from seamark.user_warnings import Notices
from tests.agent.probes.nvidia.nvml_double import (
    BY_LINK,
    FORBIDDEN,
    GIB,
    LOST,
    RESET_REQUIRED,
    UNLOADED,
    Card,
)

POWER_POLICY = pynvml.NVML_FI_DEV_PERF_POLICY_POWER
HW_THERMAL = pynvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN
RX_BYTES = pynvml.NVML_FI_DEV_PCIE_COUNT_RX_BYTES
TX_BYTES = pynvml.NVML_FI_DEV_PCIE_COUNT_TX_BYTES
NVLINK_TX = pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX
REPLAYS = pynvml.NVML_FI_DEV_PCIE_REPLAY_COUNTER
UNCORRECTED = pynvml.NVML_FI_DEV_ECC_DBE_VOL_TOTAL
PENDING = pynvml.NVML_FI_DEV_REMAPPED_PENDING
ENERGY = pynvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION
UTILIZATION_SAMPLES = pynvml.NVML_GPU_UTILIZATION_SAMPLES
POWER_SAMPLES = pynvml.NVML_TOTAL_POWER_SAMPLES


def make(visible=None, **job):
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    # A stopped clock, so that a slow machine does not end a turn early.
    return NvmlProbe(pynvml, environment, Job(**job), clock=lambda: 0.0)


def test_every_gpu_is_read(driver):
    driver(Card(), Card(utilization=10))

    sample = make().sample(0.0)

    assert sample["gpu/0/utilization_percent"] == 90
    assert sample["gpu/1/utilization_percent"] == 10
    assert sample["gpu/1/memory_utilization_percent"] == 40
    assert sample["gpu/1/memory_used_bytes"] == 5 * GIB
    assert sample["gpu/1/memory_reserved_bytes"] == GIB / 2
    assert sample["gpu/1/power_watts"] == 250.5
    assert sample["gpu/1/temperature_celsius"] == 61
    assert sample["gpu/1/temperature_margin_celsius"] == 29
    assert sample["gpu/1/sm_clock_mhz"] == 1_410
    assert sample["gpu/1/memory_clock_mhz"] == 2_619
    assert sample["gpu/1/performance_state"] == 0
    assert sample["gpu/1/jpeg_percent"] == 7
    assert sample["gpu/1/pcie_width"] == 8


def test_a_gpu_says_what_it_is(driver):
    driver(Card())

    facts = make().facts()

    assert facts["facts/gpu_count"] == 1
    assert facts["facts/gpu_driver"] == "580.65.06"
    assert facts["facts/gpu_driver_cuda"] == "13.0"
    of_gpu = {k.removeprefix("facts/gpu/0/"): v for k, v in facts.items()}
    expected = {
        "name": "NVIDIA Test H100",
        "uuid": "GPU-0000-0",
        "compute_capability": "9.0",
        "memory_total_bytes": 80 * GIB,
        "power_limit_watts": 400.0,
        "power_limit_default_watts": 700.0,
        "power_limit_min_watts": 200.0,
        "power_limit_max_watts": 700.0,
        "power_limit_requested_watts": 450.0,
        "architecture": "hopper",
        "virtualization": "passthrough",
        "near_memory": "1",
        "temperature_slowdown_celsius": 90.0,
        "pcie_width_max": 16,
        "near_cpus": "0-3,64",
        "nvlinks": 3,
        "is_ecc_on": True,
    }
    assert {name: of_gpu[name] for name in expected} == expected
    assert "is_mig_on" not in of_gpu


def test_no_driver_is_no_gpu_and_no_count(driver):
    driver().has_driver = False

    with pytest.raises(ProbeUnavailable):
        make()


def test_what_a_gpu_does_not_offer_is_absent_and_asked_for_once(driver):
    library = driver(Card(lacks={"nvmlDeviceGetPowerUsage"}))
    probe = make()

    first, second = probe.sample(0.0), probe.sample(1.0)

    assert "gpu/0/power_watts" not in {**first, **second}
    assert library.calls.count("nvmlDeviceGetPowerUsage") == 1
    assert second["gpu/0/utilization_percent"] == 90


def test_functions_that_an_older_driver_lacks_have_older_ones_for_them(driver):
    driver(Card(lacks={"nvmlDeviceGetMemoryInfo_v2"}))

    sample = make().sample(0.0)

    # It includes the memory reserved by the driver, which was not reported.
    assert sample["gpu/0/memory_used_bytes"] == 5.5 * GIB
    assert sample.get("gpu/0/memory_reserved_bytes") is None


def test_a_passing_failure_is_asked_again(driver):
    card = Card(fails={"nvmlDeviceGetPowerUsage": 999})
    driver(card)
    probe = make()
    assert "gpu/0/power_watts" not in probe.sample(0.0)

    card.fails.clear()

    assert probe.sample(1.0)["gpu/0/power_watts"] == 250.5


def test_a_gpu_of_which_no_question_is_answered_says_so(driver):
    card = Card()
    driver(card, Card())
    probe = make()
    probe.sample(0.0)
    assert "facts/gpu/0/state" not in probe.news()
    card.fails["all"] = 999

    failing = probe.sample(10.0)
    news = probe.news()
    card.fails.clear()
    probe.sample(20.0)

    assert {path.split("/")[1] for path in failing} == {"1"}
    assert news["facts/gpu/0/state"] == "fails: Unknown Error"
    assert "facts/gpu/1/state" not in news
    assert probe.news()["facts/gpu/0/state"] == "present"


def test_a_gpu_that_vanishes_leaves_the_others(driver):
    card = Card()
    library = driver(card, Card())
    probe = make()
    probe.sample(0.0)
    card.fails["all"] = LOST
    gone = probe.sample(1.0)
    news = probe.news()
    library.calls.clear()

    still = probe.sample(2.0)
    asked = len(library.calls)
    card.fails.clear()
    back = probe.sample(40.0)

    assert {path.split("/")[1] for path in gone} == {"1"}
    assert news["facts/gpu/0/state"] == "lost: GPU is lost"
    assert {path.split("/")[1] for path in still} == {"1"}
    assert asked < 15
    assert "gpu/0/utilization_percent" in back
    assert probe.news()["facts/gpu/0/state"] == "present"


@pytest.mark.parametrize("code", [LOST, FORBIDDEN, 999])
@pytest.mark.parametrize("visible", [None, "GPU-0,GPU-2", "0,1,2"])
def test_a_gpu_that_cannot_be_had_at_the_start_leaves_the_others(driver, code, visible):
    driver(Card(), Card(fails={"handle": code}), Card())

    probe = make(visible)

    assert {path.split("/")[1] for path in probe.sample(0.0)} == {"0", "2"}
    assert probe.facts()["facts/gpu/2/name"] == "NVIDIA Test H100"


@pytest.mark.parametrize(
    ("code", "state"), [(LOST, "lost: GPU is lost"), (999, "fails: Unknown Error")]
)
@pytest.mark.parametrize("visible", [None, "0,1", "GPU-0,GPU-1"])
def test_a_gpu_that_cannot_be_had_at_the_start_says_why_and_is_tried_again(
    driver, code, state, visible
):
    card = Card(fails={"handle": code})
    driver(Card(), card)
    probe = make(visible)
    probe.sample(0.0)
    news = probe.news()
    card.fails.clear()

    early, later = probe.sample(20.0), probe.sample(40.0)
    back = probe.news()

    assert news["facts/gpu/1/state"] == state
    assert "facts/gpu/0/state" not in news
    assert "gpu/1/utilization_percent" not in early
    assert "gpu/1/utilization_percent" in later
    assert back["facts/gpu/1/state"] == "present"
    assert back["facts/gpu/1/name"] == "NVIDIA Test H100"
    assert back["facts/gpu_count"] == 2


@pytest.mark.parametrize(
    ("code", "visible", "rank"),
    [
        (FORBIDDEN, None, None),
        (LOST, "0", None),
        (LOST, "GPU-0", None),
        (LOST, None, 1),
    ],
    ids=["forbidden", "of other numbers", "of other ids", "for the first rank to tell"],
)
def test_a_gpu_that_is_not_ours_to_tell_of_is_passed_over(driver, code, visible, rank):
    driver(Card(), Card(fails={"handle": code}))
    probe = make(visible, local_rank=rank)

    probe.sample(0.0)

    assert not any(path.endswith("/state") for path in probe.news())


def test_of_lost_gpus_those_are_told_whose_numbers_are_listed(driver):
    lost = {"handle": LOST}
    driver(Card(), Card(fails=lost), Card(fails=lost))
    probe = make("0,1")

    probe.sample(0.0)

    states = {path for path in probe.news() if path.endswith("/state")}
    assert states == {"facts/gpu/1/state"}


def test_where_numbers_may_mean_any_card_a_lost_one_is_nobodys(driver):
    driver(Card(name="T1000"), Card(name="H100"), Card(fails={"handle": LOST}))
    probe = make("0,1")

    probe.sample(0.0)

    assert not any(path.endswith("/state") for path in probe.news())


def test_where_every_gpu_is_lost_nobody_says_that_there_is_none(driver):
    card = Card(fails={"handle": LOST})
    driver(card)
    probe = make()

    facts, sample, news = probe.facts(), probe.sample(0.0), probe.news()
    *_, check = look_at_machine({})

    assert "facts/gpu_count" not in facts
    assert "lost all GPUs" in check.text
    assert sample == {}
    assert news == {"facts/gpu/0/state": "lost: GPU is lost"}


def test_where_no_gpu_is_ours_nobody_says_that_there_is_none(driver):
    driver(Card(fails={"handle": FORBIDDEN}))

    with pytest.raises(ProbeUnavailable):
        make()


def test_what_this_user_may_not_ask_is_told_and_asked_once(driver):
    card = Card(forbidden={RX_BYTES})
    card.fails["nvmlDeviceGetProcessUtilization"] = FORBIDDEN
    library = driver(card, Card())
    probe = make()

    for now in range(0, 20, 5):
        probe.sample(float(now))
    news = probe.news()

    less = news["facts/gpu/0/asked_less"]
    assert less == "counters: in part not permitted, shares: not permitted"
    assert "facts/gpu/1/asked_less" not in news
    assert library.asked_fields.count(RX_BYTES) == 2


@pytest.mark.parametrize("visible", [None, "GPU-1111", "1"])
def test_a_gpu_that_must_be_reset_leaves_the_others_their_facts(driver, visible):
    driver(Card(fails={"all": RESET_REQUIRED}), Card())
    probe = make(visible)

    assert probe.facts()["facts/gpu/1/name"] == "NVIDIA Test H100"
    assert "gpu/1/utilization_percent" in probe.sample(0.0)


@pytest.mark.parametrize(
    ("visible", "indices"),
    [
        ("0", {0}),
        ("1,0", {0, 1}),
        ("GPU-1111", {1}),
        ("", set()),
        ("-1", set()),
        ("1,-1,0", {1}),
    ],
)
def test_only_gpus_this_process_may_see_are_read(driver, visible, indices):
    driver(Card(), Card())
    probe = make(visible)

    assert probe.facts()["facts/gpu_count"] == len(indices)
    assert {int(path.split("/")[1]) for path in probe.sample(0.0)} == indices


def test_counters_of_nanoseconds_become_shares_of_time(driver):
    card = Card(fields={POWER_POLICY: 10**9, HW_THERMAL: 0}, mask=0x4 | 0x8)
    driver(card)
    probe = make()
    first = probe.sample(0.0)
    card.fields.update({POWER_POLICY: 2 * 10**9, HW_THERMAL: 10**8})

    sample = probe.sample(5.0)

    # Never from the mask where there is a counter.
    assert "gpu/0/limited/power_share" not in first
    assert sample["gpu/0/limited/power_share"] == pytest.approx(0.2)
    assert sample["gpu/0/limited/thermal_hardware_share"] == pytest.approx(0.02)
    assert sample["gpu/0/limited/hardware_slowdown_share"] == 1
    assert probe.chosen["gpu/<i>/limited/power_share"] == "NVML counters"
    assert probe.chosen["gpu/<i>/limited/power_brake_share"] == "NVML event reasons"


def test_without_counters_the_mask_says_what_holds_at_the_moment(driver):
    driver(Card(mask=0x4 | 0x1))
    probe = make()

    sample = probe.sample(0.0)

    assert sample["gpu/0/limited/power_share"] == 1
    assert sample["gpu/0/limited/thermal_hardware_share"] == 0
    assert sample["gpu/0/idle_share"] == 1
    assert probe.chosen["gpu/<i>/limited/power_share"] == "NVML event reasons"


def test_reasons_of_newer_drivers_are_told_by_those_alone(driver):
    library = driver(
        Card(mask=0x200, reasons=0x7FF),
        Card(),
        Card(lacks={"nvmlDeviceGetSupportedClocksEventReasons"}),
    )
    probe = make()
    probe.sample(0.0)

    sample = probe.sample(1.0)

    assert sample["gpu/0/limited/board_share"] == 1
    assert sample["gpu/0/limited/reliability_share"] == 0
    # An older driver always reports 0.
    assert "gpu/1/limited/board_share" not in sample
    assert sample["gpu/2/limited/power_share"] == 1
    assert "gpu/2/limited/board_share" not in sample
    assert library.calls.count("nvmlDeviceGetSupportedClocksEventReasons") == 3


def test_reasons_that_a_card_does_not_tell_are_absent_and_not_zero(driver):
    driver(Card(mask=0x4, reasons=0x4 | 0x20))

    sample = make().sample(0.0)

    limits = {path: value for path, value in sample.items() if "/limited/" in path}
    assert limits == {
        "gpu/0/limited/power_share": 1,
        "gpu/0/limited/thermal_software_share": 0,
    }
    assert "gpu/0/idle_share" not in sample


def stop_answering(probe, card):
    card.fails["nvmlDeviceGetFieldValues"] = 999


def become_too_dear(probe, card):
    (gpu,) = probe._gpus.values()
    (counters,) = (call for call in gpu.calls if call.name == "counters")
    counters.is_offered = False


def lose_fields(probe, card):
    card.fields.clear()


@pytest.mark.parametrize("end", [stop_answering, become_too_dear, lose_fields])
def test_what_counters_no_longer_tell_is_told_by_what_is_left(driver, end):
    card = Card(fields={POWER_POLICY: 0, RX_BYTES: 0}, gpm={20: 3.0, 21: 2.0})
    driver(card)
    probe = make()
    counted = {**probe.sample(0.0), **probe.sample(5.0)}
    by_counters = probe.chosen
    end(probe, card)

    for now in (10.0, 15.0, 20.0):
        probe.sample(now)
    sample, chosen = probe.sample(21.0), probe.chosen

    limited, received = "limited/power_share", "pcie_receive_bytes_per_second"
    assert (counted[f"gpu/0/{limited}"], counted[f"gpu/0/{received}"]) == (0, 0)
    assert by_counters[f"gpu/<i>/{limited}"] == "NVML counters"
    assert by_counters[f"gpu/<i>/{received}"] == "NVML counters"
    assert (sample[f"gpu/0/{limited}"], sample[f"gpu/0/{received}"]) == (1, 2 * 2**20)
    assert chosen[f"gpu/<i>/{limited}"] == "NVML event reasons"
    assert chosen[f"gpu/<i>/{received}"] == "GPM"


def test_counters_that_miss_a_turn_are_not_mixed_with_anything_else(driver):
    card = Card(fields={POWER_POLICY: 0})
    driver(card)
    probe = make()
    probe.sample(0.0)
    card.fails["nvmlDeviceGetFieldValues"] = 999

    sample = probe.sample(5.0)

    assert "gpu/0/limited/power_share" not in sample


def test_the_window_measures_what_hardware_counters_no_longer_do(driver):
    card = Card(gpm={20: 3.0, 21: 2.0})
    driver(card)
    probe = make()
    probe.sample(0.0)
    probe.sample(1.0)
    card.fails["nvmlGpmSampleGet"] = 999

    for now in (2.0, 3.0, 4.0):
        probe.sample(now)
    sample = probe.sample(31.0)

    assert sample["gpu/0/pcie_receive_bytes_per_second"] == 2_000_000
    assert probe.chosen["gpu/<i>/pcie_receive_bytes_per_second"] == "NVML, 20 ms"


def test_energy_is_joules_since_the_agent_began_even_after_a_reset(driver):
    card = Card(fields={ENERGY: 5_000_000})
    driver(card)
    probe = make()
    assert probe.sample(0.0)["gpu/0/energy_joules"] == 0
    card.fields[ENERGY] = 6_000_000
    later = probe.sample(5.0)
    card.fields[ENERGY] = 500_000

    after_reset = probe.sample(10.0)

    assert later["gpu/0/energy_joules"] == 1_000
    assert later["gpu/0/power_mean_watts"] == 200
    assert after_reset["gpu/0/energy_joules"] == 1_500
    assert "gpu/0/power_mean_watts" not in after_reset


def test_counts_go_on_when_the_driver_comes_back_with_other_numbers(driver):
    card = Card(fields={ENERGY: 5_000_000, REPLAYS: 7}, uuid="GPU-a")
    driver(card, Card(uuid="GPU-b"))
    kept = Kept()
    probe = make(kept=kept)
    probe.sample(0.0)
    card.fields.update({ENERGY: 6_000_000, REPLAYS: 9})
    probe.sample(60.0)
    probe.close()
    card.fields.update({ENERGY: 500_000, REPLAYS: 1})
    driver(Card(uuid="GPU-b"), card)

    sample = make(kept=kept).sample(100.0)

    assert sample["gpu/1/energy_joules"] == 1_500
    assert sample["gpu/1/pcie_replays"] == 3
    assert sample["gpu/0/energy_joules"] == 0
    # The duration without the counter is unknown.
    assert "gpu/1/power_mean_watts" not in sample


def test_energy_goes_on_after_the_driver_was_away(driver, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    card = Card(fields={ENERGY: 5_000_000})
    library = driver(card)
    recorder = Recorder(Notices(), wake=lambda: False, strict=False)
    recorder.begin(None)
    turns = ScheduledProbe(NvmlProbe, Job(), Logbook("m", recorder, 1.0), Notices())

    def take(now):
        turns.take(float(now), now)
        changes = recorder.buffer.take_changes()
        rows = recorder.buffer.take_rows(2**20)
        read = [read_row(row, 0, recorder.layouts.by_number) for row in rows]
        return {c.path: c.value for c in changes}, values_of(read)

    take(0)
    library.has_driver = False
    card.fails["all"] = UNLOADED
    states = [take(now)[0].get("m/facts/probes/nvml") for now in range(40, 400, 40)]
    library.has_driver = True
    card.fails.clear()
    card.fields[ENERGY] = 700_000

    facts, values = take(400)

    assert states[-1] is None
    assert [s for s in states if s] == [
        "fails: DriverGone('Driver Not Loaded')",
        "fails: no NVIDIA driver (Driver Not Loaded)",
    ]
    assert facts["m/facts/probes/nvml"] == "measured"
    assert values["m/gpu/0/energy_joules"] == 700


def values_of(rows):
    return {
        path: struct.unpack_from("<d", row.values, 8 * place)[0]
        for row in rows
        for place, path in enumerate(row.paths)
    }


def test_a_gpu_that_was_lost_is_said_to_be_back_by_the_next_probe(driver):
    card = Card(fails={"all": LOST})
    driver(card)
    kept = Kept()
    probe = make(kept=kept)
    probe.sample(0.0)
    card.fails.clear()

    anew = make(kept=kept)
    anew.sample(60.0)

    assert probe.news()["facts/gpu/0/state"] == "present"
    assert anew.news()["facts/gpu/0/state"] == "present"


def test_mean_power_is_that_of_the_energy_where_the_card_counts_it(driver):
    card = Card(fields={ENERGY: 0}, samples={POWER_SAMPLES: [(1, 999_000)]})
    driver(card)
    probe = make()
    probe.sample(0.0)
    card.fields[ENERGY] = 1_000_000
    card.samples[POWER_SAMPLES] += [(2, 999_000)]
    sample = probe.sample(5.0)
    card.fields[ENERGY] = 0
    card.samples[POWER_SAMPLES] += [(3, 999_000)]

    after_reset = probe.sample(10.0)

    assert sample["gpu/0/power_mean_watts"] == 200
    assert sample["gpu/0/power_max_watts"] == 999
    assert "gpu/0/power_mean_watts" not in after_reset
    described = Described().add(sample, probe.readings, probe.chosen)
    assert "gpu/<i>/power_mean_watts\tW\tGPU\t1\tNVML counters" in described


def test_mean_power_is_that_of_the_samples_where_no_energy_is_counted(driver):
    lacks = {"nvmlDeviceGetTotalEnergyConsumption"}
    card = Card(samples={POWER_SAMPLES: [(1, 100_000)]}, lacks=lacks)
    driver(card)
    probe = make()
    probe.sample(0.0)
    card.samples[POWER_SAMPLES] += [(2, 100_000), (3, 300_000)]

    sample = probe.sample(5.0)

    assert sample["gpu/0/power_mean_watts"] == 200
    described = Described().add(sample, probe.readings, probe.chosen)
    assert "gpu/<i>/power_mean_watts\tW\tGPU\t0.8\tNVML samples" in described


def test_energy_comes_from_a_call_where_there_is_no_field(driver):
    card = Card()
    driver(card)
    probe = make()
    probe.sample(0.0)
    card.millijoules += 1_000

    assert probe.sample(5.0)["gpu/0/energy_joules"] == 1


def test_bytes_are_rates_and_links_are_summed(driver):
    card = Card(fields={RX_BYTES: 0, NVLINK_TX: 0})
    driver(card)
    probe = make()
    probe.sample(0.0)
    card.fields.update({RX_BYTES: 5_000, NVLINK_TX: 10})

    sample = probe.sample(5.0)

    assert sample["gpu/0/pcie_receive_bytes_per_second"] == 1_000
    assert sample["gpu/0/nvlink_send_bytes_per_second"] == 2_048
    assert "gpu/0/pcie_send_bytes_per_second" not in sample


@pytest.mark.parametrize(
    ("gpm", "received", "source"),
    [
        ({20: 3.0, 21: 2.0}, 2 * 2**20, "GPM"),
        ({}, 2_000_000, "NVML, 20 ms"),
    ],
    ids=["with hardware counters", "without"],
)
def test_bytes_that_are_counted_in_32_bits_come_from_elsewhere(
    driver, gpm, received, source
):
    fields = {RX_BYTES: 2**31, TX_BYTES: 0}
    card = Card(fields=fields, narrow={RX_BYTES, TX_BYTES}, gpm=gpm, has_gpm=bool(gpm))
    driver(card)
    probe = make()
    probe.sample(0.0)
    # More than 32 bits hold between two readings.
    card.fields[RX_BYTES] += 2**32 + 5_000

    sample = probe.sample(31.0)

    assert sample["gpu/0/pcie_receive_bytes_per_second"] == received
    assert probe.chosen["gpu/<i>/pcie_receive_bytes_per_second"] == source
    assert "counters" not in probe.news()["facts/gpu/0/measured_with"]


def test_errors_count_from_the_agents_beginning_and_what_stands_stands(driver):
    card = Card(fields={REPLAYS: 7, UNCORRECTED: 2, PENDING: 1})
    driver(card)
    probe = make()
    first = probe.sample(0.0)
    card.fields[REPLAYS] = 9

    later = probe.sample(60.0)

    assert first["gpu/0/pcie_replays"] == 0
    assert first["gpu/0/ecc_uncorrected"] == 2
    assert first["gpu/0/remapped_rows_pending"] == 1
    assert "gpu/0/nvlink_errors" not in first
    assert later["gpu/0/pcie_replays"] == 2


def test_the_drivers_samples_are_a_distribution_of_what_is_new(driver):
    card = Card(samples={UTILIZATION_SAMPLES: [(t, 100) for t in range(1, 50)]})
    driver(card)
    probe = make()
    first = probe.sample(0.0)
    # Half of the time idle, which a mean does not show.
    card.samples[UTILIZATION_SAMPLES] += [(50 + t, 100 * (t % 2)) for t in range(20)]

    sample = probe.sample(5.0)

    assert "gpu/0/utilization_p50_percent" not in first
    assert sample["gpu/0/utilization_p5_percent"] == 0
    assert sample["gpu/0/utilization_p95_percent"] == 100
    assert sample["gpu/0/utilization_samples"] == 20
    assert sample["gpu/0/utilization_min_percent"] == 0
    assert sample["gpu/0/utilization_mean_percent"] == 50
    assert sample["gpu/0/utilization_max_percent"] == 100
    assert "gpu/0/utilization_samples" not in probe.sample(10.0)


@pytest.mark.parametrize("engine", ["ENC", "DEC", "JPG"])
def test_engines_that_work_in_bursts_show_them_in_the_drivers_samples(driver, engine):
    kind = getattr(pynvml, f"NVML_{engine}_UTILIZATION_SAMPLES")
    name = {"ENC": "encoder", "DEC": "decoder", "JPG": "jpeg"}[engine]
    card = Card(samples={kind: [(1, 50)]})
    driver(card)
    probe = make()
    probe.sample(0.0)

    card.samples[kind] += [(moment, 100 * (moment == 9)) for moment in range(2, 12)]
    sample = probe.sample(10.0)

    assert sample[f"gpu/0/{name}_samples"] == 10
    assert sample[f"gpu/0/{name}_p50_percent"] == 0
    assert sample[f"gpu/0/{name}_p95_percent"] > 0


def test_engines_that_hardware_counters_tell_of_are_not_sampled(driver):
    kind = pynvml.NVML_DEC_UTILIZATION_SAMPLES
    card = Card(
        gpm={pynvml.NVML_GPM_METRIC_NVDEC_0_UTIL: 9.0}, samples={kind: [(1, 5)]}
    )
    driver(card)
    probe = make()
    probe.sample(0.0)
    probe.sample(1.0)
    card.samples[kind] += [(2, 5)]

    sample = probe.sample(10.0)

    assert sample["gpu/0/gpm/decoder_busiest_percent"] == 9
    assert "gpu/0/decoder_samples" not in sample


def test_of_questions_that_cost_much_few_are_asked_in_one_turn(driver):
    driver(Card(samples={kind: [(1, 5)] for kind in range(9)}))
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    # 2 ms of CPU time per read, so that a turn ends after two queries.
    spent = itertools.count(step=0.002)
    gpu = Gpu(pynvml, handle, Pids(os.getpid()), spent.__next__)

    first = gpu.sample(0.0)
    answered = {call.name for call in gpu.calls if call.has_answered}
    for turn in range(1, 20):
        gpu.sample(float(turn))

    # Queries of each second are never postponed.
    assert first["utilization_percent"] == 90
    assert not {"users", "health"} & answered
    assert {call.name for call in gpu.calls if call.is_offered} == {
        call.name for call in gpu.calls if call.has_answered
    }


@pytest.mark.parametrize("links", [0, 2])
def test_links_that_a_card_does_not_have_say_nothing(driver, links):
    to_cpu = {pynvml.NVML_FI_DEV_C2C_LINK_COUNT: links} if links else {}
    sent = {
        pynvml.NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC: 3.0,
        pynvml.NVML_GPM_METRIC_C2C_TOTAL_TX_PER_SEC: 5.0,
    }
    lacks = set() if links else {"nvmlDeviceGetNvLinkState"}
    driver(Card(gpm=sent, fields=to_cpu, lacks=lacks))
    probe = make()
    probe.sample(0.0)

    sample = probe.sample(1.0)

    for kind in ("nvlink", "c2c"):
        assert (f"gpu/0/{kind}_send_bytes_per_second" in sample) is bool(links)


def test_time_below_the_application_clocks_is_counted_whatever_the_reason(driver):
    field = pynvml.NVML_FI_DEV_PERF_POLICY_TOTAL_APP_CLOCKS
    card = Card(fields={field: 0})
    driver(card)
    probe = make()
    probe.sample(0.0)

    card.fields[field] = 2_500_000_000
    sample = probe.sample(10.0)

    assert sample["gpu/0/limited/any_reason_share"] == 0.25


def test_the_version_of_nvlink_is_named(driver):
    driver(Card(), Card(lacks={"nvmlDeviceGetNvLinkVersion"}))

    facts = make().facts()

    assert facts["facts/gpu/0/nvlink_version"] == "4_0"
    assert "facts/gpu/1/nvlink_version" not in facts


def test_hardware_counters_compare_with_the_sample_before(driver):
    card = Card(gpm={2: 55.0, 5: 30.0, 10: float("nan"), 21: 2.0, 30: 1.0, 33: 9.0})
    library = driver(card)
    probe = make()

    first, second = probe.sample(0.0), probe.sample(1.0)
    calls = library.calls.count("nvmlGpmSampleGet")
    probe.close()

    assert not any("/gpm/" in path for path in first)
    assert second["gpu/0/gpm/sm_active_percent"] == 55
    assert second["gpu/0/gpm/tensor_active_percent"] == 30
    assert second["gpu/0/gpm/decoder_busiest_percent"] == 9
    assert second["gpu/0/pcie_receive_bytes_per_second"] == 2 * 2**20
    assert "gpu/0/gpm/dram_active_percent" not in second
    assert "gpu/0/gpm/sm_occupancy_percent" not in second
    assert calls == 2
    assert library._gpm_samples == {}


def test_a_gpu_says_what_it_was_measured_with(driver):
    driver(Card(gpm={2: 1.0}, fields={ENERGY: 1, POWER_POLICY: 1}), Card(has_gpm=False))
    probe = make()
    probe.sample(0.0)

    news = probe.news()

    assert news["facts/gpu/0/measured_with"] == "gpm, counters, nvml"
    assert news["facts/gpu/1/measured_with"] == "nvml"


def test_slices_have_memory_and_hardware_counters_of_their_own(driver):
    driver(Card(slices=2, gpm={2: 55.0}))
    probe = make()
    probe.sample(0.0)

    sample, facts = probe.sample(1.0), probe.facts()

    assert sample["gpu/0/mig/1/memory_used_bytes"] == 5 * GIB
    assert sample["gpu/0/mig/1/gpm/sm_active_percent"] == 55
    assert "gpu/0/mig/2/memory_used_bytes" not in sample
    assert "gpu/0/utilization_percent" not in sample
    assert "gpu/0/gpm/sm_active_percent" not in sample
    assert sample["gpu/0/power_watts"] == 250.5
    assert facts["facts/gpu/0/is_mig_on"] is True
    assert facts["facts/gpu/0/mig/0/uuid"] == "MIG-0000-1"
    assert probe.news()["facts/gpu/0/mig/1/measured_with"] == "gpm, nvml"


def test_a_slice_that_is_lost_leaves_its_card(driver):
    card = Card(slices=1, gpm={2: 55.0})
    driver(card)
    probe = make()
    probe.sample(0.0)
    card.fails["nvmlGpmMigSampleGet"] = LOST
    probe.sample(1.0)
    news = probe.news()

    later = probe.sample(2.0)

    assert later["gpu/0/power_watts"] == 250.5
    assert "gpu/0/mig/0/memory_used_bytes" not in later
    assert news["facts/gpu/0/mig/0/state"] == "lost: GPU is lost"
    assert "facts/gpu/0/state" not in news


def test_a_slice_of_which_no_question_is_answered_says_so(driver):
    card = Card(slices=1)
    driver(card)
    probe = make()
    card.fails["all"] = 999

    probe.sample(0.0)

    assert probe.news()["facts/gpu/0/mig/0/state"] == "fails: Unknown Error"


def test_the_jobs_processes_and_others_are_told_apart(driver):
    me, other = os.getpid(), 999_999_999
    card = Card(processes=[(me, 3 * GIB), (other, GIB)])
    driver(card)

    sample = make().sample(0.0)

    assert sample["gpu/0/processes"] == 2
    assert sample["gpu/0/job_memory_bytes"] == 3 * GIB
    assert sample["gpu/0/other_processes"] == 1
    assert sample["gpu/0/other_memory_bytes"] == GIB


def test_shares_of_processes_are_of_what_is_new_and_idle_is_zero(driver):
    card = Card(processes=[(os.getpid(), GIB)], shares=[(1, os.getpid(), 80)])
    driver(card)
    probe = make()
    first = probe.sample(0.0)
    card.processes += [(999_999_999, GIB)]
    card.shares += [(2, os.getpid(), 70, 40, 0, 5), (2, 999_999_999, 20)]
    second = probe.sample(5.0)

    idle = probe.sample(10.0)

    assert "gpu/0/job_sm_percent" not in first
    assert second["gpu/0/job_sm_percent"] == 70
    assert second["gpu/0/job_memory_utilization_percent"] == 40
    assert second["gpu/0/job_decoder_percent"] == 5
    assert second["gpu/0/other_sm_percent"] == 20
    assert idle["gpu/0/job_sm_percent"] == 0


def test_who_is_alone_on_a_gpu_is_asked_of_seldom_until_others_come(driver):
    me, other = os.getpid(), 999_999_999
    card = Card(processes=[(me, GIB)], shares=[(1, me, 80)])
    library = driver(card)
    probe = make()
    asked = []
    for turn in range(12):
        if turn == 9:
            card.processes.append((other, GIB))
        before = len(library.calls)
        probe.sample(5.0 * turn)
        asked.append("nvmlDeviceGetProcessUtilization" in library.calls[before:])

    assert [turn for turn, was_asked in enumerate(asked) if was_asked] == [
        *(0, 1, 7),
        *(9, 10, 11),
    ]


def test_who_only_draws_with_a_gpu_is_seen_in_its_shares(driver):
    me, other = os.getpid(), 999_999_999
    # The driver lists those that compute.
    card = Card(processes=[(me, GIB)], shares=[(1, me, 80)])
    driver(card)
    probe = make()
    probe.sample(0.0)
    seen = []
    for turn in range(1, 4):
        card.shares += [(1 + turn, me, 80), (1 + turn, other, 20)]
        seen.append(probe.sample(5.0 * turn).get("gpu/0/other_sm_percent"))

    assert seen == [20, 20, 20]


def test_after_a_step_back_of_the_clock_samples_begin_anew(driver):
    # Microseconds since 1970, an hour ahead of the clock.
    now = int(time.time() * 1e6)
    ahead = now + 3_600_000_000
    me = os.getpid()
    card = Card(samples={UTILIZATION_SAMPLES: [(ahead, 50)]}, shares=[(ahead, me, 50)])
    driver(card)
    probe = make()
    probe.sample(0.0)
    card.samples[UTILIZATION_SAMPLES], card.shares = [(now, 50)], [(now, me, 50)]
    anew = probe.sample(5.0)
    card.samples[UTILIZATION_SAMPLES] += [(now + 1, 80)]
    card.shares += [(now + 1, me, 80)]

    later = probe.sample(10.0)

    # Absent, and never 0.
    assert "gpu/0/job_sm_percent" not in anew
    assert "gpu/0/utilization_samples" not in anew
    assert later["gpu/0/job_sm_percent"] == 80
    assert later["gpu/0/utilization_p50_percent"] == 80


def test_every_path_is_described(driver):
    fields = dict.fromkeys(range(1, pynvml.NVML_FI_MAX), 1)
    samples = {kind: [(1, 5), (2, 5)] for kind in range(9)}
    gpm = dict.fromkeys(range(1, pynvml.NVML_GPM_METRIC_MAX), 1.0)
    links = {(number, link): 1 for number in BY_LINK for link in range(4)}
    card = Card(fields=fields, links=links, samples=samples, gpm=gpm)
    driver(card, Card(slices=1, gpm=gpm))
    probe = make()
    described = {reading.path for reading in probe.readings}
    stated = {fact.path for fact in probe.states}

    seen: set[str] = set()
    for now in (0.0, 60.0):
        seen |= {pattern_of(path) for path in probe.sample(now)}
        card.fields = dict.fromkeys(fields, 2)
        card.samples = {kind: [(3, 5)] for kind in range(9)}

    assert seen <= described
    assert len(seen) > 70
    assert {pattern_of(path) for path in probe.facts()} <= stated | {"facts/gpu_count"}


def test_pcie_is_measured_by_the_call_that_blocks_only_where_nothing_else_tells(driver):
    library = driver(
        Card(has_gpm=False),
        Card(gpm={21: 2.0}),
        Card(has_gpm=False, fields={RX_BYTES: 0}),
    )
    probe = make()

    first, second, third = (probe.sample(float(now)) for now in (0, 1, 31))

    assert "gpu/0/pcie_send_bytes_per_second" not in {**first, **second}
    assert third["gpu/0/pcie_send_bytes_per_second"] == 1_000_000
    assert third["gpu/0/pcie_receive_bytes_per_second"] == 2_000_000
    assert second["gpu/1/pcie_receive_bytes_per_second"] == 2 * 2**20
    assert library.calls.count("nvmlDeviceGetPcieThroughput") == 2


def test_the_source_of_pcie_traffic_is_told(driver):
    driver(Card(has_gpm=False))
    probe = make()
    probe.sample(0.0)

    assert probe.chosen["gpu/<i>/pcie_send_bytes_per_second"] == "NVML, 20 ms"


def test_nvlink_5_is_summed_over_the_links_that_there_are(driver):
    sent, errors = (
        pynvml.NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES,
        pynvml.NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS,
    )
    links = {(number, link): 100 for number in (sent, errors) for link in range(18)}
    card = Card(links=links)
    driver(card)
    probe = make()
    first = probe.sample(0.0)
    for link in range(18):
        links[sent, link] += 500
    links[errors, 3] += 2

    later = probe.sample(5.0)
    del links[errors, 7]
    without_a_link = probe.sample(60.0)

    assert "gpu/0/nvlink_send_bytes_per_second" not in first
    assert later["gpu/0/nvlink_send_bytes_per_second"] == 1_800
    assert first["gpu/0/nvlink_errors"] == 0
    # A sum that lacks a link is no sum, and no reset either.
    assert without_a_link["gpu/0/nvlink_errors"] == 0
    assert "gpu/0/nvlink_discarded_packets" not in first


def test_errors_of_links_are_counted_once_by_whatever_counts_them(driver):
    old, crc, replays = (
        pynvml.NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL,
        pynvml.NVML_FI_DEV_NVLINK_ERROR_DL_CRC,
        pynvml.NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY,
    )
    links = {(field, link): 0 for field in (crc, replays) for link in range(18)}
    # On Hopper the old counter stays at 0; on earlier cards both may count.
    hopper, before = Card(fields={old: 0}, links=links), Card(fields={old: 0})
    before.links = dict(links)
    driver(hopper, before)
    probe = make()
    probe.sample(0.0)
    hopper.links[crc, 17] = 3
    hopper.links[replays, 0] = 2
    before.links[replays, 0] = before.fields[old] = 4

    sample = probe.sample(60.0)

    assert sample["gpu/0/nvlink_errors"] == 5
    assert sample["gpu/1/nvlink_errors"] == 4


def test_errors_of_lanes_are_summed_over_the_lanes_that_there_are(driver):
    field = pynvml.NVML_FI_DEV_PCIE_COUNT_LANE_ERROR
    card = Card(links={(field, lane): 1 for lane in range(8)})
    driver(card)
    probe = make()
    first = probe.sample(0.0)
    card.links[field, 7] += 5

    assert first["gpu/0/pcie_lane_errors"] == 0
    assert probe.sample(60.0)["gpu/0/pcie_lane_errors"] == 5


def test_links_are_counted_after_the_start_too(driver):
    driver(Card(), Card(lacks={"nvmlDeviceGetNvLinkState"}))

    sample = make().sample(0.0)

    assert sample["gpu/0/nvlinks"] == 3
    assert "gpu/1/nvlinks" not in sample


def test_where_cards_tell_margins_thresholds_are_margins(driver):
    slowdown = pynvml.NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT
    driver(
        Card(fields={slowdown: -2}, lacks={"nvmlDeviceGetTemperatureThreshold"}), Card()
    )

    facts = make().facts()

    assert facts["facts/gpu/0/temperature_slowdown_margin_celsius"] == -2
    assert "facts/gpu/0/temperature_slowdown_celsius" not in facts
    assert facts["facts/gpu/1/temperature_slowdown_celsius"] == 90
    assert "facts/gpu/1/temperature_slowdown_margin_celsius" not in facts


def test_a_limit_that_was_asked_for_is_told_apart_from_the_one_that_is_enforced(driver):
    driver(Card(fields={pynvml.NVML_FI_DEV_POWER_REQUESTED_LIMIT: 500_000}))

    sample = make().sample(0.0)

    assert sample["gpu/0/power_limit_watts"] == 400
    assert sample["gpu/0/power_limit_requested_watts"] == 500


def test_caches_that_nobody_asks_have_no_share_of_hits(driver):
    hit, miss = (
        pynvml.NVML_GPM_METRIC_DRAM_CACHE_HIT,
        pynvml.NVML_GPM_METRIC_DRAM_CACHE_MISS,
    )
    idle = pynvml.NVML_GPM_METRIC_PEERMEM_CACHE_HIT
    driver(Card(gpm={hit: 30.0, miss: 70.0, idle: 0.0, idle + 1: 0.0}))
    probe = make()
    probe.sample(0.0)

    sample = probe.sample(1.0)

    assert sample["gpu/0/gpm/dram_cache_hit_percent"] == 30
    assert "gpu/0/gpm/peer_memory_cache_hit_percent" not in sample


def test_a_process_of_a_slice_reads_the_card_that_it_is_of(driver):
    driver(Card(slices=2), Card(slices=2))
    probe = make("MIG-1111-2")

    assert probe.facts()["facts/gpu_count"] == 1
    assert {path.split("/")[1] for path in probe.sample(0.0)} == {"1"}


def test_of_a_slice_that_the_driver_does_not_know_all_cards_are_read(driver):
    driver(Card(), Card())
    probe = make("MIG-abc")

    assert probe.facts()["facts/gpu_count"] == 1
    assert {path.split("/")[1] for path in probe.sample(0.0)} == {"0", "1"}


@pytest.mark.parametrize(
    ("visible", "order", "read"),
    [
        ("0", "PCI_BUS_ID", {0}),
        # CUDA's device 0 is the fastest; only CUDA knows its index.
        ("0", "", {0, 1}),
        ("GPU-1111", "", {1}),
    ],
)
def test_a_number_of_cudas_is_the_drivers_only_where_it_is_sure_to_be(
    driver, visible, order, read
):
    driver(Card(name="T1000"), Card(name="H100"))
    environment = {"CUDA_VISIBLE_DEVICES": visible, "CUDA_DEVICE_ORDER": order}
    probe = NvmlProbe(pynvml, environment)

    assert probe.facts()["facts/gpu_count"] == 1
    assert {int(path.split("/")[1]) for path in probe.sample(0.0)} == read


@pytest.mark.parametrize("visible", ["2,0,1", "GPU-2,GPU-0,GPU-1", "2,GPU-0,1"])
def test_a_ranks_own_gpu_is_at_its_place_in_the_list(driver, visible):
    driver(Card(), Card(), Card())
    environment = {"CUDA_VISIBLE_DEVICES": visible}

    read = [
        {
            int(path.split("/")[1])
            for path in NvmlProbe(pynvml, environment, job=Job(local_rank=rank)).sample(
                0.0
            )
        }
        for rank in range(3)
    ]

    assert read == [{0, 1, 2}, {0}, {1}]


def test_where_the_order_of_gpus_is_not_known_the_first_rank_reads_them_all(driver):
    driver(Card(name="T1000"), Card(name="H100"))
    ranks = [NvmlProbe(pynvml, {}, job=Job(local_rank=rank)) for rank in range(2)]

    assert "gpu/1/utilization_percent" in ranks[0].sample(0.0)
    assert ranks[1].sample(0.0) == {}


@pytest.mark.parametrize(
    ("local_rank", "visible", "read"),
    [
        (None, None, {0, 1}),
        (0, None, {0, 1}),
        (1, None, {1}),
        (5, None, set()),
        (1, "0", {0}),
    ],
)
def test_each_further_rank_of_a_machine_reads_its_own_gpu(
    driver, local_rank, visible, read
):
    driver(Card(), Card())
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    probe = NvmlProbe(pynvml, environment, job=Job(local_rank=local_rank))

    assert {int(path.split("/")[1]) for path in probe.sample(0.0)} == read
    assert probe.facts()["facts/gpu_count"] == (2 if visible is None else 1)

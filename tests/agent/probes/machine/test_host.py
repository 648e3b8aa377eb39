from __future__ import annotations

import os
import sys

import pytest

from seamark.probes.machine.cores import (
    CoreTimes,
    core_shares,
    distribution,
    parse_statistics,
)
from seamark.probes.machine.host import HostProbe
from seamark.probes.probe import ProbeUnavailable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

TICKS = os.sysconf("SC_CLK_TCK")


def stat(first, second, waiting=0):
    """Two cores that were busy for so many ticks."""
    return (
        f"cpu  {first + second} 0 0 999 {waiting} 0 0 0 0 0\n"
        f"cpu0 {first} 0 0 500 {waiting} 0 0 0 0 0\n"
        f"cpu1 {second} 0 0 499 0 0 0 0 0 0\n"
        "intr 12345 0 0\nprocs_running 3\nprocs_blocked 1\n"
    )


@pytest.fixture
def processes(tmp_path):
    folder = tmp_path / "proc"
    folder.mkdir()
    (folder / "stat").write_text(stat(0, 0))
    (folder / "loadavg").write_text("1.50 0.7 0.5 2/100 1\n")
    (folder / "cpuinfo").write_text("processor : 0\nmodel name\t: Test CPU\n")
    return folder


def test_a_host_without_gpu_devices_has_no_gpu(tmp_path):
    assert HostProbe(devices=tmp_path).facts()["facts/gpu_count"] == 0


@pytest.mark.parametrize("device", ["nvidia0", "nvidiactl", "kfd", "dxg"])
def test_a_gpu_device_leaves_the_count_to_its_driver(tmp_path, device):
    (tmp_path / device).touch()

    assert "facts/gpu_count" not in HostProbe(devices=tmp_path).facts()


def test_names_the_cpus_that_the_job_may_use(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 8})

    assert HostProbe(devices=tmp_path).facts()["facts/allowed_cpus"] == "0-2,8"


def test_one_busy_core_is_seen_among_idle_ones(processes, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    probe = HostProbe(processes=processes)
    first = probe.sample(0.0)
    (processes / "stat").write_text(stat(2 * TICKS, 0, waiting=TICKS))

    sample = probe.sample(2.0)

    assert "host/cpu_percent" not in first
    assert first["host/running_processes"] == 3
    assert first["host/load"] == 1.5
    assert sample["host/cpu_percent"] == 50
    assert sample["host/cpu_wait_percent"] == 25
    assert sample["cores/busiest_percent"] == 100
    assert sample["cores/median_percent"] == 50
    assert sample["cores/idlest_percent"] == 0
    assert sample["cores/saturated"] == sample["cores/idle"] == 1


def test_only_cores_that_the_job_may_use_are_in_their_distribution():
    before = {0: CoreTimes(0, 0, 0), 1: CoreTimes(0, 0, 0)}
    after = {0: CoreTimes(100, 0, 0), 1: CoreTimes(0, 0, 0)}

    assert core_shares(before, after, 100, {0}) == [1.0]
    assert core_shares(before, after, 100, None) == [1.0, 0.0]
    assert distribution([]) == {}


def test_counters_of_another_machine_are_no_reading(processes):
    (processes / "stat").write_text(stat(500, 500))
    probe = HostProbe(processes=processes)
    probe.sample(0.0)
    (processes / "stat").write_text(stat(10, 10))

    assert "host/cpu_percent" not in probe.sample(1.0)


def test_the_processor_is_named_and_its_clock_read(processes, tmp_path):
    clock = tmp_path / "cpu" / "cpu0" / "cpufreq"
    clock.mkdir(parents=True)
    (clock / "scaling_cur_freq").write_text("2400000\n")
    (clock / "cpuinfo_max_freq").write_text("3000000\n")
    probe = HostProbe(processes=processes, system=tmp_path / "cpu")

    facts = probe.facts()

    assert facts["facts/cpu_model"] == "Test CPU"
    assert facts["facts/cpu_max_mhz"] == 3000
    assert probe.sample(0.0)["host/cpu_mhz"] == 2400
    assert "host/cpu_mhz" not in probe.sample(1.0)


def test_without_its_file_there_is_no_probe(tmp_path):
    with pytest.raises(ProbeUnavailable):
        HostProbe(processes=tmp_path)


def test_what_is_not_statistics_is_none():
    assert parse_statistics("nonsense\n") is None

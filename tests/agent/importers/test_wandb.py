"""Import of W&B's text files."""

from __future__ import annotations

import json
import math

import pytest

from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts
from seamark.importers.wandb import (
    Machine,
    are_events,
    drop_other_gpus,
    read_events,
    read_history,
    read_metadata,
)


def events(*rows, machine=None):
    problems = Problems()
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    return list(read_events(lines, problems, machine or Machine())), problems


def history(*rows):
    problems = Problems()
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    return list(read_history(lines, problems, Machine())), problems


def test_metrics_of_gpus_have_our_paths():
    (reading,), problems = events(
        {
            "system.gpu.0.gpu": 45,
            "system.gpu.0.memoryAllocatedBytes": 2**30,
            "system.gpu.0.powerWatts": 70.5,
            "system.gpu.1.temp": 41,
            "system.gpu.0.powerPercent": 30,
            "system.gpu.process.0.gpu": 45,
            "system.gpu.process.1.gpu": 0,
            "_timestamp": 1_700_000_000.5,
            "_runtime": 15.0,
            "_wandb": True,
        }
    )

    assert reading.moment == 1_700_000_000_500_000
    assert reading.values == {
        "gpu/0/utilization_percent": 45.0,
        "gpu/0/memory_used_bytes": 2.0**30,
        "gpu/0/power_watts": 70.5,
        "gpu/1/temperature_celsius": 41.0,
    }
    assert not problems.causes


def test_gpus_of_other_jobs_are_left_out():
    row = {"system.gpu.0.gpu": 85, "system.gpu.3.gpu": 100, "_timestamp": 1}
    own = {"system.gpu.process.0.gpu": 85, "_timestamp": 2}
    readings, problems = events(row, {**row, **own}, row)

    assert [each.values for each in readings] == [{"gpu/0/utilization_percent": 85}] * 3
    assert problems.sentences() == [
        "line 1: GPU 3 is skipped: this run does not use it"
    ]


def test_gpus_of_other_jobs_are_not_counted():
    facts = FileFacts()
    devices = [{"name": "A6000"}, {"name": "A6000"}]
    found = json.dumps({"gpu_count": 2, "gpu_nvidia": devices})
    machine = read_metadata(found, facts)
    row = {"gpu.0.gpu": 0, "gpu.1.gpu": 99, "gpu.process.1.gpu": 99, "_timestamp": 1}

    events(row, row, machine=machine)
    drop_other_gpus(machine, facts)
    # A second file of the run.
    drop_other_gpus(machine, facts)

    assert facts.facts == {"gpu_count": 1, "gpu/1/name": "A6000"}


def test_shares_become_amounts_where_the_whole_is_known():
    machine = Machine(cores=8, gpu_bytes={0: 1000.0})
    row = {"system.gpu.0.memoryAllocated": 25, "system.cpu": 50, "_timestamp": 1}

    assert events(row, machine=machine)[0][0].values == {
        "gpu/0/memory_used_bytes": 250.0,
        "job/main_cpu_cores": 4.0,
    }
    # A percentage of unknown memory stays a share.
    assert events(row)[0][0].values == {"gpu/0/memory_used_share": 0.25}


def test_counters_become_rates():
    readings, _ = events(
        {"system.network.recv": 100, "system.disk.in": 1, "_timestamp": 10},
        {"system.network.recv": 400, "system.disk.in": 3, "_timestamp": 20},
        {"system.network.recv": 0, "system.disk.in": 3, "_timestamp": 30},
    )

    assert [reading.values for reading in readings] == [
        {
            "host/network_receive_bytes_per_second": 30.0,
            "host/disk_read_bytes_per_second": 2 * 2**20 / 10,
        },
        {"host/disk_read_bytes_per_second": 0.0},
    ]


def test_the_busiest_device_gives_the_disks_rate():
    # A partition and the volume on it count the same bytes.
    readings, problems = events(
        {"disk.sda1.in": 1, "disk.dm-0.in": 1, "_timestamp": 10},
        {"disk.sda1.in": 5, "disk.dm-0.in": 4, "_timestamp": 20},
    )

    (reading,) = readings
    assert reading.values == {"host/disk_read_bytes_per_second": 4 * 2**20 / 10}
    assert not problems.causes


def test_old_versions_measure_the_whole_machine_and_group_the_network():
    row = {"cpu": 95, "disk": 32, "network": {"recv": 100}, "_timestamp": 10}
    readings, problems = events(
        row, {**row, "network": {"recv": 400}, "_timestamp": 20}
    )

    assert [each.values for each in readings] == [
        {"host/cpu_percent": 95.0},
        {"host/cpu_percent": 95.0, "host/network_receive_bytes_per_second": 30.0},
    ]
    assert not problems.causes


def test_cores_make_the_hosts_use():
    (reading,), _ = events(
        {
            "system.cpu.0.cpu_percent": 10,
            "system.cpu.1.cpu_percent": 30,
            "_timestamp": 1,
        }
    )

    assert reading.values == {"host/cpu_percent": 20.0}


def test_what_has_no_path_here_is_noted_once():
    row = {"system.tpu": 5, "system.gpu.0.gpu": 5, "_timestamp": 1}

    assert events(row, row)[1].sentences() == [
        "lines 1, 2: 'tpu' is skipped: Seamark has no such metric"
    ]


def test_times_may_count_from_the_start_of_the_run():
    row = {"gpu.0.gpu": 5, "_runtime": 2.5}

    assert events(row)[1].causes["it has no time"] == ([1], 1)
    assert events(row, machine=Machine(start=10))[0][0].moment == 2_500_010


def test_history_keeps_its_names_and_steps():
    (reading,), problems = history(
        {
            "train/loss": 0.5,
            "nested": {"deep": {"value": 2}},
            "bad": "NaN",
            "flag": True,
            "text": "hello",
            "picture": {"_type": "image-file", "width": 5},
            "list": [1, 2],
            "_step": 7,
            "_timestamp": 1_700_000_000,
        }
    )

    assert (reading.step, reading.is_users) == (7.0, True)
    assert math.isnan(reading.values.pop("bad"))
    assert reading.values == {"train/loss": 0.5, "nested/deep/value": 2.0, "flag": 1.0}
    assert reading.others == {
        "text": "hello",
        "picture": {"_type": "image-file", "width": 5},
    }
    assert set(problems.causes) == {"the value of 'list' is not a number"}


def test_history_keeps_numbers_that_no_machine_counts_to():
    (reading,), problems = history({"train/total_flos": 2.3e19, "_timestamp": 1})

    assert reading.values == {"train/total_flos": 2.3e19}
    assert not problems.causes


def test_of_a_machine_such_a_number_is_a_broken_counter():
    readings, problems = events({"system.gpu.0.powerWatts": 2.3e19, "_timestamp": 1})

    assert readings == []
    assert problems.causes["the value of 'gpu.0.powerWatts' is not a number"] == (
        [1],
        1,
    )


@pytest.mark.parametrize(
    "row",
    [
        {"system.gpu.0.gpu": 5, "system.cpu": 5, "_timestamp": 1},
        {"system/gpu.0.gpu": 5, "system/tpu": 5},
        {"gpu.0.gpu": 5, "cpu": 5, "memory": 5, "disk": 5},
        {"cpu.0.cpu_percent": 5, "gpu.process.0.gpu": 5, "proc.memory.rssMB": 5},
    ],
)
def test_system_metrics_are_known_by_their_names(row):
    assert are_events(["", "no JSON", json.dumps(row)])


@pytest.mark.parametrize(
    "row",
    [
        {"loss": 1, "gpu.mem_gb": 5},
        {"loss": 1, "lr": 1, "gpu.0.gpu": 5},
        {"cpu": 5, "memory": 5},
        {"prompt": '"gpu.0.gpu" and "system.cpu"'},
        {"_timestamp": 1},
        [1],
    ],
)
def test_what_a_script_logged_is_no_system_metric(row):
    assert not are_events([json.dumps(row)])


def test_a_cut_last_line_is_noted():
    readings, problems = history({"loss": 1, "_timestamp": 1}, '{"loss": 2, "_time')

    assert len(readings) == 1
    assert problems.sentences() == ["line 2: it is not JSON"]


@pytest.mark.parametrize(
    "line",
    ["[" * 100_000, '{"a":' * 100_000, "1", "null", '"x"', "NaN", '{"_timestamp": 1e400}',
     '{"_timestamp": -5}', '{"_timestamp": "x"}', '{"a": 1' + "0" * 5_000 + '}',
     '{"a": 1' + "0" * 400 + ', "_timestamp": 1}', '{"_timestamp": 1, "_step": {}, "": 5}',
     '{"_timestamp": 1, "gpu.0.gpu": [], "disk.in": "x", "cpu": null}'],
)  # fmt: skip
def test_no_line_can_do_harm(line):
    events(line, line)
    history(line, line)
    are_events([line, line])
    read_metadata(line, FileFacts())


def test_names_without_end_are_not_kept():
    rows = [json.dumps({f"name {n}": n, "_timestamp": 1}) for n in range(10_010)]

    readings, problems = history(*rows)

    assert len(readings) == 10_000
    assert problems.causes["there are more than 10,000 names"][1] == 10


def test_metadata_says_what_the_machine_is():
    file_facts = FileFacts()
    machine = read_metadata(
        json.dumps(
            {
                "host": "trainer",
                "cpu_count": 4,
                "cpu_count_logical": 8,
                "gpu_count": 1,
                "gpu_nvidia": [{"name": "Tesla V100", "memoryTotal": "34000000000"}],
            }
        ),
        file_facts,
    )

    assert (machine.cores, machine.gpu_bytes) == (8, {0: 34e9})
    assert file_facts.facts["gpu/0/memory_total_bytes"] == 34_000_000_000
    assert file_facts.facts["host_cores"] == 8


@pytest.mark.parametrize("total", ["Infinity", "NaN", "1e300", "-1"])
def test_a_memory_that_no_gpu_has_is_not_known(total):
    file_facts = FileFacts()
    machine = read_metadata(
        f'{{"gpu_nvidia": [{{"memoryTotal": {total}}}]}}', file_facts
    )

    assert machine.gpu_bytes == {}
    assert file_facts.facts == {}


def test_old_metadata_count_logical_cores_and_name_the_first_gpu():
    facts = FileFacts()
    machine = read_metadata('{"cpu_count": 8, "gpu": "GeForce GTX 1080 Ti"}', facts)

    assert machine.cores == 8
    assert facts.facts == {"host_cores": 8, "gpu/0/name": "GeForce GTX 1080 Ti"}

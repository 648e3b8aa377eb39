"""Logs of scripts with a column per GPU and metric."""

from __future__ import annotations

import pytest

from seamark.importers.log_times import zone_of
from seamark.importers.nvidia_query import NO_TIME, Clock
from seamark.importers.nvidia_smi import read_log
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts

CLOCK = Clock(zone_of("UTC"))


def read(*lines, clock=CLOCK):
    problems, file_facts = Problems(), FileFacts()
    readings = list(read_log(lines, problems, file_facts, clock=clock))
    return readings, problems.sentences(), file_facts.facts


@pytest.mark.parametrize(
    "head",
    [
        "time,gpu0_util,gpu0_mem_used_mb,gpu1_util,gpu1_mem_used_mb",
        "Time,gpu_util_0,gpu_mem_used_0,gpu_util_1,gpu_mem_used_1",
        "Time, GPU 0 NVIDIA RTX A6000 gpu utilization, GPU 0 NVIDIA RTX A6000 memory used,"
        " GPU 1 NVIDIA RTX A6000 gpu utilization, GPU 1 NVIDIA RTX A6000 memory used",
    ],
    ids=["before", "after", "with the model"],
)
def test_each_gpu_has_columns_of_its_own(head):
    readings, problems, _ = read(
        head,
        "2026-08-12 10:00:00.5,55,1024,0,16",
        "2026-08-12 10:00:01.5,56,1024,0,16",
    )

    assert readings[0].values == {
        "gpu/0/utilization_percent": 55.0,
        "gpu/0/memory_used_bytes": 2.0**30,
        "gpu/1/utilization_percent": 0.0,
        "gpu/1/memory_used_bytes": 16.0 * 2**20,
    }
    assert readings[1].moment - readings[0].moment == 1_000_000
    assert not problems


def test_totals_are_facts_and_other_columns_are_reported():
    readings, problems, facts = read(
        "time,epoch,gpu0_util,gpu0_mem_total_mb,gpu0_nvlink_utilization",
        "2026-08-12 10:00:00,3,55,81920,7",
    )

    assert readings[0].values == {"gpu/0/utilization_percent": 55.0}
    assert facts == {"gpu/0/memory_total_bytes": 80 * 2**30}
    assert problems == [
        "line 1: unknown column 'epoch'",
        "line 1: unknown column 'gpu0_nvlink_utilization'",
    ]


def test_without_times_a_start_is_needed():
    lines = ("gpu0_util,gpu1_util", "55,60", "56,61")

    assert read(*lines)[1] == [f"lines 2, 3: {NO_TIME}"]
    readings, _, _ = read(*lines, clock=Clock(zone_of("UTC"), start=0))
    assert [each.moment for each in readings] == [0, 1_000_000]


def test_broken_lines_are_reported():
    readings, problems, _ = read(
        "time,gpu0_util,gpu1_util",
        "2026-08-12 10:00:00,55",
        "yesterday,55,60",
        "2026-08-12 10:00:01,x,N/A",
        "2026-08-12 10:00:02,55,60",
    )

    assert len(readings) == 1
    assert problems == [
        "line 2: it does not have 3 values",
        "line 3: its time cannot be parsed",
        "line 4: a value of utilization_percent cannot be parsed",
    ]

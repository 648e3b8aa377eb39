"""Logs of `nvidia-smi dmon` and `pmon`."""

from __future__ import annotations

import pytest

from seamark.importers.log_times import PUT_BACK, to_moment, zone_of
from seamark.importers.nvidia_query import NO_TIME, Clock
from seamark.importers.nvidia_smi import read_log
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts

UTC = zone_of("UTC")
START = to_moment("2026-08-12 23:59:58", UTC)
DATED = (
    "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk  rxpci",
    "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz   MB/s",
    " 20260812   10:00:00      0     70     41      -     45     12   5000   1500     10",
    " 20260812   10:00:00      1     60     40      -      0      0   5000    300      0",
    " 20260812   10:00:01      0     71     42      -     46     13   5000   1500     12",
)
PLAIN = (
    "# gpu    sm    fb",
    "# Idx     %    MB",
    "    0    45  1024",
    "    0    46  1025",
)
PMON = (
    "#Date       Time        gpu        pid  type    sm   mem   fb   command",
    "#YYYYMMDD   HH:MM:SS    Idx          #   C/G     %     %   MB   name",
    " 20260812   10:00:00      0       4711     C    40     5  100   python train.py",
    " 20260812   10:00:00      0       4712     C    20     5  50    python",
    " 20260812   10:00:00      0        900     G     1     0   5    Xorg",
    " 20260812   10:00:00      1          -     -     -     -    -   -",
    " 20260812   10:00:01      0       4711     C    41     5  101   python",
)
PLAIN_PMON = (
    "# gpu         pid   type     sm    mem    enc    dec    command",
    "# Idx           #    C/G      %      %      %      %    name",
)


def read(*lines, start=None, **options):
    problems = Problems()
    clock = Clock(UTC, start)
    return list(
        read_log(lines, problems, FileFacts(), clock=clock, **options)
    ), problems


def test_dmon_with_dates_says_everything():
    readings, problems = read(*DATED)

    assert readings[0].moment == to_moment("2026-08-12 10:00:00", UTC)
    assert readings[0].values == {
        "gpu/0/power_watts": 70.0,
        "gpu/0/temperature_celsius": 41.0,
        "gpu/0/utilization_percent": 45.0,
        "gpu/0/memory_utilization_percent": 12.0,
        "gpu/0/memory_clock_mhz": 5000.0,
        "gpu/0/sm_clock_mhz": 1500.0,
        "gpu/0/pcie_receive_bytes_per_second": 10e6,
    }
    assert len(readings) == 3
    assert not problems.causes


def test_dmon_without_times_is_counted_from_the_start():
    readings, _ = read(*PLAIN, start=START)

    assert [reading.moment - START for reading in readings] == [0, 1_000_000]
    assert readings[0].values["gpu/0/memory_used_bytes"] == 2**30


def test_without_a_start_there_is_no_time():
    readings, problems = read(*PLAIN)

    assert readings == []
    assert problems.causes[NO_TIME] == ([3, 4], 2)


def test_times_without_dates_go_beyond_midnight():
    readings, _ = read(
        "#Time        gpu    sm",
        " 23:59:59      0    1",
        " 00:00:00      0    2",
        start=START,
    )

    assert [reading.moment - START for reading in readings] == [1_000_000, 2_000_000]


@pytest.mark.parametrize("date", ["", "20261025 "])
def test_clocks_that_are_put_back_are_told_and_followed(berlin, date):
    problems = Problems()
    lines = (
        f"#{'Date ' if date else ''}Time     gpu    sm",
        *(f"{date}{time}    0    45" for time in ("02:59:59", "02:00:00", "03:00:00")),
    )
    clock = Clock(berlin, to_moment("2026-10-25 02:00:00", berlin))

    readings = list(read_log(lines, problems, FileFacts(), clock=clock))

    first = readings[0].moment
    assert [reading.moment - first for reading in readings] == [
        0,
        1_000_000,
        3_601_000_000,
    ]
    assert problems.sentences() == [f"line 3: {PUT_BACK}"]


def test_the_head_comes_again_and_changes_nothing():
    assert len(read(*DATED, *DATED)[0]) == 6


def test_without_a_head_the_columns_are_given():
    readings, _ = read("0 45 1024", columns=["gpu", "sm", "fb"], start=START)

    assert readings[0].values["gpu/0/utilization_percent"] == 45.0


def test_commas_may_stand_between():
    readings, _ = read("#gpu, sm, fb", "#Idx, %, MB", "0, 45, 1024", start=START)

    assert len(readings[0].values) == 2


def test_a_cut_line_is_noted():
    readings, problems = read(*DATED, " 20260812   10:0")

    assert len(readings) == 3
    assert problems.sentences() == ["line 6: it does not have 11 values"]


def test_pmon_counts_processes_that_compute():
    readings, _ = read(*PMON)

    assert [reading.values for reading in readings] == [
        {"gpu/0/processes": 2.0},
        {"gpu/1/processes": 0.0},
        {"gpu/0/processes": 1.0},
    ]


def test_the_jobs_own_processes_are_told_apart_where_they_are_named():
    readings, _ = read(*PMON, processes=[4711])

    assert readings[0].values == {
        "gpu/0/processes": 2.0,
        "gpu/0/job_sm_percent": 40.0,
        "gpu/0/job_memory_bytes": 100.0 * 2**20,
        "gpu/0/job_processes": 1.0,
        "gpu/0/other_sm_percent": 20.0,
        "gpu/0/other_memory_bytes": 50.0 * 2**20,
        "gpu/0/other_processes": 1.0,
    }


def processes_of(*rows):
    """Return the seconds after the start and the count of each reading of GPU 0."""
    readings, problems = read(*PLAIN_PMON, *rows, start=START)
    assert not problems.causes
    return [
        ((reading.moment - START) // 1_000_000, reading.values["gpu/0/processes"])
        for reading in readings
    ]


def test_pmon_of_one_gpu_without_times_has_a_reading_a_second():
    row = "    0       4711     C     40      5      -      -    python"

    assert processes_of(row, row, row) == [(0, 1.0), (1, 1.0), (2, 1.0)]


def test_pmon_without_times_sees_processes_come_and_go():
    idle = "    0          -     -      -      -      -      -    -"
    ours, others = (
        f"    0       {pid}     C     40      5      -      -    python"
        for pid in (4711, 4712)
    )

    found = processes_of(idle, idle, ours, ours, others, ours, others, others, idle)

    assert [count for _, count in found] == [0.0, 0.0, 1.0, 2.0, 2.0, 1.0, 0.0]
    assert [second for second, _ in found] == list(range(7))


@pytest.mark.parametrize(
    "line",
    ["\0 \0 \0", "-1 5 5", "9e9 5 5", "x y z", "0 1e999 -", "# gpu", "#", "# gpu gpu gpu", "💥",
     "0 " * 10_000],
)  # fmt: skip
def test_no_line_can_do_harm(line):
    read(PLAIN[0], line, line, start=START)
    read(PMON[0], line, start=START)


def test_dcgmi_is_read_with_its_own_columns_and_ratios():
    readings, problems = read(
        "#Entity   GPUTL     POWER          FBUSD     SMACT",
        "ID",
        "GPU 0     97        301.200        40960     0.412",
        "GPU 1     0         N/A            0         0.000",
        "GPU 0     98        300.000        40960     0.420",
        start=START,
    )

    assert readings[0].values == {
        "gpu/0/utilization_percent": 97.0,
        "gpu/0/power_watts": 301.2,
        "gpu/0/memory_used_bytes": 40960.0 * 2**20,
        "gpu/0/gpm/sm_active_percent": pytest.approx(41.2),
    }
    assert "gpu/1/power_watts" not in readings[1].values
    assert readings[2].moment - readings[0].moment == 1_000_000
    assert not problems.causes

"""Logs of `nvidia-smi --query-gpu`, as people have them."""

from __future__ import annotations

import pytest

from seamark.importers.log_times import PUT_BACK, zone_of
from seamark.importers.nvidia_query import (
    BY_PLACE,
    NO_COLUMNS,
    NO_TIME,
    UNSURE,
    Clock,
)
from seamark.importers.nvidia_smi import read_log
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts

HEAD = "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]"
ROWS = (
    "2026/08/12 10:00:00.000, 0, 45 %, 1024 MiB, 70.50 W",
    "2026/08/12 10:00:00.000, 1, 0 %, 0 MiB, [N/A]",
    "2026/08/12 10:00:01.000, 0, 46 %, 1025 MiB, 71.50 W",
)
COLUMNS = ["timestamp", "index", "utilization.gpu", "memory.used", "power.draw"]


def read(*lines, **options):
    problems, file_facts = Problems(), FileFacts()
    options = {"clock": Clock(zone_of("UTC")), **options}
    readings = list(read_log(lines, problems, file_facts, **options))
    return readings, problems, file_facts.facts


def test_units_become_ours_and_gpus_have_paths_of_their_own():
    readings, problems, _ = read(HEAD, *ROWS)

    assert readings[0].values == {
        "gpu/0/utilization_percent": 45.0,
        "gpu/0/memory_used_bytes": 1024.0 * 2**20,
        "gpu/0/power_watts": 70.5,
    }
    assert readings[1].values == {
        "gpu/1/utilization_percent": 0.0,
        "gpu/1/memory_used_bytes": 0.0,
    }
    assert readings[2].moment - readings[0].moment == 1_000_000
    assert not problems.causes


def test_clocks_that_are_put_back_are_told_and_followed(berlin):
    rows = (
        f"2026/10/25 {time}, 0, 45 %, 0 MiB, 70 W" for time in ("02:59:59", "02:00:00")
    )
    readings, problems, _ = read(HEAD, *rows, clock=Clock(berlin))

    assert readings[1].moment - readings[0].moment == 1_000_000
    assert problems.sentences() == [f"line 3: {PUT_BACK}"]


def test_without_units_the_head_says_them():
    readings, _, _ = read(HEAD, "2026/08/12 10:00:00.000, 0, 45, 1024, 70.5")

    assert readings[0].values["gpu/0/memory_used_bytes"] == 2**30


def test_without_a_head_the_columns_are_given():
    readings, _, _ = read("2026/08/12 10:00:00, 0, 45, 1024, 70.5", columns=COLUMNS)

    assert readings[0].values["gpu/0/memory_used_bytes"] == 2**30


def test_without_head_and_columns_nothing_is_guessed():
    readings, problems, _ = read(*ROWS)

    assert readings == []
    assert problems.causes[NO_COLUMNS] == ([1, 2, 3], 3)


def test_decimal_commas_are_points():
    readings, _, _ = read(HEAD, "2026/08/12 10:00:00,250, 0, 45 %, 1024 MiB, 70,50 W")

    assert readings[0].values["gpu/0/power_watts"] == 70.5
    assert readings[0].moment % 1_000_000 == 250_000


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_other_separators_are_understood(separator):
    lines = [line.replace(", ", separator) for line in (HEAD, *ROWS)]

    assert len(read(*lines)[0]) == 3


@pytest.mark.parametrize(
    "cell", ["[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", ""]
)
def test_what_is_absent_is_absent(cell):
    readings, problems, _ = read(HEAD, f"2026/08/12 10:00:00, 0, 5 %, {cell}, {cell}")

    assert readings[0].values == {"gpu/0/utilization_percent": 5.0}
    assert not problems.causes


def test_a_cut_last_line_and_messages_are_noted_with_their_lines():
    readings, problems, _ = read(
        HEAD, *ROWS, "Unable to determine the device handle", "2026/08"
    )

    assert len(readings) == 3
    assert problems.sentences() == ["lines 5, 6: it does not have 5 values"]


def test_a_head_in_the_middle_is_a_new_beginning():
    readings, problems, _ = read(
        HEAD, ROWS[0], "timestamp, index, temperature.gpu", "2026/08/12 10:00:02, 0, 61"
    )

    assert readings[1].values == {"gpu/0/temperature_celsius": 61.0}
    assert not problems.causes


def test_columns_that_are_not_known_are_noted_once():
    head = HEAD + ", gpu.mood"
    _, problems, _ = read(head, *(f"{row}, good" for row in ROWS))

    assert problems.sentences() == ["line 1: unknown column 'gpu.mood'"]


def test_values_that_are_not_understood_are_noted():
    readings, problems, _ = read(
        HEAD, "2026/08/12 10:00:00, 0, many %, 5 bushels, 1e999 W"
    )

    assert readings == []
    assert len(problems.causes) == 3


def test_gpus_without_an_index_are_told_apart_by_what_else_is_theirs():
    head = "timestamp, uuid, utilization.gpu [%]"
    rows = [f"2026/08/12 10:00:0{n}, GPU-{n % 2}, {n} %" for n in range(4)]

    readings, _, facts = read(head, *rows)

    assert [list(r.values) for r in readings] == [
        [f"gpu/{n}/utilization_percent"] for n in (0, 1, 0, 1)
    ]
    assert facts["gpu/1/uuid"] == "GPU-1"


def gpus_of(readings):
    return [int(path.split("/")[1]) for reading in readings for path in reading.values]


def read_unnamed(*times):
    rows = [f"2026/08/12 {time}, {n}" for n, time in enumerate(times)]
    return read("timestamp, utilization.gpu [%]", *rows)


def queries(count, *, gpus, interval, within):
    """Return times in milliseconds of queries that poll one GPU after the other."""
    period = interval + (gpus - 1) * within
    return [q * period + g * within for q in range(count) for g in range(gpus)]


def of_day(milliseconds):
    minutes, rest = divmod(milliseconds, 60_000)
    return f"10:{minutes:02}:{rest // 1_000:02}.{rest % 1_000:03}"


def test_gpus_without_a_name_are_told_apart_by_their_place():
    readings, problems, _ = read_unnamed("10:00:00", "10:00:00", "10:00:01", "10:00:01")

    assert gpus_of(readings) == [0, 1, 0, 1]
    assert problems.causes == {BY_PLACE: ([2], 1)}


def test_gpus_of_one_query_have_milliseconds_of_their_own():
    readings, problems, _ = read_unnamed(
        *("15:30:35.110", "15:30:35.119", "15:30:36.124", "15:30:36.131"),
        *("15:30:37.138", "15:30:37.150", "15:30:38.161"),
    )

    assert gpus_of(readings) == [0, 1, 0, 1, 0, 1, 0]
    assert readings[1].moment - readings[0].moment == 9_000
    assert problems.causes == {BY_PLACE: ([2], 1)}


@pytest.mark.parametrize("gpus", [2, 3, 8, 16])
@pytest.mark.parametrize(
    ("interval", "within"),
    [(1_000, 9), (1_000, 1), (100, 12), (100, 35), (5_000, 300), (60_000, 40)],
)
def test_queries_are_told_apart_whatever_their_interval(gpus, interval, within):
    times = queries(3, gpus=gpus, interval=interval, within=within)

    assert gpus_of(read_unnamed(*map(of_day, times))[0]) == [*range(gpus)] * 3


def test_one_query_alone_has_all_gpus():
    times = ("11:27:05.177", "11:27:05.188", "11:27:05.192")

    assert gpus_of(read_unnamed(*times)[0]) == [0, 1, 2]


@pytest.mark.parametrize("interval", [100, 1_000, 5_000])
def test_a_log_of_one_gpu_is_of_one_gpu(interval):
    times = queries(300, gpus=1, interval=interval, within=0)
    readings, problems, _ = read_unnamed(*map(of_day, times))

    assert set(gpus_of(readings)) == {0}
    assert not problems.causes


def test_a_pause_makes_no_gpus_of_what_came_before_it():
    seconds = [*range(7), *range(100, 107), *range(1_000, 1_100)]

    readings, problems, _ = read_unnamed(*(of_day(1_003 * each) for each in seconds))

    assert set(gpus_of(readings)) == {0}
    assert not problems.causes


def test_a_query_that_whole_seconds_cut_in_two_is_one_query():
    pairs = [("00", "00"), ("05", "05"), ("10", "11"), ("16", "16"), ("21", "21")]
    times = [f"10:00:{second}" for pair in pairs for second in pair]

    assert gpus_of(read_unnamed(*times)[0]) == [0, 1] * 5


def test_where_whole_seconds_cut_many_queries_those_of_one_second_are_of_one():
    seconds = (0, 0, 0, 1, 1, 2, 3, 3, 4, 4, 4, 5, 6, 6, 6)

    readings, problems, _ = read_unnamed(*(f"10:00:{second:02}" for second in seconds))

    assert gpus_of(readings) == [0, 1, 2, 0, 1, 0, 0, 1, 0, 1, 2, 0, 0, 1, 2]
    assert BY_PLACE in problems.causes


def test_one_slow_query_makes_no_gpus_that_there_are_not():
    times = queries(100, gpus=4, interval=1_000, within=10)
    # After the sampled beginning: this query ends just before the next one begins.
    times[359] = times[360] - 5

    gpus = gpus_of(read_unnamed(*map(of_day, times))[0])

    assert set(gpus) == {0, 1, 2, 3}
    assert gpus[364:] == [0, 1, 2, 3] * 9


def test_lines_that_come_unevenly_are_of_one_gpu_and_that_is_told():
    times = ("10:00:00.0", "10:00:00.6", "10:00:01.5", "10:00:01.8", "10:00:03.9")

    readings, problems, _ = read_unnamed(*times)

    assert set(gpus_of(readings)) == {0}
    assert problems.causes == {UNSURE: ([2], 1)}


def test_without_names_and_times_it_is_told_that_one_gpu_is_assumed():
    readings, problems, _ = read("utilization.gpu", "1", "2", clock=Clock(start=0))

    assert gpus_of(readings) == [0, 0]
    assert problems.causes == {UNSURE: ([2], 1)}


def test_without_times_readings_are_counted_from_the_start():
    lines = ["index, utilization.gpu [%]", "0, 1", "1, 2", "0, 3", "1, 4"]

    assert read(*lines)[1].causes[NO_TIME] == ([2, 3, 4], 4)
    readings, _, _ = read(*lines, clock=Clock(start=5_000_000, interval=2_000_000))
    assert [r.moment for r in readings] == [5_000_000, 5_000_000, 7_000_000, 7_000_000]


def test_what_holds_for_the_whole_time_is_a_fact():
    head = (
        "timestamp, index, name, memory.total [MiB], pcie.link.gen.max, driver_version"
    )
    _, _, facts = read(head, "2026/08/12 10:00:00, 2, Tesla V100, 32768 MiB, 3, 535.1")

    assert facts == {
        "gpu/2/name": "Tesla V100",
        "gpu/2/memory_total_bytes": 32768 * 2**20,
        "gpu/2/pcie_generation_max": 3,
        "gpu_driver": "535.1",
    }


def test_reasons_and_states_are_numbers():
    head = (
        "timestamp, index, pstate, clocks_throttle_reasons.sw_power_cap,"
        " clocks_event_reasons.hw_slowdown"
    )
    readings, _, _ = read(head, "2026/08/12 10:00:00, 0, P2, Active, Not Active")

    assert readings[0].values == {
        "gpu/0/performance_state": 2.0,
        "gpu/0/limited/power_share": 1.0,
        "gpu/0/limited/hardware_slowdown_share": 0.0,
    }


@pytest.mark.parametrize(
    "row",
    ["\0, \0, \0, \0, \0", "," * 1_000, "x" * 100_000, "2026/08/12 10:00:00, 9e99, 1, 1, 1",
     "2026/08/12 10:00:00, -5, 1, 1, 1", "2026/08/12 10:00:00, 1e308, 1, 1, 1", "💥" * 50,
     "9999/99/99 99:99:99, 0, 1, 1, 1", "2026/08/12 10:00:00, 0, " + "9" * 5_000 + ", 1, 1"],
)  # fmt: skip
def test_no_line_can_do_harm(row):
    read(HEAD, row)
    read(row, HEAD, row)


@pytest.mark.parametrize(
    "head",
    [
        "timestamp,gpu_utilization[%],memory.used[MiB]",
        "time,GPU Utilization (%),GPU Memory Used (MiB)",
        "Timestamp,gpu_util_percent,memory_used_mib",
        "datetime,utilization,used_memory [MiB]",
    ],
)
def test_scripts_name_columns_in_their_own_way(head):
    readings, problems, _ = read(head, "2025/05/25 00:13:19, 10, 2")

    assert readings[0].values == {
        "gpu/0/utilization_percent": 10,
        "gpu/0/memory_used_bytes": 2 * 1024 * 1024,
    }
    assert not [cause for cause in problems.causes if "unknown" in cause]


def test_columns_that_are_given_replace_those_of_the_head():
    readings, _, _ = read(
        "timestamp,utilization.gpu,b",
        "2025/05/25 00:13:19, 10, 20",
        columns=["timestamp", "power.draw", "utilization.gpu"],
    )

    assert readings[0].values["gpu/0/utilization_percent"] == 20


def test_columns_of_other_tools_are_known():
    for head, cells in (
        (
            "timestamp,gpu,power_usage,hotspot_temperature,gfx_clk,gfx,vram_used,vram_total",
            "1790000000,0,301 W,66,1500,97 %,1024 MB,65536 MB",
        ),
        (
            "Time,gpu,DCGM_FI_DEV_GPU_UTIL,DCGM_FI_DEV_FB_USED,DCGM_FI_DEV_POWER_USAGE",
            "1790000000,0,97,1024,301",
        ),
        (
            "timestamp,device,GPU use (%),VRAM Total Used Memory (B),Socket power (W)",
            "1790000000,card0,97,1073741824,301",
        ),
    ):
        (reading,), _, _ = read(head, cells)

        assert reading.values.items() >= {
            ("gpu/0/utilization_percent", 97.0),
            ("gpu/0/memory_used_bytes", 2.0**30),
            ("gpu/0/power_watts", 301.0),
        }


def test_several_temperatures_of_rocm_smi_are_told_apart():
    (reading,), _, _ = read(
        "timestamp,device,Temperature (Sensor edge) (C),"
        "Temperature (Sensor junction) (C),Temperature (Sensor memory) (C)",
        "1790000000,card0,47.0,55.0,60.0",
    )

    assert reading.values == {
        "gpu/0/temperature_celsius": 47.0,
        "gpu/0/memory_temperature_celsius": 60.0,
    }


def test_ratios_of_dcgm_become_percentages():
    (reading,), _, _ = read("timestamp,gpu,DCGM_FI_PROF_SM_ACTIVE", "1790000000,0,0.25")

    assert reading.values == {"gpu/0/gpm/sm_active_percent": 25.0}

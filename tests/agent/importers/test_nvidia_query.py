"""Logs of `nvidia-smi --query-gpu`, as people have them."""

from __future__ import annotations

import pytest

from agent.importers.moments import zone_of
from agent.importers.noted import Noted
from agent.importers.nvidia_query import NO_COLUMNS, NO_TIME, Clock
from agent.importers.nvidia_smi import read_log
from agent.importers.reading import Stated

HEAD = "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]"
ROWS = (
    "2026/08/12 10:00:00.000, 0, 45 %, 1024 MiB, 70.50 W",
    "2026/08/12 10:00:00.000, 1, 0 %, 0 MiB, [N/A]",
    "2026/08/12 10:00:01.000, 0, 46 %, 1025 MiB, 71.50 W",
)
COLUMNS = ["timestamp", "index", "utilization.gpu", "memory.used", "power.draw"]


def read(*lines, **options):
    noted, stated = Noted(), Stated()
    options = {"clock": Clock(zone_of("UTC")), **options}
    readings = list(read_log(lines, noted, stated, **options))
    return readings, noted, stated.facts


def test_units_become_ours_and_gpus_have_paths_of_their_own():
    readings, noted, _ = read(HEAD, *ROWS)

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
    assert not noted.causes


def test_without_units_the_head_says_them():
    readings, _, _ = read(HEAD, "2026/08/12 10:00:00.000, 0, 45, 1024, 70.5")

    assert readings[0].values["gpu/0/memory_used_bytes"] == 2**30


def test_without_a_head_the_columns_are_given():
    readings, _, _ = read("2026/08/12 10:00:00, 0, 45, 1024, 70.5", columns=COLUMNS)

    assert readings[0].values["gpu/0/memory_used_bytes"] == 2**30


def test_without_head_and_columns_nothing_is_guessed():
    readings, noted, _ = read(*ROWS)

    assert readings == []
    assert noted.causes[NO_COLUMNS] == ([1, 2, 3], 3)


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
    readings, noted, _ = read(HEAD, f"2026/08/12 10:00:00, 0, 5 %, {cell}, {cell}")

    assert readings[0].values == {"gpu/0/utilization_percent": 5.0}
    assert not noted.causes


def test_a_cut_last_line_and_messages_are_noted_with_their_lines():
    readings, noted, _ = read(
        HEAD, *ROWS, "Unable to determine the device handle", "2026/08"
    )

    assert len(readings) == 3
    assert noted.sentences() == ["lines 5, 6: it has not 5 values"]


def test_a_head_in_the_middle_is_a_new_beginning():
    readings, noted, _ = read(
        HEAD, ROWS[0], "timestamp, index, temperature.gpu", "2026/08/12 10:00:02, 0, 61"
    )

    assert readings[1].values == {"gpu/0/temperature_celsius": 61.0}
    assert not noted.causes


def test_columns_that_are_not_known_are_noted_once():
    head = HEAD + ", gpu.mood"
    _, noted, _ = read(head, *(f"{row}, good" for row in ROWS))

    assert noted.sentences() == ["line 1: the column 'gpu.mood' is not known"]


def test_values_that_are_not_understood_are_noted():
    readings, noted, _ = read(
        HEAD, "2026/08/12 10:00:00, 0, many %, 5 bushels, 1e999 W"
    )

    assert readings == []
    assert len(noted.causes) == 3


def test_gpus_without_an_index_are_told_apart_by_what_else_is_theirs():
    head = "timestamp, uuid, utilization.gpu [%]"
    rows = [f"2026/08/12 10:00:0{n}, GPU-{n % 2}, {n} %" for n in range(4)]

    readings, _, facts = read(head, *rows)

    assert [list(r.values) for r in readings] == [
        [f"gpu/{n}/utilization_percent"] for n in (0, 1, 0, 1)
    ]
    assert facts["gpu/1/uuid"] == "GPU-1"


def test_gpus_without_a_name_are_told_apart_by_their_place():
    rows = [f"2026/08/12 10:00:0{n // 2}, {n}" for n in range(4)]

    readings, _, _ = read("timestamp, utilization.gpu [%]", *rows)

    assert [list(r.values) for r in readings] == [
        [f"gpu/{n}/utilization_percent"] for n in (0, 1, 0, 1)
    ]


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

"""The table that plain nvidia-smi prints, again and again, is read as a log."""

from __future__ import annotations

from datetime import timezone
from itertools import pairwise
from pathlib import Path

from seamark.importers.nvidia_query import Clock
from seamark.importers.nvidia_smi import read_log
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts

LOG = Path(__file__).parent / "logs" / "nvidia_smi_table.log"
MIB = 1024 * 1024
NEWER = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
| N/A   34C    P0            113W /  700W |    1145MiB /  81559MiB |     97%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:3B:00.0 Off |                    0 |
| N/A   ERR!   P0            N/A  /  700W |       1MiB /  81559MiB |    N/A       Default |
|                                         |                        |             Disabled |
+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|    0   N/A  N/A      4242      C   python                                     1140MiB |
+-----------------------------------------------------------------------------------------+
"""


def read(text, clock=None):
    problems, file_facts = Problems(), FileFacts()
    clock = clock or Clock(zone=timezone.utc)
    readings = list(read_log(text.splitlines(), problems, file_facts, clock=clock))
    return readings, file_facts.facts, problems.sentences()


def test_each_table_is_a_sample_at_its_time():
    readings, facts, problems = read(LOG.read_text("utf-8"))

    assert [each.values["gpu/0/utilization_percent"] for each in readings] == [
        40,
        41,
        42,
        43,
        44,
    ]
    assert {b.moment - a.moment for a, b in pairwise(readings)} == {1_000_000}
    assert readings[0].values["gpu/0/memory_used_bytes"] == 24_050 * MIB
    assert readings[0].values["gpu/0/power_watts"] == 231
    assert facts["gpu/0/name"] == "NVIDIA GeForce RTX 3090"
    assert facts["gpu/0/memory_total_bytes"] == 24_576 * MIB
    assert problems == []


def test_unknown_cells_are_left_out_and_gpus_are_told_apart():
    readings, facts, _ = read("Wed Apr  9 10:26:15 2025\n" + NEWER)

    first, second = readings
    assert first.values["gpu/0/utilization_percent"] == 97
    assert second.values == {
        "gpu/1/performance_state": 0,
        "gpu/1/power_limit_watts": 700,
        "gpu/1/memory_used_bytes": MIB,
    }
    assert facts["gpu_driver"] == "550.54.15"


def test_watch_writes_the_time_into_its_own_line():
    watched = "Every 2.0s: nvidia-smi        node: Wed Apr  9 10:26:15 2025\n\n" + NEWER

    assert len(read(watched)[0]) == 2


def test_tables_without_a_time_are_counted_from_the_start_or_refused():
    counted, _, _ = read(NEWER * 3, Clock(zone=timezone.utc, start=0, interval=5))
    refused, _, problems = read(NEWER)

    assert [each.moment for each in counted] == [0, 0, 5, 5, 10, 10]
    assert refused == []
    assert "it has no time" in problems[0]

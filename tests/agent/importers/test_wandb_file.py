"""W&B's binary run file, written by wandb 0.31.0 in offline mode."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pytest

from seamark.importers.problems import Problems
from seamark.importers.wandb_file import (
    DAMAGED,
    NO_FILE,
    read_rows,
    read_stats,
    read_values,
)

RUN = Path(__file__).parent / "logs" / "run-0.31.wandb"


def rows_of(data: bytes):
    problems = Problems()
    return list(read_rows(io.BytesIO(data), problems)), problems


def test_each_row_of_history_has_its_step_and_time():
    rows, problems = rows_of(RUN.read_bytes())

    assert [row["_step"] for row in rows] == [0, 10, 20, 30, 40, 50]
    assert rows[1]["train/loss"] == 0.5
    assert rows[1]["val"]["accuracy"] == 0.55
    assert math.isnan(rows[2]["val"]["top5"])
    assert rows[0]["_timestamp"] < rows[5]["_timestamp"]
    assert not problems.causes


def test_system_metrics_have_times():
    rows = list(read_stats(io.BytesIO(RUN.read_bytes()), Problems()))

    assert rows
    assert all(row["_timestamp"] > 1.7e9 for row in rows)
    assert rows[-1]["proc.memory.rssMB"] > 1


def test_the_config_the_summary_tags_and_notes_are_read():
    values = read_values(io.BytesIO(RUN.read_bytes()), Problems())

    assert values.config == {
        "lr": 0.1,
        "model": {"name": "resnet", "layers": [1, 2]},
        "augment": True,
    }
    assert values.summary["best"] == 0.5
    assert values.tags == ["baseline", "a100"]
    assert values.notes == "first try"
    assert values.machine["cpu_count_logical"] >= 1


def test_a_file_that_is_still_written_is_read_as_far_as_it_goes():
    rows, problems = rows_of(RUN.read_bytes()[:-1_500])

    assert 0 < len(rows) < 6
    assert list(problems.causes) in ([], [DAMAGED])


def test_a_damaged_record_does_not_spoil_those_before_it():
    data = bytearray(RUN.read_bytes())
    data[data.index(b"train/loss", 3_000)] ^= 1

    rows, problems = rows_of(bytes(data))

    assert rows[0]["train/loss"] == 1.0
    assert list(problems.causes) == [DAMAGED]


@pytest.mark.parametrize("data", [b"", b"{}", b":W&B", b"\0" * 40_000])
def test_another_file_is_refused(data):
    rows, problems = rows_of(data)

    assert rows == []
    assert list(problems.causes) == [NO_FILE]


def test_no_bytes_can_do_harm():
    data = RUN.read_bytes()
    for place in range(7, len(data), 61):
        broken = data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]
        rows_of(broken)
        list(read_stats(io.BytesIO(broken), Problems()))
        read_values(io.BytesIO(broken), Problems())

from __future__ import annotations

from datetime import timezone

import pytest

from seamark.importers.csv_metrics import Columns, MissingColumn, read_metrics
from seamark.importers.problems import Problems

WRITTEN = 5_000_000


def read(text, *, step=None, time=None):
    problems = Problems()
    columns = Columns(step, time, timezone.utc, WRITTEN, "file")
    return list(read_metrics(text.split("\n"), problems, columns)), problems.causes


def test_a_row_has_its_step_time_and_numbers():
    (first, second), causes = read(
        "step,timestamp,loss,acc\n10,1700000000,0.5,1\n20,1700000001,0.25,"
    )

    assert (first.step, first.moment) == (10.0, 1_700_000_000_000_000)
    assert first.values == {"loss": 0.5, "acc": 1.0}
    assert second.values == {"loss": 0.25}
    assert first.is_users
    assert causes == {}


def test_without_steps_and_times_rows_are_counted():
    readings, _ = read("loss,acc\n0.5,\n,0.9")

    assert [(each.step, each.moment) for each in readings] == [
        (0, WRITTEN),
        (1, WRITTEN),
    ]


def test_columns_can_be_named():
    ((only,), _) = read("a,b,step,c\n7,1970-01-01T00:00:01Z,3,4", step="a", time="b")

    assert (only.step, only.moment) == (7.0, 1_000_000)
    assert only.values == {"step": 3.0, "c": 4.0}


def test_an_unknown_column_is_rejected():
    with pytest.raises(MissingColumn):
        read("loss\n1", step="x")


def test_semicolons_and_decimal_commas_are_read():
    ((only,), _) = read("step;loss\n1;0,5")

    assert only.values == {"loss": 0.5}


def test_nan_and_infinities_are_numbers():
    ((only,), _) = read("step,a,b\n1,nan,-inf")

    assert only.values["a"] != only.values["a"]
    assert only.values["b"] == float("-inf")


def test_an_export_of_one_scalar_is_named_after_its_file():
    ((only,), _) = read("Wall time,Step,Value\n1700000000,3,0.5")

    assert only.values == {"file": 0.5}


def test_unreadable_cells_are_reported():
    readings, causes = read(
        "step,timestamp,loss,note\n1,never,1,\n,1700000000,1,\n3,1700000000,1,a"
    )

    assert [each.step for each in readings] == [3.0]
    assert causes == {
        "it has no time": ([2], 1),
        "it has no step": ([3], 1),
        "'note' is no number": ([4], 1),
    }


@pytest.mark.parametrize("text", ["", "\n\n", "\0,\0\n\0", "loss", '"'])
def test_other_files_have_no_rows(text):
    assert read(text)[0] == []

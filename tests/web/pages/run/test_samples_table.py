"""Readings as numbers, with how good they are."""

from datetime import UTC, datetime

from tracker.queries.hardware.hardware import Description, Summary
from tracker.queries.run.attributes import AttributeRow
from web.figures.hardware_kinds import CPU, GPUS, OVERVIEW
from web.pages.run.samples_table import MAX_ROWS, reading_rows

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def summary(measure, *, low=1.0, mean=2.0, high=3.0, stage="train", described=None):
    path = f"monitoring/{stage}/{measure}"
    row = AttributeRow(path, "float_series", high, 9, low, high, mean, 0.0, 8.0, NOW)
    return Summary(stage, measure, row, described)


def test_numbers_share_the_unit_of_the_largest():
    (row,) = reading_rows(
        [summary("job/memory_bytes", low=2**29, mean=2**30, high=2**31)], OVERVIEW
    )

    assert (row.title, row.name, row.unit) == ("Memory", "all processes", "GiB")
    assert (row.minimum, row.mean, row.maximum) == ("0.5", "1", "2")


def test_gpus_stand_in_the_order_of_their_numbers():
    measures = [summary(f"gpu/{n}/utilization_percent") for n in (10, 2, 0)]

    rows = reading_rows(measures, GPUS)

    assert [row.name for row in rows] == ["GPU 0", "GPU 2", "GPU 10"]


def test_quality_and_scope_are_told_where_the_run_says_them():
    told = summary("job/cpu_cores", described=Description("process tree", 0.8, "/proc"))

    first, second = reading_rows([told, summary("job/main_cpu_cores")], CPU)[:2]

    assert (first.scope, first.quality, first.source) == (
        "process tree",
        "80 %, sampled",
        "/proc",
    )
    assert (second.scope, second.quality) == ("", "")


def test_what_belongs_to_no_row_is_left_out_and_very_many_are_cut():
    assert reading_rows([summary("no/such")], OVERVIEW) == []
    stages = [summary("job/cpu_cores", stage=f"{n}") for n in range(2 * MAX_ROWS)]
    assert len(reading_rows(stages, CPU)) == MAX_ROWS


def test_what_was_never_finite_is_unknown():
    (row,) = reading_rows(
        [summary("job/cpu_cores", low=None, mean=None, high=None)], OVERVIEW
    )

    assert (row.minimum, row.mean, row.maximum) == ("–", "–", "–")

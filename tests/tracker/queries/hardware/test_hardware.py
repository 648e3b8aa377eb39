"""Agent metrics as lines over time."""

import pytest

from tests.builders import (
    START,
    make_project,
    make_run,
    write_series,
    write_values,
)
from tracker.queries.hardware.hardware import (
    Description,
    list_measures,
    measured_lines,
    stage_lines,
    summaries_of,
)
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(member):
    run = make_run(make_project(member))
    for path in (
        "train/loss",
        "monitoring/train/job/cpu_cores",
        "monitoring/train/rank-1/job/cpu_cores",
        "monitoring/train/gpu/0/power_watts",
        "monitoring/training/job/cpu_cores",
    ):
        write_series(run, path, [1.0, 2.0, 3.0])
    return run


def test_reads_the_wanted_measures_of_the_stages_asked_for(run):
    found = measured_lines(run, ["train"], lambda measure: measure.startswith("job/"))

    assert [(m.stage, m.rank, m.measure) for m in found] == [
        ("train", 0, "job/cpu_cores"),
        ("train", 1, "job/cpu_cores"),
    ]
    assert found[0].line.x[0] == START / 1000


def test_a_range_of_time_leaves_the_rest_out(run):
    (line,) = stage_lines(
        run, "train", {"cores": "job/cpu_cores"}, low=START / 1000 + 500
    ).values()

    assert line.mean.tolist() == [2.0, 3.0]


def test_measures_that_are_not_there_are_left_out(run):
    found = stage_lines(run, "train", {"cores": "job/cpu_cores", "x": "no/such"})

    assert list(found) == ["cores"]


def test_costs_the_same_statements_however_many_lines(
    run, django_assert_max_num_queries
):
    with django_assert_max_num_queries(8):
        measured_lines(run, ["train"], lambda _: True)


def test_lists_what_was_measured_in_one_statement_however_many_stages(
    run, django_assert_num_queries
):
    with django_assert_num_queries(1):
        one = list_measures(run, ["train"])
    with django_assert_num_queries(1):
        several = list_measures(run, ["training", "none", "train"])

    assert [(m.rank, m.measure) for m in one] == [
        (0, "gpu/0/power_watts"),
        (0, "job/cpu_cores"),
        (1, "job/cpu_cores"),
    ]
    assert [m.path for m in several] == [
        "monitoring/training/job/cpu_cores",
        *(m.path for m in one),
    ]


def test_summaries_say_how_good_the_run_says_its_readings_are(run):
    described = "gpu/<i>/power_watts\tW\tGPU\t0.8\tNVML\nodd\njob/cpu_cores\t\t\tx"
    write_values(run, {"monitoring/train/facts/readings": described})
    compact_run(run.id)

    power, cores = summaries_of(run, list_measures(run, ["train"])[:2])

    assert power.description == Description("GPU", 0.8, "NVML")
    assert cores.description is None
    assert (cores.row.minimum, cores.row.mean, cores.row.maximum) == (1.0, 2.0, 3.0)

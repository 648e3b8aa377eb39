"""What the agent measured, as lines over time."""

import pytest

from tests.builders import START, make_project, make_run, write_series
from tracker.queries.hardware import measured_lines, stage_lines

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

"""One number over all runs that match."""

from __future__ import annotations

import math

import pytest

from tests.builders import (
    make_member,
    make_project,
    make_run,
    write_series,
    write_values,
)
from tracker.actions.runs.trash import move_to_trash
from tracker.boards.board import RunSet
from tracker.models import Kind, Project, RunSummary
from tracker.queries.runs.over_runs import mean_of, number_over_runs
from tracker.queries.runs.run_sets import every_match
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

EVERYTHING = RunSet()
LOSSES = ((3.0, 0.5), (9.0, 0.25), (4.0, 0.75))


@pytest.fixture
def project():
    return make_project(make_member("ada"))


@pytest.fixture
def runs(project):
    made = []
    for number, losses in enumerate(LOSSES):
        run = make_run(project, f"run-{number}", "finished")
        write_series(run, "loss", losses)
        write_values(run, {"accuracy": number / 4, "params/seed": number})
        compact_run(run.id)
        made.append(run)
    return made


def over(project, key, how="highest", run_set=EVERYTHING, **options):
    reach = Project.objects.filter(workspace=project.workspace_id)
    return number_over_runs(every_match(project, run_set, reach), key, how, **options)


@pytest.mark.parametrize(
    ("column", "value", "name"),
    [
        (("path:loss", "highest"), 0.75, "run-2"),
        (("path:loss", "lowest"), 0.25, "run-1"),
        (("path:loss", "mean"), 0.5, None),
        (("max:loss", "highest"), 9.0, "run-1"),
        (("min:loss", "highest"), 0.75, "run-2"),
        (("mean:loss", "lowest"), 1.75, "run-0"),
        (("path:accuracy", "highest"), 0.5, "run-2"),
        # A single value is its own summary.
        (("max:accuracy", "lowest"), 0.0, "run-0"),
        (("path:params/seed", "mean"), 1.0, None),
    ],
)
def test_all_runs_count_however_few_are_shown(project, runs, column, value, name):
    found = over(project, *column, RunSet(first=1))

    assert (found.value, found.run_count, found.known_count) == (value, 3, 3)
    assert (found.run and found.run.name) == name


def test_runs_in_the_trash_or_without_a_number_are_left_out(project, runs):
    move_to_trash(runs[2])
    make_run(project, "empty", "finished")
    nan = make_run(project, "nan", "finished")
    write_values(nan, {"accuracy": math.nan})

    found = over(project, "path:accuracy")

    assert (found.run, found.value) == (runs[1], 0.25)
    assert (found.run_count, found.known_count) == (4, 2)
    assert over(project, "path:none").value is None
    assert over(project, "path:none", "mean").value is None


def test_a_query_selects_the_runs(project, runs):
    below = RunSet(query="accuracy < 0.5")

    assert over(project, "max:loss", "lowest", below).run == runs[0]
    assert over(project, "path:loss", "mean", below).value == 0.375
    assert over(project, "path:loss", run_set=RunSet(query="accuracy > 2")).run is None


def test_a_truth_is_no_number(project, runs):
    write_values(runs[0], {"mixed": True})
    write_values(runs[1], {"mixed": 0.5})

    found = over(project, "path:mixed")

    assert (found.run, found.known_count) == (runs[1], 1)


def test_a_reader_sees_only_numbers_that_may_be_seen(project, runs):
    write_values(runs[0], {"both": 7})
    write_values(runs[1], {"both": 0.5})

    def seen(kind, path, is_parameter):
        return kind != Kind.INTEGER

    assert over(project, "path:both").run == runs[0]
    assert over(project, "path:both", seen=seen).run == runs[1]
    assert over(project, "path:params/seed", seen=seen).value is None
    assert over(project, "path:loss", seen=seen).run == runs[2]


def test_numbers_of_runs_are_in_the_units_of_the_table(project, runs):
    for number, run in enumerate(runs):
        values = {"energy": 3.6e6 * number, "gpu": 10.0 * number}
        RunSummary.objects.filter(run=run).update(**values)

    assert over(project, "energy").value == 2.0
    assert over(project, "gpu", "mean").value == 10.0
    assert over(project, "duration").run_count == 3


def test_the_runs_of_several_projects_are_one_set(project, runs):
    other = make_project(project.workspace.members.get(), "speech")
    best = make_run(other, "best", "finished")
    write_values(best, {"accuracy": 0.95})
    both = RunSet(projects=(project.slug, other.slug))

    found = over(project, "path:accuracy", run_set=both)

    assert (found.run, found.run.project, found.run_count) == (best, other, 4)
    mean = over(project, "path:accuracy", "mean", both).value
    assert mean == pytest.approx((0.25 + 0.5 + 0.95) / 4)


def test_a_reference_is_one_of_the_runs(project, runs):
    query = RunSet(query="accuracy > 0")

    for run, is_known in zip(runs, (False, True, True), strict=True):
        found = over(project, "path:accuracy", run_set=query, reference=run.id)
        assert found.reference == (run if is_known else None)


def test_a_project_out_of_reach_has_no_runs(project, runs):
    sets = every_match(project, RunSet(), Project.objects.none())

    assert number_over_runs(sets, "path:accuracy", "highest").run_count == 0


def test_means_of_extreme_numbers_are_numbers():
    assert mean_of([1.5e308, 1.5e308]) == 1.5e308
    assert mean_of([math.inf, 1.0]) == math.inf
    assert math.isnan(mean_of([math.inf, -math.inf]))

"""Run summaries always match the rows that they are computed from."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.builders import (
    Process,
    make_project,
    make_run,
    set_message,
    write_series,
    write_tags,
    write_values,
)
from tests.tracker.queries.findings import add_finding
from tests.tracker.queries.ledgers import add_ledger
from tests.web.sample_run import make_sample_run
from tracker.actions.diagnoses.findings import bring_back, dismiss
from tracker.actions.runs.run_summaries import (
    EVERY_SOURCE,
    gather_everything,
    is_summary_current,
)
from tracker.actions.runs.tags import change_tags
from tracker.actor import Actor
from tracker.integrity.repair import repair
from tracker.integrity.run import RunWalk, Seen
from tracker.models import Finding, Run, RunSummary
from tracker.queries.diagnoses.diagnoses import main_findings
from tracker.queries.runs.filter.filters import RunFilter
from tracker.queries.runs.order import read_order
from tracker.queries.runs.table import runs_page
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

GPU = "monitoring/train/gpu/0/utilization_percent"
BUSY = "monitoring/train/job/cpu_cores"
CORES = "monitoring/train/facts/effective_cores"
CORES_OF_ANOTHER_RANK = "monitoring/train/rank-7/facts/effective_cores"


def summary_of(run) -> RunSummary:
    return RunSummary.objects.get(run=run)


def in_order(project, *sorts) -> list[str]:
    page = runs_page(
        project.id, wanted=RunFilter(), order=read_order(sorts), keys=[], limit=9
    )
    return [row.name for row in page.rows]


def test_hardware_is_known_with_the_points_that_say_it(project):
    run = make_run(project)
    write_values(run, {CORES: 4.0})
    for path, values in ((GPU, [20.0, 40.0]), (BUSY, [1.0, 3.0])):
        write_series(run, path, values)
    assert (summary_of(run).gpu, summary_of(run).cpu) == (None, None)

    compact_run(run.id)
    assert (summary_of(run).gpu, summary_of(run).cpu) == (30, 50)

    write_series(run, GPU, [90.0], steps=[2])
    compact_run(run.id)
    assert (summary_of(run).gpu, summary_of(run).cpu) == (50, 50)


def test_cores_that_are_said_late_count(project):
    run = make_run(project)
    write_series(run, BUSY, [2.0])
    compact_run(run.id)
    assert summary_of(run).cpu is None

    write_values(run, {CORES: 8})

    assert summary_of(run).cpu == 25


def test_a_diagnosis_says_what_its_ledgers_and_findings_do(project):
    run = make_sample_run(project, has_gpu=True)

    row = summary_of(run)

    assert row.finding == main_findings([run.id])[run.id].title
    assert row.stages == 3
    assert row.gpu_hours > 0
    assert is_summary_current(run.id)


def test_a_dismissed_finding_is_not_the_main_one_until_it_is_restored(project, member):
    run = make_run(project)
    add_finding(run, "Small", severity="notice")
    add_finding(run, "Large", severity="critical")
    largest = Finding.objects.get(title="Large")

    dismiss(run, largest.pk, Actor(member.user_id), "known")
    assert (summary_of(run).finding, summary_of(run).severity) == ("Small", 0)

    bring_back(run, largest.pk)
    assert (summary_of(run).finding, summary_of(run).severity) == ("Large", 2)


def test_tags_are_sorted_by_whoever_gave_them(project):
    first, second, third = (make_run(project, name) for name in "abc")
    write_tags(first, "m")
    assert change_tags(project, [second.id, third.id], add=["z"])
    assert change_tags(project, [third.id], add=["zz"], remove=["z"])
    assert in_order(project, "tags") == ["a", "b", "c"]

    change_tags(project, [third.id], add=["a"], remove=["zz"])
    assert in_order(project, "tags") == ["c", "a", "b"]

    write_values(third, {"tags": []})
    change_tags(project, [first.id], remove=["m"])
    assert summary_of(first).tags == summary_of(third).tags == []


def test_a_run_says_how_many_stages_it_has_from_their_first_message_on(project):
    for run, stages in (("one", ["a"]), ("three", ["a", "b", "c"]), ("two", "ab")):
        for stage in stages:
            Process(project, run, stage=stage).open()

    assert in_order(project, "stages") == ["one", "two", "three"]


def test_equal_runs_follow_each_other_by_their_age(project):
    for name in ("old", "middle", "new"):
        add_finding(make_run(project, name), "Same", severity="warning")

    assert in_order(project, "-finding") == ["new", "middle", "old"]
    assert in_order(project, "-stages") == ["new", "middle", "old"]


def test_a_project_s_runs_are_not_those_of_others(project, member):
    add_ledger(make_run(project, "mine"), computing=1.0)
    add_ledger(make_run(make_project(member, "other"), "theirs"), computing=2.0)

    assert in_order(project, "-gpu_hours") == ["mine"]


def test_gathering_takes_as_many_statements_for_many_runs(project):
    runs = [make_run(project, f"r{number}").id for number in range(5)]
    RunSummary.objects.all().delete()

    def statements(run_ids) -> int:
        with CaptureQueriesContext(connection) as queries:
            gather_everything(run_ids)
        return len(queries)

    few, many = statements(runs[:2]), statements(runs[2:])
    again = statements(runs)

    assert many <= few
    assert again < many
    assert all(map(is_summary_current, runs))


def test_a_wrong_summary_is_reported_and_repaired(project):
    run = make_sample_run(project)
    RunSummary.objects.filter(run=run).update(finding="Nothing", stages=7, gpu=3.0)

    def problems() -> list:
        return list(RunWalk(Run.objects.get(id=run.id), Seen()).problems())

    (problem,) = problems()
    assert problem.code == "run-summary"
    assert repair(problem)
    assert problems() == []
    assert not repair(problem)


def test_a_deleted_run_gets_no_summary(project):
    run = make_run(project)
    run_id = run.id
    RunSummary.objects.all().delete()
    Run.objects.filter(id=run_id).delete()

    gather_everything([run_id])

    assert not RunSummary.objects.exists()


def test_every_column_has_a_source():
    columns = {column for source in EVERY_SOURCE for column in source.columns}
    has = {field.name for field in RunSummary._meta.fields}

    assert has - columns == {"id", "run", "project", "created_at"}


@pytest.mark.parametrize("path", ["params/lr", CORES_OF_ANOTHER_RANK])
def test_other_values_gather_nothing(project, path):
    process = Process(project, "run")
    process.open()
    process.send([set_message(path, 4.0)])

    with CaptureQueriesContext(connection) as queries:
        process.send([set_message(path, 8.0)])

    assert not [query for query in queries if "tracker_runsummary" in query["sql"]]

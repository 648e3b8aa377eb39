from __future__ import annotations

import pytest

from tests.builders import (
    Process,
    close_message,
    make_project,
    make_run,
    points_message,
    write_series,
)
from tracker.queries.series.versions import version_of, version_of_summaries
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def process(member):
    process = Process(make_project(member), "baseline")
    process.open()
    return process


def test_every_batch_is_another_version(process):
    run = process.run
    versions = {version_of([run])}
    for step in range(3):
        process.send([points_message("loss", [0.0], steps=[step])])
        versions.add(version_of([run]))

    assert len(versions) == 4


def test_a_process_that_joins_is_another_version_once_it_logs(process):
    before = version_of([process.run])

    write_series(process.run, "loss", [1.0], rank=1)

    assert version_of([process.run]) != before


def test_the_version_stays_if_no_point_changes(process):
    process.send([points_message("loss", [0.0, 1.0])])
    before = version_of([process.run], "question")

    compact_run(process.run.id)
    process.send()

    assert version_of([process.run], "question") == before
    assert version_of([process.run], "another question") != before


def test_the_end_of_a_run_is_another_version(process):
    run = process.run
    before = version_of([run])

    process.send([close_message(time=2**50)])

    assert version_of([process.run]) != before


def test_versions_of_many_runs_take_one_statement(member, django_assert_num_queries):
    project = make_project(member)
    runs = [make_run(project, f"run-{number}") for number in range(5)]

    with django_assert_num_queries(1):
        version = version_of(runs)

    assert version != version_of(runs[:4])
    assert version != version_of(runs[::-1])


def test_compaction_changes_the_version_of_summaries(process):
    process.send([points_message("loss", [0.0, 1.0])])
    run = process.run
    before = version_of_summaries([run])
    assert version_of_summaries([run]) == before

    compact_run(run.id)
    after = version_of_summaries([run])

    assert after != before
    assert version_of_summaries([run]) == after
    process.send([points_message("loss", [2.0])])
    assert version_of_summaries([run]) not in (before, after)

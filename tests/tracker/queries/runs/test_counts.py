"""The number of runs is counted again when it may have changed."""

import pytest

from tests.builders import make_project, make_run
from tracker.queries.runs import counts
from tracker.queries.runs.counts import run_count
from tracker.server.caches import Memory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def project(member):
    project = make_project(member)
    for name in ("first", "second", "third"):
        make_run(project, name)
    return project


def test_few_runs_are_counted_each_time(project):
    assert run_count(project.id) == 3
    make_run(project, "fourth")
    assert run_count(project.id) == 4


def test_very_many_are_counted_once_in_a_while(project, monkeypatch):
    monkeypatch.setattr(counts, "MANY", 2)
    # A separate cache, because projects of other tests have the same ids.
    monkeypatch.setattr(counts, "_counted", Memory(10))
    assert run_count(project.id) == 3
    make_run(project, "fourth")
    assert run_count(project.id) == 3

    monkeypatch.setattr(counts, "LASTS_SECONDS", 0.0)
    assert run_count(project.id) == 4

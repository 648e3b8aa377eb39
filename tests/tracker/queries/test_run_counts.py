"""How many runs there are is counted again once that may have changed."""

import pytest

from tests.builders import make_project, make_run
from tracker.memory import Memory
from tracker.queries import run_counts
from tracker.queries.run_counts import run_count

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
    monkeypatch.setattr(run_counts, "MANY", 2)
    # Of its own: other tests have projects of the same number.
    monkeypatch.setattr(run_counts, "_counted", Memory(10))
    assert run_count(project.id) == 3
    make_run(project, "fourth")
    assert run_count(project.id) == 3

    monkeypatch.setattr(run_counts, "LASTS_SECONDS", 0.0)
    assert run_count(project.id) == 4

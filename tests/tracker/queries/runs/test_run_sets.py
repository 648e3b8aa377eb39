"""The runs of a dashboard widget."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from tests.builders import make_member, make_project, make_run, write_values
from tracker.boards.board import RunSet
from tracker.errors import InvalidInput
from tracker.models import Project, Run, SavedView
from tracker.queries.runs.run_sets import check_run_set, runs_in

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def found_in(project, run_set):
    """Return the runs that a member of every project finds."""
    return runs_in(
        project, run_set, Project.objects.filter(workspace=project.workspace_id)
    )


@pytest.fixture
def project():
    return make_project(make_member("ada"))


@pytest.fixture
def runs(project):
    made = []
    for number, accuracy in enumerate((0.5, 0.9, 0.7)):
        run = make_run(project, f"run-{number}", "finished")
        write_values(run, {"accuracy": accuracy})
        began = datetime(2026, 1, 2, number, tzinfo=UTC)
        Run.objects.filter(id=run.id).update(started_at=began)
        made.append(run)
    return made


def names(project, **wanted) -> list[str]:
    return [run.name for run in found_in(project, RunSet(**wanted)).runs]


def test_without_a_query_the_newest_are_meant(project, runs):
    assert names(project) == ["run-2", "run-1", "run-0"]
    assert names(project, first=2) == ["run-2", "run-1"]


def test_a_query_says_which_and_the_order_which_first(project, runs):
    body = {"query": "accuracy > 0.6", "order": "-path:accuracy"}

    assert names(project, **body) == ["run-1", "run-2"]
    assert names(project, **body, first=1) == ["run-1"]


def view_of(project, state, **said):
    return SavedView.objects.create(
        project=project, name="nightly", state=state, **{"is_shared": True, **said}
    )


def test_a_view_says_which_and_in_which_order(project, runs):
    view = view_of(project, "query=accuracy+%3E+0.6&sort=path:accuracy&column=state")

    assert names(project, view=view.id) == ["run-2", "run-1"]
    assert names(project, view=view.id, first=1) == ["run-2"]
    assert found_in(project, RunSet(view=view.id)).view == "nightly"

    view.state = "q=run-0"
    view.save()
    assert names(project, view=view.id) == ["run-0"]


def test_an_absent_view_finds_no_runs_and_reports_the_problem(project, runs):
    eve = make_member("eve")
    elsewhere = make_project(eve, "elsewhere")
    gone = (
        uuid4(),
        view_of(project, "", is_shared=False, owner=eve.user).id,
        view_of(elsewhere, "").id,
    )

    for view_id in gone:
        shown = found_in(project, RunSet(view=view_id))
        assert (shown.runs, shown.is_view_gone) == ((), True)


def test_a_view_that_cannot_be_read_says_why(project, runs):
    view = view_of(project, "query=a+%3E")

    assert "query is not understood" in found_in(project, RunSet(view=view.id)).problem


def test_named_runs_keep_their_order(project, runs):
    ids = (runs[2].id, runs[0].id, runs[2].id)

    assert names(project, runs=ids) == ["run-2", "run-0"]


def test_runs_that_are_gone_are_counted_not_shown(project, runs):
    Run.objects.filter(id=runs[1].id).update(trashed_at=timezone.now())

    found = found_in(project, RunSet(runs=(runs[0].id, runs[1].id, uuid4())))

    assert [run.name for run in found.runs] == ["run-0"]
    assert found.missing_count == 2
    assert "run-1" not in names(project)


def test_runs_of_other_projects_are_never_shown(project, runs):
    elsewhere = make_run(make_project(make_member("mallory")), "secret", "finished")

    assert names(project, runs=(elsewhere.id,)) == []
    assert "secret" not in names(project)


@pytest.mark.parametrize(
    "wanted",
    [
        {"query": "accuracy >"},
        {"order": "nonsense"},
        {"order": "path:a\0"},
        {"query": "__class__()"},
    ],
)
def test_an_invalid_run_set_reports_its_problem(project, runs, wanted):
    found = found_in(project, RunSet(**wanted))

    assert found.runs == ()
    assert found.problem
    with pytest.raises(InvalidInput):
        check_run_set(RunSet(**wanted))


def test_a_query_is_live_while_any_run_of_the_project_is(project, runs):
    Run.objects.update(ended_at="2026-01-02T12:00:00Z")
    assert not found_in(project, RunSet(query="accuracy > 0.6")).is_live

    make_run(project, "growing")

    assert found_in(project, RunSet(query="accuracy > 0.6")).is_live
    assert not found_in(project, RunSet(runs=(runs[0].id,))).is_live


def test_new_runs_may_join_a_query_and_not_a_list(project, runs):
    Run.objects.update(ended_at="2026-01-02T12:00:00Z")

    asked = found_in(project, RunSet(query="accuracy > 0.6"))
    named = RunSet(runs=(runs[0].id,))

    assert asked.may_be_joined
    assert not asked.is_live
    assert found_in(project, RunSet(query="exists nothing")).may_be_joined
    assert not found_in(project, named).may_be_joined
    Run.objects.update(state="preempted", ended_at=timezone.now() - timedelta(hours=1))
    assert found_in(project, named).may_be_joined
    assert not found_in(project, named).is_live


def test_an_empty_project_has_no_runs(project):
    assert found_in(project, RunSet()).runs == ()
    assert found_in(project, RunSet(query="exists accuracy")).runs == ()

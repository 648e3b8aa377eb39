"""Runs that name a parent when they open."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.builders import actor_of, frames, make_project, make_run, open_message
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.runs.moves import move_run
from tracker.actions.runs.parents import MAX_DEPTH
from tracker.actions.runs.purging import purge_run
from tracker.ingest.write import store_batch
from tracker.models import Reopening, Run, State
from tracker.queries.runs.filter.filters import Found, RunFilter, read_query

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def log(member, run, **fields):
    batch = frames([[open_message(run, project="vision", **fields)]])
    store_batch(actor_of(member), uuid4(), batch)
    return Run.objects.get(name=run)


def found(project, query):
    runs = Found(project.id, RunFilter(query=read_query(query))).runs()
    return set(runs.values_list("name", flat=True))


@pytest.fixture
def project(member):
    return make_project(member)


def test_a_child_has_the_parent_that_it_names(member, project):
    sweep = log(member, "sweep")

    assert log(member, "trial", parent="sweep").parent == sweep
    assert log(member, "other", parent=str(sweep.id)).parent == sweep


def test_a_parent_that_arrives_later_is_not_reopened(member, project):
    trial = log(member, "trial", parent="sweep")
    assert trial.parent.state == State.FINISHED

    sweep = log(member, "sweep")

    assert sweep.id == trial.parent_id
    assert sweep.state == State.RUNNING
    assert not Reopening.objects.exists()


def test_a_child_keeps_its_first_parent(member, project):
    first = log(member, "trial", parent="sweep").parent

    assert log(member, "trial", parent="another").parent == first


def test_cycles_unknown_ids_and_parents_in_the_trash_are_ignored(member, project):
    log(member, "b", parent="a")
    trashed = make_run(project, "gone")
    Run.objects.filter(id=trashed.id).update(trashed_at=datetime.now(UTC))

    assert log(member, "a", parent="b").parent is None
    assert log(member, "c", parent="c").parent is None
    assert log(member, "d", parent=str(uuid4())).parent is None
    assert log(member, "e", parent="gone").parent is None


def test_nesting_ends_at_a_depth(member, project):
    for number in range(MAX_DEPTH):
        log(member, f"run-{number + 1}", parent=f"run-{number}")

    assert Run.objects.get(name=f"run-{MAX_DEPTH - 1}").parent is not None
    assert Run.objects.get(name=f"run-{MAX_DEPTH}").parent is None


def test_queries_find_children(member, project):
    log(member, "trial", parent="sweep")

    assert found(project, "parent = sweep") == {"trial"}
    assert found(project, 'parent ~ "wee"') == {"trial"}
    assert found(project, "exists parent") == {"trial"}
    assert found(project, "not exists parent") == {"sweep"}


def test_children_of_a_run_in_the_trash_have_no_parent(member, project):
    trial = log(member, "trial", parent="sweep")
    Run.objects.filter(id=trial.parent_id).update(trashed_at=datetime.now(UTC))

    assert found(project, "exists parent") == set()
    assert found(project, "not exists parent") == {"trial"}


def test_deleting_a_parent_leaves_its_children(member, project):
    trial = log(member, "trial", parent="sweep")
    Run.objects.filter(id=trial.parent_id).update(purging_at=datetime.now(UTC))

    assert purge_run(trial.parent_id, seconds=60).is_done

    trial.refresh_from_db()
    assert trial.parent is None


def test_a_run_that_moves_leaves_parent_and_children(member, project):
    middle = log(member, "middle", parent="top")
    leaf = log(member, "leaf", parent="middle")
    target = make_project(member, "other")
    Run.objects.filter(id=middle.id).update(state=State.FINISHED)

    move_run(Run.objects.get(id=middle.id), target, AuditContext(member.user_id))

    middle.refresh_from_db()
    leaf.refresh_from_db()
    assert (middle.parent, leaf.parent) == (None, None)

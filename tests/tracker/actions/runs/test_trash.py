"""Runs in the trash are restored, or deleted permanently."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.builders import Process, actor_of, make_member, make_project, make_run
from tracker import tasks
from tracker.access.projects import owned_project
from tracker.access.runs import doomed_run, editable_run, readable_run, trashed_run
from tracker.actions.runs.trash import (
    LONGEST_RETENTION_DAYS,
    delete_expired,
    delete_for_good,
    empty_trash,
    move_silent_to_trash,
    move_to_trash,
    pin,
    request_purges,
    restore,
    set_retention,
    unpin,
)
from tracker.actor import Scope
from tracker.errors import InvalidInput, NotAllowed, NotFound, Pinned
from tracker.models import Role, Run, State, Work, WorkKind
from tracker.queries.projects.trash import TRASH_DAYS, expired_count, trash_page

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NOW = timezone.now()
DAY = timedelta(days=1)


@pytest.fixture
def run(project):
    return make_run(project, "baseline", State.FINISHED)


def silent_for(run, days):
    Run.objects.filter(id=run.id).update(last_seen_at=NOW - days * DAY)
    run.refresh_from_db()


def is_in_trash(run):
    return Run.objects.in_trash().filter(id=run.id).exists()


def test_a_run_in_the_trash_is_not_there_to_be_read(member, run):
    move_to_trash(run)

    with pytest.raises(NotFound):
        readable_run(actor_of(member), run.id)
    assert trashed_run(actor_of(member), run.id) == run


def test_trashing_twice_keeps_the_first_moment(run):
    move_to_trash(run, now=NOW)
    move_to_trash(run, now=NOW + DAY)

    assert run.trashed_at == NOW


def test_a_run_comes_back_from_the_trash_as_it_was(member, run):
    move_to_trash(run)
    restore(run)

    assert readable_run(actor_of(member), run.id).pinned_at is None
    with pytest.raises(NotFound):
        trashed_run(actor_of(member), run.id)
    with pytest.raises(NotFound):
        restore(run)


def test_a_process_goes_on_where_it_was_once_its_run_is_restored(project):
    process = Process(project, "live")
    process.open()
    move_to_trash(process.run)
    with pytest.raises(NotFound):
        process.send([{"t": "set", "path": "lr", "value": 0.1}])

    restore(process.run)

    receipt = process.send([{"t": "set", "path": "lr", "value": 0.1}])
    assert (receipt.stored, receipt.refused_count) == (2, 0)


def test_a_pinned_run_stays_until_it_is_unpinned(run):
    pin(run)
    with pytest.raises(Pinned, match="unpin it first"):
        move_to_trash(run)
    assert not is_in_trash(run)

    unpin(run)
    move_to_trash(run)
    assert is_in_trash(run)


def test_retention_moves_what_has_been_silent_for_longer(project, run):
    silent_for(run, 8)
    kept = make_run(project, "newer", State.FINISHED)
    silent_for(kept, 6)
    set_retention(project, 7)
    assert expired_count(project) == 1

    assert move_silent_to_trash(NOW) == 1
    assert move_silent_to_trash(NOW) == 0

    assert (is_in_trash(run), is_in_trash(kept)) == (True, False)


def test_retention_spares_what_is_pinned_or_running(project, run):
    pin(run)
    running = make_run(project, "running")
    for spared in (run, running):
        silent_for(spared, 1_000)
    set_retention(project, 7)

    assert move_silent_to_trash(NOW) == 0


def test_without_retention_runs_are_kept_for_ever(project, run):
    silent_for(run, 10_000)

    assert move_silent_to_trash(NOW) == 0


def test_retention_is_of_one_project(project, member, run):
    other = make_run(make_project(member, "other"), "old", State.FINISHED)
    for silent in (run, other):
        silent_for(silent, 1_000)
    set_retention(project, 7)

    assert move_silent_to_trash(NOW) == 1
    assert not is_in_trash(other)


def test_a_run_that_retention_took_is_pinned_when_it_is_restored(project, run):
    silent_for(run, 1_000)
    set_retention(project, 7)
    move_silent_to_trash(NOW)

    restore(run)

    assert run.pinned_at is not None
    assert move_silent_to_trash(NOW) == 0


@pytest.mark.parametrize("days", [0, -1, LONGEST_RETENTION_DAYS + 1])
def test_refuses_days_that_make_no_sense(project, days):
    with pytest.raises(InvalidInput, match="retention_days must be 1 to"):
        set_retention(project, days)

    project.refresh_from_db()
    assert project.retention_days is None


def test_deletes_what_has_lain_in_the_trash_for_long_enough(project, run):
    newer = make_run(project, "newer", State.FINISHED)
    move_to_trash(run, now=NOW - (TRASH_DAYS + 1) * DAY)
    move_to_trash(newer, now=NOW - (TRASH_DAYS - 1) * DAY)

    assert delete_expired(NOW) == 1
    assert delete_expired(NOW) == 0

    assert (is_in_trash(run), is_in_trash(newer)) == (False, True)
    assert Work.objects.get(run=run, kind=WorkKind.PURGE).due_at is not None


def test_a_run_under_deletion_cannot_be_found_or_restored(member, project, run):
    move_to_trash(run)
    delete_for_good(run)

    page = trash_page(project, offset=0, limit=10)
    assert (page.total, page.being_deleted, page.runs) == (0, 1, [])
    for find in (readable_run, trashed_run, doomed_run):
        with pytest.raises(NotFound):
            find(actor_of(member), run.id)
    for change in (restore, delete_for_good):
        with pytest.raises(NotFound):
            change(run)


def test_only_what_is_in_the_trash_can_be_deleted(run):
    with pytest.raises(NotFound):
        delete_for_good(run)

    run.refresh_from_db()
    assert run.purging_at is None


def test_the_name_of_a_deleted_run_is_free_at_once(project, run):
    move_to_trash(run)
    with pytest.raises(NotFound):
        Process(project, "baseline").open()

    delete_for_good(run)

    process = Process(project, "baseline")
    process.open()
    assert process.run.id != run.id


def test_empties_one_trash(member, project, run):
    other = make_run(make_project(member, "other"), "other", State.FINISHED)
    for trashed in (run, other):
        move_to_trash(trashed)

    assert empty_trash(project) == 1

    assert is_in_trash(other)
    assert not is_in_trash(run)


def test_work_that_got_lost_is_asked_for_again(run):
    move_to_trash(run)
    delete_for_good(run)
    Work.objects.all().delete()

    request_purges()

    assert Work.objects.get().kind == WorkKind.PURGE


def test_the_timetable_moves_deletes_and_asks(project, run, monkeypatch):
    given = []
    monkeypatch.setattr(tasks, "give_space_back", given.append)
    silent_for(run, 100)
    set_retention(project, 7)
    expired = make_run(project, "expired", State.FINISHED)
    move_to_trash(expired, now=NOW - (TRASH_DAYS + 1) * DAY)

    for _ in range(2):
        tasks.clear_away()

    assert is_in_trash(run)
    (work,) = Work.objects.filter(kind=WorkKind.PURGE)
    assert work.run_id == expired.id
    assert len(given) == 2


def test_the_trash_is_listed_in_pages_newest_first(project):
    runs = [make_run(project, f"run {n}", State.FAILED) for n in range(3)]
    for number, run in enumerate(runs):
        move_to_trash(run, now=NOW - number * DAY)

    page = trash_page(project, offset=1, limit=1)

    assert page.total == 3
    (shown,) = page.runs
    assert (shown.name, shown.state) == ("run 1", "failed")
    assert shown.deleted_after == NOW + (TRASH_DAYS - 1) * DAY


@pytest.mark.parametrize(
    ("role", "may_trash", "may_delete"),
    [(Role.OWNER, True, True), (Role.MEMBER, True, False), (Role.VIEWER, False, False)],
)
def test_editors_trash_and_owners_delete(project, run, role, may_trash, may_delete):
    actor = actor_of(make_member("grace", role, workspace=project.workspace))

    assert allowed(editable_run, actor, run.id) == may_trash
    slugs = (project.workspace.slug, project.slug)
    assert allowed(owned_project, actor, *slugs) == may_delete
    move_to_trash(run)
    assert allowed(trashed_run, actor, run.id) == may_trash
    assert allowed(doomed_run, actor, run.id) == may_delete


def test_a_token_that_may_only_read_changes_nothing(member, project, run):
    reader = actor_of(member, Scope.READ)

    assert not allowed(editable_run, reader, run.id)
    assert not allowed(owned_project, reader, project.workspace.slug, project.slug)


def test_a_stranger_finds_nothing(stranger, run):
    for find in (editable_run, trashed_run, doomed_run):
        with pytest.raises(NotFound):
            find(actor_of(stranger), run.id)
    move_to_trash(run)
    with pytest.raises(NotFound):
        trashed_run(actor_of(stranger), run.id)


def allowed(find, *arguments):
    try:
        find(*arguments)
    except NotAllowed:
        return False
    return True

"""Ladders, dashboards, reports and views are deleted, restored and purged."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.builders import browser_of, make_member, make_run
from tracker import tasks
from tracker.access.objects import deleted_item, purgeable_item, readable_ladder
from tracker.actions import deletions
from tracker.actions.dashboards import create_dashboard
from tracker.actions.deletions import (
    delete_made,
    delete_made_for_good,
    empty_made,
    purge_deleted,
    restore_made,
)
from tracker.actions.ladders import RungRequest, create_ladder, put_ladder
from tracker.actions.report_comments import add_comment
from tracker.actions.reports import create_report, save_version
from tracker.actions.saved_views import keep_view, make_default
from tracker.boards.board import TITLE_LENGTH, Board
from tracker.errors import InvalidInput, NotAllowed, NotFound
from tracker.models import ReportComment, ReportVersion, Role, Run, Rung, SavedView
from tracker.queries.projects.deletions import MADE, deleted_page
from tracker.queries.projects.trash import TRASH_DAYS

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NOW = timezone.now()
LONG_AGO = NOW - timedelta(days=TRASH_DAYS, minutes=1)


@pytest.fixture
def ada(member):
    return browser_of(member)


@pytest.fixture
def makers(project, member, ada):
    """Return a function per kind that creates an object with a name."""
    run = make_run(project, "baseline")

    def report(name):
        made = create_report(project, name, user_id=member.user_id)
        save_version(made, name, "text", user_id=member.user_id, based_on=0)
        made.refresh_from_db()
        return made

    return {
        "ladder": lambda name: create_ladder(project, name, [RungRequest(run.name)]),
        "dashboard": lambda name: create_dashboard(
            project, name, Board(), user_id=member.user_id
        ),
        "report": report,
        "view": lambda name: keep_view(project, ada, name, "q=x", is_shared=True),
    }


@pytest.fixture(params=MADE)
def kind(request):
    return request.param


@pytest.fixture
def thing(makers, kind):
    return makers[kind]("nightly")


def delete(thing, member, now=None):
    delete_made(thing, user_id=member.user_id, now=now)


def listed(project, actor):
    return [
        (each.kind, each.name)
        for each in deleted_page(project, actor, offset=0, limit=100).things
    ]


def test_a_deleted_object_is_only_in_the_trash(project, member, ada, thing, kind):
    delete(thing, member)

    assert not type(thing).objects.exists()
    assert listed(project, ada) == [(kind, "nightly")]
    assert deleted_item(ada, kind, thing.id) == thing
    with pytest.raises(NotFound):
        delete(thing, member)


def test_it_comes_back_as_it_was(project, member, ada, thing, kind):
    before = type(thing).objects.values().get()
    delete(thing, member)

    restore_made(thing)

    after = type(thing).objects.values().get()
    assert after == before
    assert listed(project, ada) == []
    with pytest.raises(NotFound):
        restore_made(thing)


def test_the_trash_says_who_deleted_what_and_when(project, member, ada, makers):
    hours = {kind: timedelta(hours=hour) for hour, kind in enumerate(makers)}
    for kind, make in makers.items():
        delete(make(kind), member, NOW - hours[kind])

    page = deleted_page(project, ada, offset=1, limit=2)

    assert page.total == 4
    assert [each.kind for each in page.things] == ["dashboard", "report"]
    first = page.things[0]
    assert (first.name, first.deleted_by) == ("dashboard", "ada")
    assert first.deleted_at == NOW - hours["dashboard"]
    assert first.deleted_after == first.deleted_at + timedelta(days=TRASH_DAYS)
    assert not first.is_private
    member.user.delete()
    found = deleted_page(
        project,
        browser_of(make_member("eve", workspace=member.workspace)),
        offset=0,
        limit=9,
    )
    assert {each.deleted_by for each in found.things} == {""}


def test_a_name_is_free_at_once_and_who_comes_back_gets_another(
    makers, member, thing, kind
):
    delete(thing, member)
    again = makers[kind]("nightly")
    delete(again, member)
    makers[kind]("nightly")

    restore_made(thing)
    restore_made(again)

    names = sorted(type(thing).objects.values_list("name", flat=True))
    expected = ["nightly", "nightly (restored 2)", "nightly (restored)"]
    assert names == (["nightly"] * 3 if kind == "report" else expected)
    assert again.name == names[1]


def test_a_name_that_comes_back_fits_its_column(makers, member):
    long = "x" * TITLE_LENGTH
    first = makers["dashboard"](long)
    delete(first, member)
    makers["dashboard"](long)

    restore_made(first)

    assert first.name == f"{'x' * (TITLE_LENGTH - 11)} (restored)"


def test_a_script_that_puts_a_ladder_gets_a_new_one(project, makers, member):
    ladder = makers["ladder"]("nightly")
    delete(ladder, member)

    assert put_ladder(project, "nightly", [RungRequest("baseline")]) != ladder


@pytest.mark.parametrize("kind", ["dashboard", "report", "view"], indirect=True)
def test_restoring_beyond_the_maximum_is_refused(
    thing, kind, makers, member, monkeypatch
):
    monkeypatch.setattr(deletions, "MOST", {type(thing): 1})
    delete(thing, member)
    makers[kind]("in its place")

    with pytest.raises(InvalidInput, match="cannot be added; the limit is 1"):
        restore_made(thing)

    assert type(thing).objects.get().name == "in its place"


def test_a_default_view_comes_back_as_the_default_if_there_is_none(makers, member):
    first, second = makers["view"]("first"), makers["view"]("second")
    make_default(first, is_default=True)
    delete(first, member)
    restore_made(first)
    assert first.is_default

    delete(first, member)
    make_default(second, is_default=True)
    restore_made(first)

    assert SavedView.objects.get(is_default=True) == second


def test_it_is_purged_once_it_has_lain_there_for_long_enough(
    makers, member, monkeypatch
):
    # It must run outside of a transaction, and this test is in one.
    monkeypatch.setattr(tasks, "give_space_back", lambda _: None)
    early = {kind: make("early") for kind, make in makers.items()}
    late = {kind: make("late") for kind, make in makers.items()}
    for kind in MADE:
        delete(early[kind], member, LONG_AGO)
        delete(late[kind], member)

    tasks.clear_away()
    assert purge_deleted() == 0

    for kind, model in MADE.items():
        assert [each.name for each in model.with_deleted.all()] == ["late"], kind
    assert [rung.ladder.name for rung in Rung.objects.all()] == ["late"]
    assert [each.name for each in ReportVersion.objects.all()] == ["late"]
    assert Run.objects.count() == 1


def test_a_look_at_the_trash_purges_so_many_of_each_kind(makers, member, monkeypatch):
    monkeypatch.setattr(deletions, "PURGED_AT_ONCE", 2)
    for number in range(3):
        delete(makers["dashboard"](str(number)), member, LONG_AGO)
        delete(makers["view"](str(number)), member, LONG_AGO)

    assert [purge_deleted(), purge_deleted(), purge_deleted()] == [4, 2, 0]


def test_a_restored_object_is_not_purged(makers, member):
    report = makers["report"]("nightly")
    add_comment(report, "x", user_id=member.user_id, version=1)
    delete(report, member, LONG_AGO)
    restore_made(report)

    purge_deleted()

    assert ReportComment.objects.count() == 1
    with pytest.raises(NotFound):
        delete_made_for_good(report)


def test_emptying_takes_what_whoever_does_it_can_see(project, member, ada, makers):
    eve = make_member("eve", Role.VIEWER, workspace=member.workspace)
    hers = keep_view(project, browser_of(eve), "hers", "", is_shared=False)
    delete(hers, eve)
    for make in makers.values():
        delete(make("nightly"), member)
    kept = makers["dashboard"]("kept")

    assert empty_made(project, ada) == 4

    assert listed(project, browser_of(eve)) == [("view", "hers")]
    kept.refresh_from_db()


def test_members_can_restore_and_only_owners_can_delete_for_good(member, thing, kind):
    delete(thing, member)
    workspace = member.workspace
    vera, eve, owner = (
        browser_of(make_member(role, role, workspace=workspace))
        for role in (Role.VIEWER, Role.MEMBER, Role.OWNER)
    )
    stranger = browser_of(make_member("mallory"))

    assert deleted_item(eve, kind, thing.id) == thing
    assert purgeable_item(owner, kind, thing.id) == thing
    for actor in (eve, vera):
        with pytest.raises(NotAllowed):
            purgeable_item(actor, kind, thing.id)
    with pytest.raises(NotAllowed):
        deleted_item(vera, kind, thing.id)
    for seek in (deleted_item, purgeable_item):
        with pytest.raises(NotFound):
            seek(stranger, kind, thing.id)


def test_a_view_of_one_s_own_is_one_s_own_in_the_trash_as_well(project, member, ada):
    vera = make_member("vera", Role.VIEWER, workspace=member.workspace)
    actor = browser_of(vera)
    view = keep_view(project, actor, "hers", "", is_shared=False)
    delete(view, vera)

    (found,) = deleted_page(project, actor, offset=0, limit=9).things
    assert found.is_private
    assert listed(project, ada) == []
    assert purgeable_item(actor, "view", view.id) == view
    with pytest.raises(NotFound):
        deleted_item(ada, "view", view.id)


def test_there_is_no_other_kind_of_thing(ada, makers, member):
    ladder = makers["ladder"]("nightly")
    delete(ladder, member)

    for kind in ("run", "Ladder", "dashboard", "x"):
        with pytest.raises(NotFound):
            deleted_item(ada, kind, ladder.id)
    with pytest.raises(NotFound):
        readable_ladder(ada, ladder.id)

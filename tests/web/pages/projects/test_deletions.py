"""Deletion of runs' views, ladders and other items, with undo."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from tests.builders import browser_of, make_member, make_run
from tests.web.payloads import PAYLOADS
from tracker.actions.dashboards import create_dashboard
from tracker.actions.deletions import delete_made
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.reports import create_report
from tracker.actions.runs.trash import move_to_trash
from tracker.actions.saved_views import keep_view
from tracker.boards.board import Board, Widget
from tracker.models import Role
from tracker.queries.projects.deletions import MADE
from tracker.queries.projects.trash import TRASH_DAYS
from web.pages.projects import trash

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NAME = "<b>nightly</b>"
SHOWN = "&lt;b&gt;nightly&lt;/b&gt;"


@pytest.fixture
def owner(client_of, member):
    return client_of(member)


@pytest.fixture
def editor(client_of, member):
    return client_of(make_member("grace", Role.MEMBER, workspace=member.workspace))


@pytest.fixture
def viewer(client_of, member):
    return client_of(make_member("vera", Role.VIEWER, workspace=member.workspace))


@pytest.fixture
def made(project, member):
    run = make_run(project, "baseline")
    user_id = member.user_id
    return {
        "ladder": create_ladder(project, NAME, [RungRequest(run.name)]),
        "dashboard": create_dashboard(project, NAME, Board(), user_id=user_id),
        "report": create_report(project, NAME, user_id=user_id),
        "view": keep_view(project, browser_of(member), NAME, "", is_shared=True),
    }


@pytest.fixture(params=MADE)
def kind(request):
    return request.param


@pytest.fixture
def thing(made, kind):
    return made[kind]


def page_of(client, project, name="trash", **query):
    address = reverse(name, args=[project.workspace.slug, project.slug])
    return client.get(address, query).content.decode()


def delete(client, kind, thing):
    return client.post(reverse(f"{kind}-delete", args=[thing.id]))


def way(what, kind, thing):
    return reverse(f"deleted-{what}", args=[kind, thing.id])


def test_deleting_offers_to_undo_it_on_the_next_page(owner, project, thing, kind):
    deleted = delete(owner, kind, thing)

    assert deleted.status_code == 302
    page = owner.get(deleted["Location"]).content.decode()
    assert f"{SHOWN}\u2069” moved to the trash" in page
    assert way("restore", kind, thing) in page

    back = owner.post(way("restore", kind, thing))
    page = owner.get(back["Location"]).content.decode()
    assert f"{SHOWN}\u2069” restored." in page
    assert str(thing.id) in back["Location"]
    assert owner.post(way("restore", kind, thing)).status_code == 404


def test_it_is_on_no_page_while_it_is_in_the_trash(owner, project, made):
    for kind, thing in made.items():
        delete(owner, kind, thing)
    page_of(owner, project)  # consume the message

    for name in ("ladders", "dashboards", "reports", "runs"):
        assert SHOWN not in page_of(owner, project, name), name
    for kind in ("ladder", "dashboard", "report"):
        address = reverse(kind, args=[made[kind].id])
        assert owner.get(address).status_code == 404, kind
    assert (
        "nightly" not in owner.get(reverse("places"), {"q": "nightly"}).content.decode()
    )


def test_a_widget_says_that_its_ladder_is_gone_until_it_is_back(
    owner, project, made, member
):
    widget = Widget(
        id="aaaaaaaa", kind="ladder", settings={"ladder": str(made["ladder"].id)}
    )
    board = create_dashboard(
        project, "board", Board(widgets=(widget,)), user_id=member.user_id
    )
    body = reverse("widget-body", args=[board.id, "aaaaaaaa"])

    def shown():
        return owner.get(body).content.decode()

    assert "was deleted" not in shown()
    delete(owner, "ladder", made["ladder"])
    assert "This ladder was deleted." in shown()
    owner.post(way("restore", "ladder", made["ladder"]))
    assert "was deleted" not in shown()


def test_the_trash_lists_it_beside_runs(owner, project, made, member):
    deleted_at = timezone.now() - timedelta(days=3)
    for thing in made.values():
        delete_made(thing, user_id=member.user_id, now=deleted_at)
    move_to_trash(make_run(project, "slow"))

    page = page_of(owner, project)

    assert page.count(f">{SHOWN}</bdi>") == len(made)
    for kind, thing in made.items():
        assert f">{kind}</span>" in page
        assert way("restore", kind, thing) in page
        assert way("delete", kind, thing) in page
    assert "<bdi>ada</bdi>" in page
    until = deleted_at + timedelta(days=TRASH_DAYS)
    assert until.strftime("%-d %b %Y, %H:%M") in page
    assert "slow" in page


def test_each_list_of_the_trash_goes_on_by_itself(owner, project, member, monkeypatch):
    monkeypatch.setattr(trash, "SHOWN", 2)
    now = timezone.now()
    for number in range(3):
        board = create_dashboard(
            project, f"board {number}", Board(), user_id=member.user_id
        )
        at = now - timedelta(hours=number)
        delete_made(board, user_id=member.user_id, now=at)
        move_to_trash(make_run(project, f"run {number}"), now=at)

    first = page_of(owner, project, offset=2)
    assert ["run 2" in first, "run 0" in first] == [True, False]
    assert ["board 1" in first, "board 2" in first] == [True, False]
    assert "?offset=2&amp;made=2" in first

    both = page_of(owner, project, offset=2, made=2)
    assert ["run 2" in both, "board 2" in both, "board 0" in both] == [
        True,
        True,
        False,
    ]
    for mistyped in ("-1", "x"):
        address = reverse("trash", args=[project.workspace.slug, project.slug])
        assert owner.get(address, {"made": mistyped}).status_code == 400


def test_owners_delete_for_good_one_or_all(owner, project, made):
    for kind, thing in made.items():
        delete(owner, kind, thing)

    gone = owner.post(way("delete", "report", made["report"]))
    page = owner.get(gone["Location"]).content.decode()
    assert f"{SHOWN}\u2069” permanently deleted." in page
    assert page.count(f">{SHOWN}</bdi>") == 3
    assert "3 ladders, dashboards, reports and saved views" in page

    owner.post(reverse("trash-empty", args=[project.workspace.slug, project.slug]))
    assert "Trash is empty" in page_of(owner, project)
    assert not any(model.with_deleted.exists() for model in MADE.values())


def test_editors_restore_and_viewers_look(owner, editor, viewer, project, made):
    for kind, thing in made.items():
        delete(owner, kind, thing)
    page_of(owner, project)  # consume the message

    seen = {client: page_of(client, project) for client in (owner, editor, viewer)}
    for kind, thing in made.items():
        restoring, deleting = way("restore", kind, thing), way("delete", kind, thing)
        offered = [(restoring in page, deleting in page) for page in seen.values()]
        assert offered == [(True, True), (True, False), (False, False)], kind
        assert viewer.post(restoring).status_code == 403, kind
        assert [each.post(deleting).status_code for each in (viewer, editor)] == [
            403
        ] * 2
        assert editor.post(restoring).status_code == 302, kind


@pytest.mark.parametrize("what", ["restore", "delete"])
def test_strangers_find_nothing_and_nothing_happens_by_a_get(
    owner, client_of, stranger, what, made
):
    for kind, thing in made.items():
        delete(owner, kind, thing)

        assert client_of(stranger).post(way(what, kind, thing)).status_code == 404
        assert owner.get(way(what, kind, thing)).status_code == 405


def test_a_viewer_has_their_own_views_back(viewer, owner, project, member):
    slugs = [project.workspace.slug, project.slug]
    kept = viewer.post(reverse("view-keep", args=slugs), {"name": "mine", "state": ""})
    view_id = kept["Location"].split("view=")[1]

    page = viewer.get(viewer.post(reverse("view-delete", args=[view_id]))["Location"])
    assert reverse("deleted-restore", args=["view", view_id]) in page.content.decode()
    assert "mine" not in page_of(owner, project)
    shown = page_of(viewer, project)
    assert reverse("deleted-delete", args=["view", view_id]) in shown
    restored = viewer.post(reverse("deleted-restore", args=["view", view_id]))
    assert restored["Location"].endswith(f"?view={view_id}")


def test_what_comes_back_under_another_name_says_so(owner, project, made, member):
    delete(owner, "dashboard", made["dashboard"])
    create_dashboard(project, NAME, Board(), user_id=member.user_id)

    back = owner.post(way("restore", "dashboard", made["dashboard"]))

    page = owner.get(back["Location"]).content.decode()
    assert f"Restored as “\u2068{SHOWN} (restored)\u2069”" in page


def test_what_has_no_room_is_refused_in_words(owner, made, member, monkeypatch):
    from tracker.actions import deletions

    delete(owner, "dashboard", made["dashboard"])
    monkeypatch.setattr(deletions, "MOST", {type(made["dashboard"]): 0})

    refused = owner.post(way("restore", "dashboard", made["dashboard"]))

    assert refused.status_code == 400
    assert "the dashboard cannot be added" in refused.content.decode()


def test_hostile_names_are_shown_as_they_are(owner, project, member):
    for number, payload in enumerate(PAYLOADS):
        board = create_dashboard(
            project, f"{number} {payload}"[:200], Board(), user_id=member.user_id
        )
        delete_made(board, user_id=member.user_id)

    page = page_of(owner, project)

    assert not [each for each in PAYLOADS if "<" in each and each in page]

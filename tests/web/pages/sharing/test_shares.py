"""Making share links, the list of a project's, and revoking them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.builders import make_member, make_run
from tracker.actions.dashboards import create_dashboard
from tracker.actions.deletions import delete_made, restore_made
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.reports import create_report, save_version
from tracker.actions.runs.trash import move_to_trash
from tracker.boards.board import Board
from tracker.models import Role, ShareLink
from tracker.queries.reports.shares import live_count
from tracker.shares import KINDS

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def runs(project):
    return [make_run(project, name, "finished") for name in ("<b>one</b>", "two")]


@pytest.fixture
def editor(client_of, project):
    return client_of(make_member("grace", Role.MEMBER, workspace=project.workspace))


@pytest.fixture
def viewer(client_of, project):
    return client_of(make_member("vera", Role.VIEWER, workspace=project.workspace))


@pytest.fixture
def address(project):
    def of(name, *more):
        slugs = [project.workspace.slug, project.slug]
        return reverse(name, args=[*slugs, *more])

    return of


@pytest.fixture
def make(editor, address, runs):
    def post(client=editor, **typed):
        form = {"kind": "run", "of": str(runs[0].id), "expiry": "7", **typed}
        return client.post(address("shares"), form)

    return post


def secret_in(response):
    return re.search(r"/s/(sml_[\w-]+)/", response.content.decode())[1]


def test_a_link_is_shown_once_and_opens(make, editor, address, runs, settings):
    response = make(label="for the review")

    secret = secret_in(response)
    assert response.status_code == 201
    assert f"{settings.PUBLIC_URL}/s/{secret}/" in response.content.decode()
    assert (
        Client().get(f"/s/{secret}/")["Location"] == f"/s/{secret}/runs/{runs[0].id}/"
    )
    for path in (
        address("shares"),
        address("share") + f"?kind=run&of={runs[0].id}",
    ):
        page = editor.get(path).content.decode()
        assert "for the review" in page
        assert secret not in page


def test_a_dialog_gets_its_content_alone(editor, address, runs):
    query = {"kind": "run", "of": str(runs[0].id)}

    part = editor.get(address("share"), query, headers={"hx-request": "true"})
    whole = editor.get(address("share"), query)

    assert "<html" not in part.content.decode()
    assert "<html" in whole.content.decode()
    assert "&lt;b&gt;one&lt;/b&gt;" in part.content.decode()


@pytest.mark.parametrize(("expiry", "days"), [("1", 1), ("7", 7), ("30", 30)])
def test_a_link_ends_when_it_was_said_to(make, expiry, days):
    make(expiry=expiry)

    left = ShareLink.objects.get().expires_at - timezone.now()
    assert timedelta(days=days, minutes=-1) < left <= timedelta(days=days)


def test_a_link_may_never_end(make):
    make(expiry="")

    assert ShareLink.objects.get().expires_at is None


def test_a_link_holds_through_its_last_day(make):
    make(expiry="date", day="2199-12-31")

    assert ShareLink.objects.get().expires_at == datetime(2200, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "typed",
    [
        {"expiry": "8"},
        {"expiry": "date"},
        {"expiry": "date", "day": "soon"},
        {"expiry": "date", "day": "9999-12-31"},
        {"expiry": "date", "day": "2001-01-01"},
        {"label": "x" * 201},
        {"kind": "comparison", "of": "tab=table"},
    ],
    ids=str,
)
def test_what_is_wrong_is_said_and_nothing_is_made(make, typed):
    response = make(**typed)

    assert response.status_code in (400, 404)
    assert not ShareLink.objects.exists()


def test_what_was_typed_stays_when_something_is_wrong(make):
    page = make(label="for me", expiry="date", part=["logs"]).content.decode()

    assert 'role="alert"' in page
    assert 'value="for me"' in page
    assert re.search(r'value="logs" checked', page)


def test_nothing_is_ticked_to_begin_with(editor, address, runs):
    query = {"kind": "run", "of": str(runs[0].id)}

    dialog = editor.get(address("share"), query, headers={"hx-request": "true"})

    assert "checked" not in dialog.content.decode()


def test_only_what_was_ticked_is_kept(make):
    make(part=["logs", "config", "everything", "\0"])

    assert ShareLink.objects.get().parts == ["config", "logs"]


def test_viewers_and_strangers_make_none(make, viewer, stranger, client_of, address):
    assert make(client=viewer).status_code == 403
    assert make(client=client_of(stranger)).status_code == 404
    for name in ("shares", "share"):
        assert viewer.get(address(name)).status_code == 403
        assert client_of(stranger).get(address(name)).status_code == 404
        assert Client().get(address(name)).status_code == 302
    assert not ShareLink.objects.exists()


def test_viewers_and_strangers_revoke_none(make, viewer, stranger, client_of, address):
    make()
    path = address("share-revoke", ShareLink.objects.get().id)

    assert viewer.post(path).status_code == 403
    assert client_of(stranger).post(path).status_code == 404
    assert Client().post(path).status_code == 302
    assert ShareLink.objects.get().ended_at is None


def test_a_link_is_revoked_in_the_list(make, editor, address):
    secret = secret_in(make())
    path = address("share-revoke", ShareLink.objects.get().id)
    assert path in editor.get(address("shares")).content.decode()

    response = editor.post(path, follow=True)

    assert "revoked by grace" in response.content.decode()
    assert "Link revoked." in response.content.decode()
    assert path not in response.content.decode()
    assert Client().get(f"/s/{secret}/").status_code == 404


def test_a_link_is_revoked_in_the_dialog(make, editor, address):
    make()
    path = address("share-revoke", ShareLink.objects.get().id)

    page = editor.post(path, headers={"hx-request": "true"}).content.decode()

    assert "<html" not in page
    assert "revoked by grace" in page


def test_the_list_says_what_is_gone_and_ends_it_where_it_could_come_back(
    make, editor, address, runs
):
    make(kind="comparison", of=f"runs={runs[0].id},{runs[1].id}")
    for run in runs:
        move_to_trash(run)

    page = editor.get(address("shares")).content.decode()

    assert "inactive" in page
    assert '<span class="muted">deleted</span>' in page
    assert "Revoke link" in page


def test_a_link_to_what_lies_in_the_trash_opens_nothing_and_says_what_would(
    make, editor, address, runs, member
):
    project = runs[0].project
    kept = create_dashboard(project, "kept", Board(), user_id=member.user_id)
    gone = create_dashboard(project, "<i>gone", Board(), user_id=member.user_id)
    make(kind="dashboard", of=str(kept.id), label="the older one")
    make(kind="dashboard", of=str(gone.id), label="the newer one")
    assert live_count(project) == 2

    delete_made(gone, user_id=member.user_id)
    page = editor.get(address("shares")).content.decode()

    assert live_count(project) == 1
    assert page.index("the older one") < page.index("the newer one")
    assert "inactive" in page
    assert "&lt;i&gt;gone" in page
    assert f'<a href="{address("trash")}">trash</a>' in page
    assert page.count("Revoke link") == 2

    restore_made(gone)
    assert live_count(project) == 2
    assert "inactive" not in editor.get(address("shares")).content.decode()


def test_an_empty_list_says_what_to_do(editor, address):
    assert "No share links yet" in editor.get(address("shares")).content.decode()


def test_pages_of_what_can_be_shared_offer_it_to_editors(
    editor, viewer, address, runs, member
):
    project = runs[0].project
    ladder = create_ladder(project, "faster", [RungRequest(str(runs[0].id))])
    dashboard = create_dashboard(project, "overview", Board(), user_id=member.user_id)
    report = create_report(project, "What helped", user_id=member.user_id)
    save_version(report, "What helped", "x", user_id=member.user_id, based_on=0)
    pages = {
        "run": reverse("run", args=[runs[0].id]),
        "comparison": address("compare") + f"?runs={runs[0].id},{runs[1].id}",
        "ladder": reverse("ladder", args=[ladder.id]),
        "dashboard": reverse("dashboard", args=[dashboard.id]),
        "report": reverse("report", args=[report.id]),
    }

    assert pages.keys() == KINDS.keys()
    for kind, path in pages.items():
        page = editor.get(path).content.decode()
        offered = re.search(rf'href="([^"]*/shares/new\?kind={kind}&amp;[^"]*)"', page)
        assert editor.get(offered[1].replace("&amp;", "&")).status_code == 200
        assert "/shares/new" not in viewer.get(path).content.decode()


def test_settings_lead_to_the_list(make, editor, viewer, address):
    make()

    assert address("shares") in editor.get(address("project-settings")).content.decode()
    assert (
        address("shares")
        not in viewer.get(address("project-settings")).content.decode()
    )


def test_the_list_takes_as_many_statements_for_many_links(
    make, editor, address, django_assert_max_num_queries
):
    for _ in range(30):
        make()

    with django_assert_max_num_queries(14):
        editor.get(address("shares"))

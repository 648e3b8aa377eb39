"""The pages around the trash: moving runs away, undoing it, deleting, retention."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from tests.builders import make_member, make_run
from tracker.actions.runs.trash import move_to_trash
from tracker.models import Role, Run, State
from web.pages.projects import trash

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(project):
    return make_run(project, "<b>base</b>", State.FINISHED)


@pytest.fixture
def owner(client_of, member):
    return client_of(member)


@pytest.fixture
def editor(client_of, project):
    return client_of(make_member("grace", Role.MEMBER, workspace=project.workspace))


@pytest.fixture
def viewer(client_of, project):
    return client_of(make_member("vera", Role.VIEWER, workspace=project.workspace))


def address_of(project, name):
    return reverse(name, args=[project.workspace.slug, project.slug])


def page_of(client, project, name="trash", **query):
    return client.get(address_of(project, name), query).content.decode()


def test_a_run_s_page_moves_it_to_the_trash_with_a_way_back(owner, project, run):
    assert (
        reverse("run-trash", args=[run.id])
        in owner.get(reverse("run", args=[run.id])).content.decode()
    )

    moved = owner.post(reverse("run-trash", args=[run.id]))

    assert moved.status_code == 302
    page = owner.get(moved["Location"]).content.decode()
    assert "&lt;b&gt;base&lt;/b&gt;\u2069” moved to the trash" in page
    assert reverse("run-restore", args=[run.id]) in page

    back = owner.post(reverse("run-restore", args=[run.id]))
    assert back["Location"] == reverse("run", args=[run.id])
    assert owner.get(back["Location"]).status_code == 200
    assert "moved to the trash" not in owner.get(moved["Location"]).content.decode()


def test_a_pinned_run_offers_to_unpin_instead(owner, run):
    owner.post(reverse("run-pin", args=[run.id]))

    page = owner.get(reverse("run", args=[run.id])).content.decode()

    assert reverse("run-unpin", args=[run.id]) in page
    assert reverse("run-trash", args=[run.id]) not in page
    assert owner.post(reverse("run-trash", args=[run.id])).status_code == 409
    owner.post(reverse("run-unpin", args=[run.id]))
    assert Run.objects.get(id=run.id).pinned_at is None


def test_the_trash_lists_runs_and_when_they_are_deleted(owner, project, run):
    trashed_at = timezone.now() - timedelta(days=3)
    move_to_trash(run, now=trashed_at)

    page = page_of(owner, project)

    assert "&lt;b&gt;base&lt;/b&gt;" in page
    assert (trashed_at + timedelta(days=30)).strftime("%-d %b %Y, %H:%M") in page


def test_an_empty_trash_says_how_runs_come_here(owner, project):
    assert "Trash is empty" in page_of(owner, project)


def test_an_owner_deletes_one_run_or_all(owner, project, run):
    other = make_run(project, "other", State.FINISHED)
    third = make_run(project, "third", State.FINISHED)
    for trashed in (run, other, third):
        move_to_trash(trashed)

    owner.post(reverse("run-delete", args=[run.id]))
    assert "Permanently deleting" in page_of(owner, project)
    page = page_of(owner, project)
    assert "&lt;b&gt;base&lt;/b&gt;" not in page
    assert "Deleting 1 run" in page

    owner.post(address_of(project, "trash-empty"))
    page = page_of(owner, project)
    assert "Trash is empty" in page
    assert "Deleting 3 runs" in page


def test_editors_restore_and_viewers_look(editor, viewer, owner, project, run):
    move_to_trash(run)

    assert "Restore" in page_of(editor, project)
    assert "Delete" not in page_of(editor, project).replace("Deletion date", "")
    assert "Restore" not in page_of(viewer, project)
    for client in (editor, viewer):
        assert client.post(reverse("run-delete", args=[run.id])).status_code == 403
        assert client.post(address_of(project, "trash-empty")).status_code == 403
    assert viewer.post(reverse("run-restore", args=[run.id])).status_code == 403
    assert editor.post(reverse("run-restore", args=[run.id])).status_code == 302


def test_a_viewer_is_not_offered_what_they_may_not_do(viewer, run):
    page = viewer.get(reverse("run", args=[run.id])).content.decode()

    assert "Move to trash" not in page
    for name in ("run-trash", "run-pin", "run-unpin"):
        assert viewer.post(reverse(name, args=[run.id])).status_code == 403


def test_a_stranger_finds_nothing(client_of, stranger, project, run):
    client = client_of(stranger)

    for name in ("trash", "project-settings"):
        assert client.get(address_of(project, name)).status_code == 404
    for name in ("run-trash", "run-restore", "run-delete", "run-pin", "run-unpin"):
        assert client.post(reverse(name, args=[run.id])).status_code == 404
    assert client.post(address_of(project, "trash-empty")).status_code == 404


def test_changes_need_a_post(owner, project, run):
    for name in ("run-trash", "run-restore", "run-delete", "run-pin", "run-unpin"):
        assert owner.get(reverse(name, args=[run.id])).status_code == 405
    assert owner.get(address_of(project, "trash-empty")).status_code == 405


def test_a_long_trash_comes_in_pages(owner, project, monkeypatch):
    monkeypatch.setattr(trash, "SHOWN", 2)
    for number in range(3):
        move_to_trash(make_run(project, f"run {number}", State.FINISHED))

    first, second = page_of(owner, project), page_of(owner, project, offset=2)

    assert ("run 0" in first, "?offset=2" in first) == (False, True)
    assert ("run 0" in second, "?offset=0" in second) == (True, True)
    for offset in ("-1", "x", "9" * 30, "\u0663"):
        refused = owner.get(address_of(project, "trash"), {"offset": offset})
        assert refused.status_code == 400


def test_an_owner_says_how_long_runs_are_kept(owner, project, run):
    Run.objects.update(last_seen_at=timezone.now() - timedelta(days=10))
    settings = address_of(project, "project-settings")

    saved = owner.post(settings, {"retention_days": " 7 "})

    assert saved["Location"] == settings
    page = owner.get(saved["Location"]).content.decode()
    assert 'value="7"' in page
    assert "1 run is older than that" in page
    owner.post(settings, {"retention_days": ""})
    project.refresh_from_db()
    assert project.retention_days is None


@pytest.mark.parametrize(
    "typed", ["0", "-1", "7.5", "seven", "\u0667", "9" * 30, "1\0"]
)
def test_what_is_no_number_of_days_is_refused_and_kept_in_the_form(
    owner, project, typed
):
    response = owner.post(
        address_of(project, "project-settings"), {"retention_days": typed}
    )

    assert response.status_code == 400
    assert "retention_days must be" in response.content.decode()
    project.refresh_from_db()
    assert project.retention_days is None


def test_only_owners_change_how_long_runs_are_kept(editor, project):
    page = page_of(editor, project, "project-settings")

    assert "All runs are kept" in page
    assert "<form" not in page.partition("<main")[2].partition("</main>")[0]
    settings = address_of(project, "project-settings")
    assert editor.post(settings, {"retention_days": "7"}).status_code == 403

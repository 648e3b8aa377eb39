from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.urls import reverse

from tests.builders import browser_of, make_project, make_run
from tracker.actions.saved_views import keep_view
from tracker.models import Finding, State
from web.toasts import LONGEST_NAME, quoted

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(member):
    return make_run(make_project(member), "base", State.FINISHED)


@pytest.fixture
def owner(client_of, member):
    return client_of(member)


def read(client, path="/"):
    return client.get(path).content.decode()


def test_it_is_said_once_on_the_next_whole_page(owner, run):
    owner.post(reverse("run-pin", args=[run.id]))

    owner.get(reverse("run-header", args=[run.id]))
    owner.get(reverse("places"))
    first, second = read(owner), read(owner)

    assert "Run pinned." in first
    assert "Run pinned." not in second


@pytest.mark.parametrize(
    ("does", "undoes"),
    [("run-trash", "run-restore"), ("run-pin", "run-unpin"), ("run-unpin", "run-pin")],
)
def test_it_offers_the_way_back(owner, run, does, undoes):
    owner.post(reverse(does, args=[run.id]))

    page = read(owner)

    assert f'action="{reverse(undoes, args=[run.id])}"' in page
    assert "Undo" in page


def test_it_says_what_became_of_a_view(owner, member, run):
    view = keep_view(
        run.project, browser_of(member), "mine", "sort=name", is_shared=False
    )
    address = reverse("view-change", args=[view.id])

    def told(**fields):
        owner.post(address, fields)
        return re.findall(r'toast__text wrap">(.*?)<', read(owner))

    name = quoted("mine")
    assert told(shared="yes") == [f"View {name} shared with the team."]
    assert told(default="yes") == [f"View {name} is now the default for all members."]
    assert told(state="sort=-name") == [f"View {name} updated."]
    owner.post(reverse("view-delete", args=[view.id]))
    assert f"{name} moved to the trash. Runs are not affected." in read(owner)


def test_nobody_else_is_told(owner, client_of, stranger, run):
    owner.post(reverse("run-trash", args=[run.id]))

    assert "toast__text" not in read(client_of(stranger))


def test_what_was_planted_in_the_cookie_is_not_said(owner):
    owner.cookies[settings.TOAST_COOKIE_NAME] = '[["__json_message",0,20,"hello"]]'

    assert "hello" not in read(owner)


def test_a_dismissed_finding_can_be_brought_back(owner, run):
    from tests.web.every_page import make_finding

    finding = make_finding(run)
    owner.post(
        reverse("finding-dismiss", args=[run.id, finding.id]), {"reason": "known"}
    )

    page = read(owner)
    assert reverse("finding-bring-back", args=[run.id, finding.id]) in page

    owner.post(reverse("finding-bring-back", args=[run.id, finding.id]))
    assert Finding.objects.get(id=finding.id).dismissed_at is None
    assert "Finding restored." in read(owner)


@pytest.mark.parametrize("name", ["<b>x</b>", "\u202egnihton", "n" * 255, "a\r\nb"])
def test_a_name_is_quoted_letter_for_letter(owner, run, name):
    run.name = name
    run.save()

    owner.post(reverse("run-trash", args=[run.id]))

    assert "<b>x</b>" not in read(owner)
    assert len(quoted(name)) <= LONGEST_NAME + 4


def test_the_cookie_is_for_this_host_only(owner, run):
    response = owner.post(reverse("run-pin", args=[run.id]))

    cookie = response.cookies[settings.TOAST_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["domain"] == ""

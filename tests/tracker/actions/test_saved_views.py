from __future__ import annotations

import pytest

from tests.builders import browser_of, make_member
from tracker.actions.deletions import delete_made
from tracker.actions.saved_views import (
    MAX_VIEWS,
    keep_view,
    make_default,
    rename_view,
    replace_state,
    share_view,
)
from tracker.errors import InvalidInput, NotFound
from tracker.models import SavedView
from tracker.queries.runs.saved_views import saved_views

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def ada(member):
    return browser_of(member)


@pytest.fixture
def bob(member):
    return browser_of(make_member("bob", "viewer", workspace=member.workspace))


def names(project, actor) -> list[str]:
    return [view.name for view in saved_views(project, actor)]


def test_a_view_is_one_s_own_until_it_is_shared(project, ada, bob):
    view = keep_view(project, ada, " Best ", "sort=name", is_shared=False)

    assert (names(project, ada), names(project, bob)) == (["Best"], [])
    share_view(view, is_shared=True)
    assert names(project, bob) == ["Best"]
    share_view(view, is_shared=False)
    assert names(project, bob) == []


def test_two_people_may_use_the_same_name_and_one_may_not_twice(project, ada, bob):
    keep_view(project, ada, "mine", "", is_shared=False)
    keep_view(project, bob, "mine", "", is_shared=False)

    with pytest.raises(InvalidInput, match="name"):
        keep_view(project, ada, "mine", "", is_shared=True)
    other = keep_view(project, ada, "other", "", is_shared=False)
    with pytest.raises(InvalidInput, match="name"):
        rename_view(other, "mine")


@pytest.mark.parametrize("name", ["", " ", "a\0b", "\ud800", "n" * 101])
def test_refuses_what_is_no_name(project, ada, name):
    with pytest.raises(InvalidInput):
        keep_view(project, ada, name, "", is_shared=False)


def test_a_project_has_one_default_and_everybody_sees_it(project, ada, bob):
    one = keep_view(project, ada, "one", "", is_shared=False)
    two = keep_view(project, ada, "two", "", is_shared=False)

    make_default(one, is_default=True)
    make_default(two, is_default=True)

    assert [view.name for view in saved_views(project, bob) if view.is_default] == [
        "two"
    ]
    one.refresh_from_db()
    assert (one.is_default, one.is_shared) == (False, True)
    share_view(two, is_shared=False)
    assert not SavedView.objects.filter(is_default=True).exists()


def test_the_state_of_a_view_can_be_replaced(project, ada):
    view = keep_view(project, ada, "one", "sort=name", is_shared=False)

    replace_state(view, "sort=-name")

    assert SavedView.objects.get().state == "sort=-name"


def test_two_users_who_change_a_view_at_once_do_not_overwrite_each_other(project, ada):
    view = keep_view(project, ada, "one", "sort=name", is_shared=False)
    other = keep_view(project, ada, "other", "", is_shared=False)
    make_default(view, is_default=True)
    seen_before = SavedView.objects.get(id=view.id)

    replace_state(view, "sort=-name")
    make_default(other, is_default=True)
    rename_view(seen_before, "two")
    share_view(seen_before, is_shared=True)

    found = SavedView.objects.get(id=view.id)
    assert (found.name, found.state, found.is_default) == ("two", "sort=-name", False)


@pytest.mark.parametrize(
    "change",
    [
        lambda view: rename_view(view, "two"),
        lambda view: replace_state(view, "sort=name"),
        lambda view: share_view(view, is_shared=True),
        lambda view: make_default(view, is_default=True),
    ],
    ids=["name", "state", "shared", "default"],
)
def test_a_view_that_was_deleted_does_not_come_back(project, ada, change):
    view = keep_view(project, ada, "one", "", is_shared=False)
    delete_made(SavedView.objects.get(id=view.id), user_id=ada.user_id)

    with pytest.raises(NotFound):
        change(view)

    assert not SavedView.objects.exists()


def test_a_person_keeps_so_many_views_at_most(project, ada):
    SavedView.objects.bulk_create(
        SavedView(project=project, owner_id=ada.user_id, name=str(number))
        for number in range(MAX_VIEWS)
    )

    with pytest.raises(InvalidInput, match="cannot be added"):
        keep_view(project, ada, "one more", "", is_shared=False)


def test_a_stranger_sees_nothing_of_it(project, ada, stranger):
    keep_view(project, ada, "one", "", is_shared=True)

    assert names(project, browser_of(stranger)) == []

"""Creation, changes and deletion of dashboards."""

from __future__ import annotations

import pytest

from tests.builders import make_member, make_project
from tracker.actions.dashboards import (
    MAX_DASHBOARDS,
    add_widget,
    change_widget,
    create_dashboard,
    duplicate_dashboard,
    place_widget,
    put_back_widget,
    remove_widget,
    rename_dashboard,
    set_run_set,
)
from tracker.boards.board import Board, Place, RunSet, Widget, board_from, new_id
from tracker.errors import Changed, InvalidInput, NotFound
from tracker.models import Dashboard

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def ada():
    return make_member("ada")


@pytest.fixture
def grace(ada):
    return make_member("grace", workspace=ada.workspace)


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def dashboard(project, ada):
    board = Board(widgets=(text_widget("one"), text_widget("two", x=6)))
    return create_dashboard(project, "overview", board, user_id=ada.user_id)


def text_widget(text: str, *, x: int = 0) -> Widget:
    return Widget(
        id=new_id(), kind="text", place=Place(x, 0, 6, 4), settings={"text": text}
    )


def texts_of(dashboard: Dashboard) -> list[str]:
    kept = board_from(Dashboard.objects.get(id=dashboard.id).content)
    return [str(widget.settings["text"]) for widget in kept.widgets]


def first_of(dashboard: Dashboard) -> Widget:
    return board_from(dashboard.content).widgets[0]


def by(member, dashboard) -> dict[str, int]:
    return {"version": dashboard.version, "user_id": member.user_id}


def test_a_widget_is_added_where_there_is_room(dashboard, ada):
    made = add_widget(dashboard, text_widget("three"), **by(ada, dashboard))

    kept = board_from(Dashboard.objects.get().content)
    assert kept.widget(made.id).place == Place(0, 4, 6, 4)
    assert texts_of(dashboard) == ["one", "two", "three"]
    assert dashboard.version == 2
    assert dashboard.changed_by == ada.user


def test_a_widget_is_changed_in_its_place(dashboard, ada):
    first = first_of(dashboard)
    other = Widget(id=first.id, kind="text", settings={"text": "new"})

    change_widget(dashboard, other, **by(ada, dashboard))

    assert texts_of(dashboard) == ["new", "two"]


def test_others_make_room_for_what_is_moved(dashboard, ada):
    second = board_from(dashboard.content).widgets[1]

    place_widget(dashboard, second.id, Place(0, 0, 12, 2), **by(ada, dashboard))

    assert texts_of(dashboard) == ["two", "one"]


def test_a_removed_widget_can_be_put_back_where_it_was(dashboard, ada):
    first = first_of(dashboard)

    remove_widget(dashboard, first.id, **by(ada, dashboard))
    assert texts_of(dashboard) == ["two"]
    put_back_widget(dashboard, first.id, **by(ada, dashboard))

    assert texts_of(dashboard) == ["one", "two"]
    assert first_of(dashboard) == first
    assert board_from(dashboard.content).removed == ()


def test_only_the_last_removed_are_kept(dashboard, ada):
    for number in range(12):
        made = add_widget(dashboard, text_widget(str(number)), **by(ada, dashboard))
        remove_widget(dashboard, made.id, **by(ada, dashboard))

    removed = board_from(dashboard.content).removed
    assert [each.settings["text"] for each in removed] == [
        str(number) for number in range(11, 1, -1)
    ]


CHANGES = {
    "add": lambda board, widget, how: add_widget(board, widget, **how),
    "change": lambda board, widget, how: change_widget(board, widget, **how),
    "move": lambda board, widget, how: place_widget(
        board, widget.id, Place(0, 9, 3, 3), **how
    ),
    "remove": lambda board, widget, how: remove_widget(board, widget.id, **how),
    "runs": lambda board, _, how: set_run_set(board, RunSet(first=3), **how),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_two_users_who_edit_at_once_do_not_overwrite_each_other(
    dashboard, ada, grace, change
):
    seen_by_both = by(ada, dashboard)
    mine = Dashboard.objects.get(id=dashboard.id)
    add_widget(dashboard, text_widget("graces"), **by(grace, dashboard))

    with pytest.raises(Changed, match="grace changed this dashboard") as refusal:
        change(mine, first_of(mine), seen_by_both)

    assert refusal.value.version == 2
    assert texts_of(dashboard) == ["one", "two", "graces"]


def test_a_version_that_never_was_changes_nothing(dashboard, ada):
    with pytest.raises(Changed):
        add_widget(dashboard, text_widget("x"), version=7, user_id=ada.user_id)


@pytest.mark.parametrize("change", ["change", "move", "remove"])
def test_a_widget_that_is_gone_cannot_be_changed(dashboard, ada, change):
    with pytest.raises(NotFound, match="widget"):
        CHANGES[change](dashboard, text_widget("x"), by(ada, dashboard))


def test_a_copy_has_a_free_name_and_a_life_of_its_own(dashboard, ada):
    copies = [duplicate_dashboard(dashboard, user_id=ada.user_id) for _ in range(2)]
    remove_widget(copies[0], first_of(copies[0]).id, **by(ada, copies[0]))

    assert [copy.name for copy in copies] == ["overview (copy)", "overview (copy 2)"]
    assert texts_of(dashboard) == ["one", "two"]


def test_a_copy_of_the_longest_name_has_a_name(project, ada):
    long = create_dashboard(project, "x" * 200, Board(), user_id=ada.user_id)

    assert len(duplicate_dashboard(long, user_id=ada.user_id).name) == 200


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\0", "\ud800", "taken"])
def test_a_name_that_cannot_be_is_refused(dashboard, project, ada, name):
    create_dashboard(project, "taken", Board(), user_id=ada.user_id)

    with pytest.raises(InvalidInput):
        rename_dashboard(dashboard, name)
    with pytest.raises(InvalidInput):
        create_dashboard(project, name, Board(), user_id=ada.user_id)

    assert Dashboard.objects.get(id=dashboard.id).name == "overview"


def test_renaming_does_not_conflict_with_edits(dashboard, ada):
    rename_dashboard(dashboard, "nightly")

    add_widget(dashboard, text_widget("x"), version=1, user_id=ada.user_id)
    assert Dashboard.objects.get().name == "nightly"


def test_a_project_has_so_many_dashboards_at_most(project, ada):
    Dashboard.objects.bulk_create(
        Dashboard(project=project, name=str(number)) for number in range(MAX_DASHBOARDS)
    )

    with pytest.raises(InvalidInput, match="cannot be added"):
        create_dashboard(project, "one more", Board(), user_id=ada.user_id)


def test_a_dashboard_outlives_who_made_it(dashboard, ada):
    ada.user.delete()

    assert Dashboard.objects.get().changed_by is None

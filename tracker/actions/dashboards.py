"""Makes, changes, copies and deletes dashboards.

Who changes a dashboard says which version they saw. If it is another by now, nothing is
stored: of two people who edit at once, neither overwrites the other.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone
from msgspec.structs import replace

from tracker.actions.shares import end_links
from tracker.boards.board import (
    MOST_REMOVED,
    TITLE_LENGTH,
    Board,
    Place,
    RunSet,
    Widget,
    board_from,
    is_storable,
    new_id,
    stored,
)
from tracker.boards.grid import settled, with_widget
from tracker.errors import Changed, InvalidInput, NotFound
from tracker.models import Dashboard, Project, User

MOST_DASHBOARDS = 200


def create_dashboard(
    project: Project, name: str, board: Board, *, user_id: int | None
) -> Dashboard:
    """Make a dashboard, unless the project already has one of that name."""
    content = stored(replace(board, widgets=settled(board.widgets)))
    return _created(project, checked_name(name), content, user_id)


def duplicate_dashboard(dashboard: Dashboard, *, user_id: int | None) -> Dashboard:
    """Make another one like it, under a name that is free."""
    names = set(
        Dashboard.objects.filter(project=dashboard.project).values_list(
            "name", flat=True
        )
    )
    name = _free_name(dashboard.name, names)
    return _created(dashboard.project, name, dashboard.content, user_id)


def rename_dashboard(dashboard: Dashboard, name: str) -> None:
    """Give a dashboard another name; what it shows stays as it is."""
    dashboard.name = checked_name(name)
    try:
        with transaction.atomic():
            dashboard.save(update_fields=["name"])
    except IntegrityError as error:
        raise InvalidInput("name", TAKEN) from error


def delete_dashboard(dashboard: Dashboard) -> None:
    """Delete a dashboard and end its links; the runs it shows stay."""
    with transaction.atomic():
        end_links("dashboard", [dashboard.id], timezone.now())
        dashboard.delete()


def set_run_set(
    dashboard: Dashboard, run_set: RunSet, *, version: int, user_id: int
) -> None:
    """Say which runs the widgets without runs of their own are about."""
    _change(
        dashboard,
        lambda board: replace(board, run_set=run_set),
        version=version,
        user_id=user_id,
    )


def add_widget(
    dashboard: Dashboard, widget: Widget, *, version: int, user_id: int
) -> Widget:
    """Add a widget where there is room; it gets an id of its own."""
    widget = replace(widget, id=new_id())
    _change(
        dashboard,
        lambda board: replace(board, widgets=with_widget(board.widgets, widget)),
        version=version,
        user_id=user_id,
    )
    return widget


def change_widget(
    dashboard: Dashboard, widget: Widget, *, version: int, user_id: int
) -> None:
    """Put this in place of the widget with the same id."""

    def changed(board: Board) -> Board:
        _known(board, widget.id)
        others = [each for each in board.widgets if each.id != widget.id]
        return replace(board, widgets=settled([*others, widget], widget.id))

    _change(dashboard, changed, version=version, user_id=user_id)


def place_widget(
    dashboard: Dashboard, widget_id: str, place: Place, *, version: int, user_id: int
) -> None:
    """Move or resize a widget; others make room for it."""

    def changed(board: Board) -> Board:
        widget = replace(_known(board, widget_id), place=place)
        others = [each for each in board.widgets if each.id != widget_id]
        return replace(board, widgets=settled([*others, widget], widget_id))

    _change(dashboard, changed, version=version, user_id=user_id)


def remove_widget(
    dashboard: Dashboard, widget_id: str, *, version: int, user_id: int
) -> None:
    """Remove a widget; the last few can be put back."""

    def changed(board: Board) -> Board:
        widget = _known(board, widget_id)
        others = [each for each in board.widgets if each.id != widget_id]
        return replace(
            board,
            widgets=settled(others),
            removed=(widget, *board.removed)[:MOST_REMOVED],
        )

    _change(dashboard, changed, version=version, user_id=user_id)


def put_back_widget(
    dashboard: Dashboard, widget_id: str, *, version: int, user_id: int
) -> None:
    """Put a removed widget back where it was."""

    def changed(board: Board) -> Board:
        found = [each for each in board.removed if each.id == widget_id]
        if not found:
            raise NotFound("removed widget")
        return replace(
            board,
            widgets=settled([*board.widgets, found[0]], widget_id),
            removed=tuple(each for each in board.removed if each.id != widget_id),
        )

    _change(dashboard, changed, version=version, user_id=user_id)


TAKEN = "is already the name of a dashboard of this project"


def checked_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= TITLE_LENGTH or not is_storable(name):
        raise InvalidInput("name", f"must be text of 1 to {TITLE_LENGTH} characters")
    return name


def _created(
    project: Project, name: str, content: object, user_id: int | None
) -> Dashboard:
    with transaction.atomic():
        # Two at once would both see room for one more.
        Project.objects.select_for_update(no_key=True).get(id=project.id)
        if Dashboard.objects.filter(project=project).count() >= MOST_DASHBOARDS:
            raise InvalidInput("dashboards", f"may be at most {MOST_DASHBOARDS}")
        try:
            with transaction.atomic():
                return Dashboard.objects.create(
                    project=project, name=name, content=content, changed_by_id=user_id
                )
        except IntegrityError as error:
            raise InvalidInput("name", TAKEN) from error


def _free_name(name: str, taken: set[str]) -> str:
    for number in count(1):
        end = " (copy)" if number == 1 else f" (copy {number})"
        wanted = name[: TITLE_LENGTH - len(end)] + end
        if wanted not in taken:
            return wanted
    raise AssertionError("numbers do not end")


def _known(board: Board, widget_id: str) -> Widget:
    widget = board.widget(widget_id)
    if widget is None:
        raise NotFound("widget")
    return widget


def _change(
    dashboard: Dashboard,
    change: Callable[[Board], Board],
    *,
    version: int,
    user_id: int,
) -> None:
    if dashboard.version != version:
        raise _changed(dashboard.id)
    content = stored(change(board_from(dashboard.content)))
    now = timezone.now()
    changed = Dashboard.objects.filter(id=dashboard.id, version=version).update(
        content=content, version=version + 1, changed_at=now, changed_by_id=user_id
    )
    if not changed:  # somebody was faster
        raise _changed(dashboard.id)
    dashboard.content, dashboard.version = content, version + 1
    dashboard.changed_at = now
    dashboard.changed_by = User.objects.filter(id=user_id).first()


def _changed(dashboard_id: UUID) -> Changed:
    dashboard = Dashboard.objects.select_related("changed_by").filter(id=dashboard_id)
    found = dashboard.first()
    who = found.changed_by.username if found and found.changed_by else ""
    return Changed("dashboard", who, version=found.version if found else 0)

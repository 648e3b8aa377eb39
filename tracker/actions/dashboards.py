"""Creates, changes and copies dashboards.

A change names the version that the user saw. If there is a newer one, the change is
rejected, so that concurrent editors do not overwrite each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import transaction
from django.utils import timezone
from msgspec.structs import replace

from tracker.actions.changed import changed_meanwhile
from tracker.actions.names import checked_name, expect_room, free_name, named_once
from tracker.boards.board import (
    MAX_REMOVED,
    TITLE_LENGTH,
    Board,
    Place,
    RunSet,
    Widget,
    board_from,
    new_id,
    stored,
)
from tracker.boards.grid import settled, with_widget
from tracker.errors import NotFound
from tracker.models import Dashboard, Project, User

NAMED = "a dashboard of this project"
MAX_DASHBOARDS = 200


def create_dashboard(
    project: Project, name: str, board: Board, *, user_id: int | None
) -> Dashboard:
    """Create a dashboard; raise InvalidInput if the name is taken."""
    content = stored(replace(board, widgets=settled(board.widgets)))
    name = checked_name(name, TITLE_LENGTH)
    with _room_for_one(project):
        return _created(project, name, content, user_id)


def duplicate_dashboard(dashboard: Dashboard, *, user_id: int | None) -> Dashboard:
    """Copy the dashboard under a free name."""
    project = dashboard.project
    with _room_for_one(project):
        own = Dashboard.objects.filter(project=project)
        name = free_name(
            dashboard.name,
            set(own.values_list("name", flat=True)),
            TITLE_LENGTH,
            lambda number: f" (copy {number})" if number > 1 else " (copy)",
        )
        return _created(project, name, dashboard.content, user_id)


def rename_dashboard(dashboard: Dashboard, name: str) -> None:
    """Rename a dashboard."""
    name = checked_name(name, TITLE_LENGTH)
    with named_once(NAMED):
        changed = Dashboard.objects.filter(id=dashboard.id).update(name=name)
    if not changed:
        raise NotFound("dashboard")
    dashboard.name = name


def set_run_set(
    dashboard: Dashboard, run_set: RunSet, *, version: int, user_id: int
) -> None:
    """Set the runs of widgets without their own runs."""
    _change(
        dashboard,
        lambda board: replace(board, run_set=run_set),
        version=version,
        user_id=user_id,
    )


def add_widget(
    dashboard: Dashboard, widget: Widget, *, version: int, user_id: int
) -> Widget:
    """Add a widget at a free position, with a new id."""
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
    """Replace the widget with the same id."""

    def changed(board: Board) -> Board:
        _known(board, widget.id)
        others = [each for each in board.widgets if each.id != widget.id]
        return replace(board, widgets=settled([*others, widget], widget.id))

    _change(dashboard, changed, version=version, user_id=user_id)


def place_widget(
    dashboard: Dashboard, widget_id: str, place: Place, *, version: int, user_id: int
) -> None:
    """Move or resize a widget; other widgets move out of its way."""

    def changed(board: Board) -> Board:
        widget = replace(_known(board, widget_id), place=place)
        others = [each for each in board.widgets if each.id != widget_id]
        return replace(board, widgets=settled([*others, widget], widget_id))

    _change(dashboard, changed, version=version, user_id=user_id)


def remove_widget(
    dashboard: Dashboard, widget_id: str, *, version: int, user_id: int
) -> None:
    """Remove a widget; the most recent ones can be restored."""

    def changed(board: Board) -> Board:
        widget = _known(board, widget_id)
        others = [each for each in board.widgets if each.id != widget_id]
        return replace(
            board,
            widgets=settled(others),
            removed=(widget, *board.removed)[:MAX_REMOVED],
        )

    _change(dashboard, changed, version=version, user_id=user_id)


def put_back_widget(
    dashboard: Dashboard, widget_id: str, *, version: int, user_id: int
) -> None:
    """Restore a removed widget at its old position."""

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


@contextmanager
def _room_for_one(project: Project) -> Iterator[None]:
    with transaction.atomic():
        own = Dashboard.objects.filter(project=project)
        expect_room(project, own, MAX_DASHBOARDS, "dashboard")
        yield


def _created(
    project: Project, name: str, content: object, user_id: int | None
) -> Dashboard:
    with named_once(NAMED):
        return Dashboard.objects.create(
            project=project, name=name, content=content, changed_by_id=user_id
        )


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
    row = Dashboard.objects.filter(id=dashboard.id)
    if dashboard.version != version:
        raise changed_meanwhile(row, "dashboard")
    content = stored(change(board_from(dashboard.content)))
    now = timezone.now()
    changed = row.filter(version=version).update(
        content=content, version=version + 1, changed_at=now, changed_by_id=user_id
    )
    if not changed:  # a newer version exists
        raise changed_meanwhile(row, "dashboard")
    dashboard.content, dashboard.version = content, version + 1
    dashboard.changed_at = now
    dashboard.changed_by = User.objects.filter(id=user_id).first()

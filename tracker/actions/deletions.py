"""Deletes, restores and purges dashboards, ladders, reports and saved views.

A deleted object is hidden at once and keeps its rows; its share links stop working
until it is restored. After a period it is purged, each object in its own transaction.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from tracker.actions.dashboards import MAX_DASHBOARDS
from tracker.actions.names import expect_room, free_name, named_once
from tracker.actions.reports import MAX_REPORTS
from tracker.actions.saved_views import MAX_VIEWS
from tracker.actions.saved_views import NAME_LENGTH as VIEW_NAME_LENGTH
from tracker.actions.shares import end_links
from tracker.actor import Actor
from tracker.boards.board import TITLE_LENGTH
from tracker.errors import NotFound
from tracker.models import Dashboard, Project, Report, SavedView
from tracker.queries.projects.deletions import MADE, Made, deleted_rows
from tracker.queries.projects.trash import TRASH_DAYS

MOST = {Dashboard: MAX_DASHBOARDS, Report: MAX_REPORTS, SavedView: MAX_VIEWS}
# Objects of each kind purged per pass.
PURGED_AT_ONCE = 200


def delete_made(item: Made, *, user_id: int, now: datetime | None = None) -> None:
    """Hide an object; the runs that it refers to are unaffected."""
    deleted_at = now or timezone.now()
    kept = MADE[kind_of(item)].objects.filter(id=item.id)
    if not kept.update(deleted_at=deleted_at, deleted_by_id=user_id):
        raise NotFound(kind_of(item))
    item.deleted_at = deleted_at


def restore_made(item: Made) -> None:
    """Restore the object, under another name if its own is taken."""
    with transaction.atomic():
        # Locked, so that no concurrent request takes the name or the last free slot.
        Project.objects.select_for_update(no_key=True).get(id=item.project_id)
        siblings = _siblings(item)
        if (most := MOST.get(type(item))) is not None:
            expect_room(item.project, siblings, most, f"the {kind_of(item)}")
        fields: dict[str, object] = {
            "deleted_at": None,
            "deleted_by": None,
            "name": item.name,
        }
        if not isinstance(item, Report):  # reports may share a name
            fields["name"] = _free_name(item, siblings)
        if isinstance(item, SavedView) and _has_default(item):
            fields["is_default"] = False
        rows = MADE[kind_of(item)].with_deleted.filter(id=item.id)
        with named_once(f"another {kind_of(item)}"):
            back = rows.filter(deleted_at__isnull=False).update(**fields)
        if not back:
            raise NotFound(kind_of(item))
    item.refresh_from_db()


def delete_made_for_good(item: Made) -> None:
    """Delete a trashed object permanently."""
    if not _purged(MADE[kind_of(item)].with_deleted.filter(id=item.id)):
        raise NotFound(kind_of(item))


def empty_made(project: Project, actor: Actor) -> int:
    """Delete all objects but runs that the actor sees in the trash; return their
    number.
    """
    every = [deleted_rows(kind, actor).filter(project=project) for kind in MADE]
    return sum(_purge_all(rows, None) for rows in every)


def purge_deleted(now: datetime | None = None) -> int:
    """Delete objects past their time in the trash; return their number."""
    limit = (now or timezone.now()) - timedelta(days=TRASH_DAYS)
    due = [model.with_deleted.filter(deleted_at__lt=limit) for model in MADE.values()]
    return sum(_purge_all(rows, PURGED_AT_ONCE) for rows in due)


def kind_of(item: Made) -> str:
    return next(kind for kind, model in MADE.items() if isinstance(item, model))


def _siblings(item: Made) -> QuerySet[Any]:
    """Return the objects that share its names and limits."""
    rows: QuerySet[Any] = type(item).objects.filter(project_id=item.project_id)
    if isinstance(item, SavedView):
        return rows.filter(owner_id=item.owner_id)
    return rows


def _free_name(item: Made, siblings: QuerySet[Any]) -> str:
    taken = set(siblings.values_list("name", flat=True))
    if item.name not in taken:
        return item.name
    return free_name(
        item.name,
        taken,
        VIEW_NAME_LENGTH if isinstance(item, SavedView) else TITLE_LENGTH,
        lambda number: f" (restored {number})" if number > 1 else " (restored)",
    )


def _has_default(view: SavedView) -> bool:
    others = SavedView.objects.filter(project_id=view.project_id, is_default=True)
    return others.exists()


def _purge_all(rows: QuerySet[Any], most: int | None) -> int:
    ids = rows.order_by("deleted_at").values_list("id", flat=True)[:most]
    return sum(_purged(rows.filter(id=each)) for each in list(ids))


def _purged(rows: QuerySet[Any]) -> bool:
    """Delete the row, unless it was restored or purged concurrently."""
    with transaction.atomic():
        due = rows.filter(deleted_at__isnull=False).select_for_update(of=("self",))
        item = due.first()
        if item is None:
            return False
        end_links(kind_of(item), [item.id], timezone.now())
        item.delete()
    return True

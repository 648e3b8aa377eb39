"""Saves and changes views of a project's runs table."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from tracker.actions.names import checked_name, expect_room, named_once
from tracker.actor import Actor
from tracker.errors import NotFound
from tracker.models import Project, SavedView

NAMED = "another view of yours in this project"
NAME_LENGTH = 100
# Per user and project.
MAX_VIEWS = 200


def keep_view(
    project: Project, actor: Actor, name: str, state: str, *, is_shared: bool
) -> SavedView:
    """Save a table state under a name, unique per user and project."""
    name = checked_name(name, NAME_LENGTH)
    own = SavedView.objects.filter(project=project, owner_id=actor.user_id)
    with transaction.atomic():
        expect_room(project, own, MAX_VIEWS, "view")
        with named_once(NAMED):
            return SavedView.objects.create(
                project=project,
                owner_id=actor.user_id,
                name=name,
                state=state,
                is_shared=is_shared,
            )


def replace_state(view: SavedView, state: str) -> None:
    """Replace the table state of a view."""
    _change(view, state=state)


def rename_view(view: SavedView, name: str) -> None:
    name = checked_name(name, NAME_LENGTH)
    with named_once(NAMED):
        _change(view, name=name)


def share_view(view: SavedView, *, is_shared: bool) -> None:
    """Share a view with all readers of the project, or make it private."""
    if is_shared:
        _change(view, is_shared=True)
    else:
        _change(view, is_shared=False, is_default=False)


def make_default(view: SavedView, *, is_default: bool) -> None:
    """Set or clear the project's default view; a default view is shared."""
    if not is_default:
        _change(view, is_default=False)
        return
    with transaction.atomic():
        # With concurrent choices, the last one wins.
        Project.objects.select_for_update(no_key=True).get(id=view.project_id)
        others = SavedView.objects.filter(project=view.project_id, is_default=True)
        others.exclude(id=view.id).update(is_default=False)
        _change(view, is_shared=True, is_default=True)


def _change(view: SavedView, **fields: object) -> None:
    """Update only these fields: others may be changed, or the view deleted,
    concurrently.
    """
    fields["changed_at"] = timezone.now()
    if not SavedView.objects.filter(id=view.id).update(**fields):
        raise NotFound("view")
    for name, value in fields.items():
        setattr(view, name, value)

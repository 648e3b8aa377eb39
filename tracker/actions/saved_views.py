"""Keeps and changes views of a project's runs table."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from tracker.actions.names import checked_name, expect_room, named_once
from tracker.actor import Actor
from tracker.errors import NotFound
from tracker.models import Project, SavedView

NAMED = "another view of yours in this project"
NAME_LENGTH = 100
# Of one person in one project.
MAX_VIEWS = 200


def keep_view(
    project: Project, actor: Actor, name: str, state: str, *, is_shared: bool
) -> SavedView:
    """Keep a table under a name, which a person can have once in a project."""
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
    """Have a view show another table from now on."""
    _change(view, state=state)


def rename_view(view: SavedView, name: str) -> None:
    name = checked_name(name, NAME_LENGTH)
    with named_once(NAMED):
        _change(view, name=name)


def share_view(view: SavedView, *, is_shared: bool) -> None:
    """Show a view to everybody who may read the project, or to its owner alone."""
    if is_shared:
        _change(view, is_shared=True)
    else:
        _change(view, is_shared=False, is_default=False)


def make_default(view: SavedView, *, is_default: bool) -> None:
    """Have a project's runs open with this view, or with none; it is shared then."""
    if not is_default:
        _change(view, is_default=False)
        return
    with transaction.atomic():
        # Two people may choose at once; the later one's choice stays.
        Project.objects.select_for_update(no_key=True).get(id=view.project_id)
        others = SavedView.objects.filter(project=view.project_id, is_default=True)
        others.exclude(id=view.id).update(is_default=False)
        _change(view, is_shared=True, is_default=True)


def _change(view: SavedView, **fields: object) -> None:
    """Write these fields alone: others may change the rest, or delete it, meanwhile."""
    fields["changed_at"] = timezone.now()
    if not SavedView.objects.filter(id=view.id).update(**fields):
        raise NotFound("view")
    for name, value in fields.items():
        setattr(view, name, value)

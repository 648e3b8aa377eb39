"""Keeps, changes and deletes views of a project's runs table."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from tracker.actor import Actor
from tracker.errors import InvalidInput
from tracker.models import Project, SavedView

NAME_LENGTH = 100
# Of one person in one project.
MOST_VIEWS = 200


def keep_view(
    project: Project, actor: Actor, name: str, state: str, *, is_shared: bool
) -> SavedView:
    """Keep a table under a name, which a person can have once in a project."""
    own = SavedView.objects.filter(project=project, owner_id=actor.user_id)
    if own.count() >= MOST_VIEWS:
        raise InvalidInput("view", f"is one too many; {MOST_VIEWS} can be kept")
    view = SavedView(
        project=project,
        owner_id=actor.user_id,
        name=_checked_name(name),
        state=state,
        is_shared=is_shared,
    )
    return _saved(view)


def replace_state(view: SavedView, state: str) -> SavedView:
    """Have a view show another table from now on."""
    view.state = state
    view.save(update_fields=["state", "changed_at"])
    return view


def rename_view(view: SavedView, name: str) -> SavedView:
    view.name = _checked_name(name)
    return _saved(view)


def share_view(view: SavedView, *, is_shared: bool) -> SavedView:
    """Show a view to everybody who may read the project, or to its owner alone."""
    view.is_shared = is_shared
    view.is_default = view.is_default and is_shared
    view.save(update_fields=["is_shared", "is_default", "changed_at"])
    return view


def make_default(view: SavedView, *, is_default: bool) -> SavedView:
    """Have a project's runs open with this view, or with none; it is shared then."""
    with transaction.atomic():
        # Two people may choose at once; the later one's choice stays.
        Project.objects.select_for_update().get(id=view.project_id)
        others = SavedView.objects.filter(project=view.project_id, is_default=True)
        others.exclude(id=view.id).update(is_default=False)
        view.is_default = is_default
        view.is_shared = view.is_shared or is_default
        view.save(update_fields=["is_shared", "is_default", "changed_at"])
    return view


def delete_view(view: SavedView) -> None:
    view.delete()


def _checked_name(name: str) -> str:
    name = name.strip()
    is_storable = "\0" not in name and not any("\ud800" <= c <= "\udfff" for c in name)
    if not 1 <= len(name) <= NAME_LENGTH or not is_storable:
        raise InvalidInput("name", f"must be text of 1 to {NAME_LENGTH} characters")
    return name


def _saved(view: SavedView) -> SavedView:
    try:
        with transaction.atomic():
            view.save()
    except IntegrityError as error:
        raise InvalidInput(
            "name", "is already the name of another view of yours in this project"
        ) from error
    return view

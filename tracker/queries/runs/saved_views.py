"""The saved views of a project's runs table."""

from __future__ import annotations

from uuid import UUID

from tracker.actor import Actor
from tracker.models import Project, SavedView


def saved_views(project: Project, actor: Actor) -> list[SavedView]:
    """Return the actor's own views and the shared ones, by name."""
    views = SavedView.objects.readable_by(actor).filter(project=project)
    # Sorted in Python, because the databases sort text differently.
    found = views.select_related("owner")
    return sorted(found, key=lambda view: (view.name.casefold(), str(view.id)))


def shared_views(project: Project) -> list[SavedView]:
    """Return the shared views, by name."""
    views = SavedView.objects.filter(project=project, is_shared=True)
    found = views.select_related("owner")
    return sorted(found, key=lambda view: (view.name.casefold(), str(view.id)))


def shared_view(project: Project, view_id: UUID) -> SavedView | None:
    """Return a shared view, which dashboards may use; None if it is deleted or private."""
    views = SavedView.objects.filter(project=project, is_shared=True, id=view_id)
    return views.first()

"""Views of a runs table: kept, changed, and deleted."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from tracker.access.objects import editable_view
from tracker.access.projects import editable_project, readable_project
from tracker.actions.saved_views import (
    keep_view,
    make_default,
    rename_view,
    replace_state,
    share_view,
)
from tracker.errors import InvalidInput
from web.pages.projects.deletions import delete_with_way_back
from web.pages.runs.table_state import kept_state
from web.session import PageRequest, signed_in
from web.toasts import quoted, tell

TO = "change shared views"


@require_POST
@signed_in
def keep(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Save the table as a view; sharing it needs permission to edit."""
    is_shared = request.POST.get("shared") == "yes"
    if is_shared:
        found = editable_project(request.actor, workspace, project, to=TO)
    else:
        found = readable_project(request.actor, workspace, project)
    state = kept_state(request.POST.get("state", ""))
    name = request.POST.get("name", "")
    view = keep_view(found, request.actor, name, state, is_shared=is_shared)
    tell(request, gettext("View %(view)s saved.") % {"view": quoted(view.name)})
    return _shown(workspace, project, view.id)


@require_POST
@signed_in
def change(request: PageRequest, view_id: UUID) -> HttpResponse:
    """Change a view's table, name or visibility."""
    view = editable_view(request.actor, view_id)
    workspace, project = view.project.workspace.slug, view.project.slug
    wanted = request.POST
    if {"shared", "default"} & set(wanted):
        # Changing shared content needs edit permission.
        editable_project(request.actor, workspace, project, to=TO)
    if "state" in wanted:
        replace_state(view, kept_state(wanted["state"]))
        said = gettext("View %(view)s updated.")
    elif "name" in wanted:
        rename_view(view, wanted["name"])
        said = gettext("View renamed to %(view)s.")
    elif "shared" in wanted:
        is_shared = wanted["shared"] == "yes"
        share_view(view, is_shared=is_shared)
        said = (
            gettext("View %(view)s shared with the team.")
            if is_shared
            else gettext("View %(view)s is now private.")
        )
    elif "default" in wanted:
        is_default = wanted["default"] == "yes"
        make_default(view, is_default=is_default)
        said = (
            gettext("View %(view)s is now the default for all members.")
            if is_default
            else gettext("View %(view)s is no longer the default.")
        )
    else:
        raise InvalidInput("view", "must change its name, state, visibility or default")
    tell(request, said % {"view": quoted(view.name)})
    return _shown(workspace, project, view.id)


@require_POST
@signed_in
def delete(request: PageRequest, view_id: UUID) -> HttpResponse:
    view = editable_view(request.actor, view_id)
    project = view.project
    delete_with_way_back(request, "view", view)
    return HttpResponseRedirect(
        reverse("runs", args=[project.workspace.slug, project.slug])
    )


def _shown(workspace: str, project: str, view_id: UUID) -> HttpResponse:
    address = reverse("runs", args=[workspace, project])
    return HttpResponseRedirect(f"{address}?view={view_id}")

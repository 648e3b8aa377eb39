"""Projects as a whole: created, renamed, archived, deleted."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from tracker.access.projects import managed_project, owned_project
from tracker.access.workspaces import project_making_workspace
from tracker.actions.projects import (
    ProjectRequest,
    archive_project,
    change_project,
    create_project,
    delete_project,
    restore_project,
)
from tracker.errors import InvalidInput
from web.numbers import whole_number
from web.pages.projects.project_settings import settings_page
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.toasts import quoted, tell


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new(request: PageRequest, workspace: str) -> HttpResponse:
    found = project_making_workspace(request.actor, workspace)
    if request.method != "POST":
        return _new_page(request, found)
    fields = ProjectRequest(
        request.POST.get("name", ""), request.POST.get("description", "")
    )
    is_open = request.POST.get("access") != "chosen"
    try:
        project = create_project(found, fields, audit_context(request), is_open=is_open)
    except InvalidInput as error:
        return _new_page(request, found, error=error)
    return redirect("runs", workspace, project.slug)


@require_POST
@signed_in
def change(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = owned_project(request.actor, workspace, project)
    owner = request.POST.get("owner", "")
    fields = ProjectRequest(
        name=request.POST.get("name", ""),
        description=request.POST.get("description", ""),
        owner_id=whole_number(owner, "owner") if owner else None,
    )
    try:
        change_project(found, fields, audit_context(request))
    except InvalidInput as error:
        found.refresh_from_db()
        return settings_page(request, found, error=error)
    tell(request, gettext("Saved."))
    return redirect("project-settings", workspace, project)


@require_POST
@signed_in
def archive(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    archive_project(
        managed_project(request.actor, workspace, project), audit_context(request)
    )
    tell(request, gettext("Project archived. Its runs remain readable."))
    return redirect("project-settings", workspace, project)


@require_POST
@signed_in
def restore(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    restore_project(
        managed_project(request.actor, workspace, project), audit_context(request)
    )
    tell(request, gettext("Project restored."))
    return redirect("project-settings", workspace, project)


@require_POST
@signed_in
def delete(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = managed_project(request.actor, workspace, project)
    if request.POST.get("name", "").strip() != found.name:
        error = InvalidInput("the typed name", "must be the name of the project")
        return settings_page(request, found, error=error)
    name = found.name
    delete_project(found, audit_context(request))
    text = gettext("Deleting %(name)s and all its runs.")
    tell(request, text % {"name": quoted(name)})
    return redirect("projects")


# Any: a row of the workspaces table, which pages do not import.
def _new_page(
    request: PageRequest, workspace: Any, *, error: InvalidInput | None = None
) -> HttpResponse:
    context = {"workspace": workspace, "error": error, "typed": request.POST}
    status = 400 if error else 200
    return render(request, "projects/new.html", context, status=status)

"""Workspaces: created, changed, deleted."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from tracker.access.people import managed_workspace, may_manage, own_member
from tracker.access.workspaces import (
    may_make_projects,
    owned_workspace,
    require_workspace_maker,
)
from tracker.actions.people.workspaces import (
    WorkspaceRequest,
    change_workspace,
    create_workspace,
    delete_workspace,
)
from tracker.errors import InvalidInput
from tracker.queries.projects.projects import project_summaries
from web.numbers import whole_number
from web.pages.projects.project_settings import typed_price
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.templatetags.ledger import typed as all_digits
from web.toasts import quoted, tell

TO_CHANGE = "change the workspace"


@require_safe
@signed_in
def workspace(request: PageRequest, workspace: str) -> HttpResponse:
    """Show the projects of one workspace."""
    found = own_member(request.actor, workspace).workspace
    projects = [
        each
        for each in project_summaries(request.actor)
        if each.workspace_slug == found.slug
    ]
    context = {
        "workspace": found,
        "projects": [each for each in projects if not each.is_archived],
        "archived": [each for each in projects if each.is_archived],
        "may_make": may_make_projects(request.actor, found),
        "manages": may_manage(request.actor, found),
    }
    return render(request, "people/workspace.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new(request: PageRequest) -> HttpResponse:
    require_workspace_maker(request.actor)
    if request.method != "POST":
        return render(request, "people/new_workspace.html", {"typed": {}})
    fields = WorkspaceRequest(
        request.POST.get("name", ""), request.POST.get("description", "")
    )
    try:
        made = create_workspace(fields, request.actor.user_id, audit_context(request))
    except InvalidInput as error:
        context = {"typed": request.POST, "error": error}
        return render(request, "people/new_workspace.html", context, status=400)
    return redirect("workspace", made.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def settings(request: PageRequest, workspace: str) -> HttpResponse:
    found = managed_workspace(request.actor, workspace, to=TO_CHANGE)
    if request.method != "POST":
        return _page(request, found)
    try:
        change_workspace(
            found, _workspace_request(request.POST), audit_context(request)
        )
    except InvalidInput as error:
        return _page(request, found, error=error)
    tell(request, gettext("Saved."))
    return redirect("workspace-settings", workspace)


@require_POST
@signed_in
def delete(request: PageRequest, workspace: str) -> HttpResponse:
    found = owned_workspace(request.actor, workspace)
    try:
        _require_typed(request.POST.get("typed", ""), found.name)
        delete_workspace(found, audit_context(request))
    except InvalidInput as error:
        return _page(request, found, error=error)
    text = gettext("Workspace %(name)s deleted.")
    tell(request, text % {"name": quoted(found.name)})
    return redirect("projects")


def _require_typed(typed: str, name: str) -> None:
    if typed.strip() != name:
        raise InvalidInput("the typed name", "must be the name of the workspace")


def _workspace_request(data: QueryDict) -> WorkspaceRequest:
    days = data.get("retention_days", "").strip()
    return WorkspaceRequest(
        name=data.get("name", ""),
        description=data.get("description", ""),
        retention_days=whole_number(days, "retention_days") if days else None,
        gpu_hour_price=typed_price(data.get("gpu_hour_price", "")),
        currency=data.get("currency", ""),
        projects_are_open=data.get("access") != "chosen",
        requires_second_factor="requires_second_factor" in data,
    )


# Any: a row of the workspaces table, which pages do not import.
def _page(
    request: PageRequest, found: Any, *, error: InvalidInput | None = None
) -> HttpResponse:
    price = found.gpu_hour_price
    stored = {
        "name": found.name,
        "description": found.description,
        "retention_days": found.retention_days or "",
        "gpu_hour_price": "" if price is None else all_digits(price),
        "currency": found.currency,
        "access": "open" if found.projects_are_open else "chosen",
        "requires_second_factor": found.requires_second_factor,
    }
    context = {
        "workspace": found,
        "error": error,
        "typed": request.POST if error and "name" in request.POST else stored,
    }
    status = 400 if error else 200
    return render(request, "people/workspace_settings.html", context, status=status)

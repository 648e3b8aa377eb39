"""Service accounts of a workspace: made, given keys, deleted."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from tracker.access.people import managed_workspace
from tracker.access.workspaces import projects_among, service_account
from tracker.actions.people.keys import create_key
from tracker.actions.people.service_accounts import (
    ROLES,
    create_service_account,
    delete_service_account,
    service_role_named,
)
from tracker.errors import InvalidInput
from tracker.queries.people.keys import keys_of_member
from tracker.queries.people.workspaces import projects_of
from web.pages.people.key_form import SCOPES, KeyForm, read_key_form
from web.pages.people.keys import form_context
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.toasts import quoted, tell


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new(request: PageRequest, workspace: str) -> HttpResponse:
    """Show the form for a service account; on POST, create one."""
    found = managed_workspace(request.actor, workspace, to="manage service accounts")
    if request.method != "POST":
        return _new_page(request, found)
    typed = request.POST
    is_bound = typed.get("access") == "projects"
    try:
        member = create_service_account(
            found,
            typed.get("name", ""),
            service_role_named(typed.get("role", "")),
            audit_context(request),
            projects=projects_among(found, typed.getlist("projects"))
            if is_bound
            else None,
        )
    except InvalidInput as error:
        return _new_page(request, found, error=error)
    tell(request, gettext("Service account created. Create an API key for it."))
    return redirect("service-account", workspace, member.id)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def account(request: PageRequest, workspace: str, account_id: int) -> HttpResponse:
    """Show an account with its keys; on POST, make one."""
    member = service_account(request.actor, workspace, account_id)
    if request.method != "POST":
        return _page(request, member, KeyForm())
    form = read_key_form(request.POST)
    try:
        key = create_key(member, form.request(timezone.now()), audit_context(request))
    except InvalidInput as error:
        return _page(request, member, form, error=error, status=400)
    return _page(request, member, KeyForm(), secret=key.secret, status=201)


@require_POST
@signed_in
def delete(request: PageRequest, workspace: str, account_id: int) -> HttpResponse:
    member = service_account(request.actor, workspace, account_id)
    delete_service_account(member, audit_context(request))
    text = gettext("%(name)s deleted and its API keys revoked. Its runs remain.")
    tell(request, text % {"name": quoted(member.user.display_name)})
    return redirect("workspace-keys", workspace)


# Any: a row, which pages do not import.
def _new_page(
    request: PageRequest, workspace: Any, *, error: InvalidInput | None = None
) -> HttpResponse:
    context = {
        "workspace": workspace,
        "projects": projects_of(workspace),
        "roles": [role.value for role in ROLES],
        "error": error,
        "typed": request.POST,
        "typed_projects": request.POST.getlist("projects"),
    }
    status = 400 if error else 200
    return render(request, "people/new_service_account.html", context, status=status)


def _page(
    request: PageRequest,
    member: Any,
    form: KeyForm,
    *,
    secret: str = "",
    error: InvalidInput | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "workspace": member.workspace,
        "member": member,
        "keys": keys_of_member(member),
        "error": error,
        "all_scopes": SCOPES,
        **form_context(member, form, secret),
    }
    return render(request, "people/service_account.html", context, status=status)

"""API keys: a user's own, and all of a workspace."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from tracker.access.people import managed_workspace
from tracker.access.projects import own_membership
from tracker.access.workspaces import key_of_workspace, own_key
from tracker.actions.people.keys import create_key, may_log_somewhere, revoke_key
from tracker.actor import Scope
from tracker.errors import InvalidInput
from tracker.queries.people.keys import (
    keys_of_workspace,
    own_keys,
    projects_for_keys,
    service_accounts,
)
from tracker.queries.projects.members import memberships
from web.pages.people.key_form import LIFETIME_DAYS, SCOPES, KeyForm, read_key_form
from web.pages.sdk.addresses import install_command
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.snippets import agent_file, environment
from web.toasts import tell


@require_safe
@signed_in
def old_address(_request: PageRequest) -> HttpResponse:
    return redirect("keys", permanent=True)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def keys(request: PageRequest) -> HttpResponse:
    """List the user's own keys; on POST, make one."""
    if request.method != "POST":
        return _own_page(request, KeyForm())
    form = read_key_form(request.POST)
    member = own_membership(request.actor, request.POST.get("workspace", ""))
    try:
        key = create_key(member, form.request(timezone.now()), audit_context(request))
    except InvalidInput as error:
        return _own_page(request, form, error=error, status=400)
    # Shown in the response itself and nowhere else: sessions must not hold it.
    return _own_page(request, KeyForm(), secret=key.secret, status=201)


@require_POST
@signed_in
def revoke(request: PageRequest, key_id: int) -> HttpResponse:
    revoke_key(own_key(request.actor, key_id), audit_context(request))
    _confirm_revoked(request)
    return redirect("keys")


@require_safe
@signed_in
def workspace_keys(request: PageRequest, workspace: str) -> HttpResponse:
    found = managed_workspace(request.actor, workspace, to="see all API keys")
    return render(request, "people/workspace_keys.html", workspace_context(found))


@require_POST
@signed_in
def revoke_in_workspace(
    request: PageRequest, workspace: str, key_id: int
) -> HttpResponse:
    key = key_of_workspace(request.actor, workspace, key_id)
    revoke_key(key, audit_context(request))
    _confirm_revoked(request)
    return redirect("workspace-keys", workspace)


# Any: rows, which pages do not import, and a template's context.
def workspace_context(workspace: Any) -> dict[str, Any]:
    return {
        "workspace": workspace,
        "keys": keys_of_workspace(workspace),
        "accounts": service_accounts(workspace),
        "all_scopes": SCOPES,
    }


def form_context(member: Any, form: KeyForm, secret: str) -> dict[str, Any]:
    """Return the context of the form for a key of this member, and of a new key."""
    may_log = may_log_somewhere(member)
    return {
        "form": form,
        "scopes": {
            scope: texts
            for scope, texts in SCOPES.items()
            if may_log or scope is Scope.READ
        },
        "may_log": may_log,
        "lifetimes": LIFETIME_DAYS.items(),
        "projects": projects_for_keys(member),
        "secret": secret,
        "install": install_command(),
        "environment": environment(settings.PUBLIC_URL, secret),
        "agent_file": agent_file(settings.PUBLIC_URL, secret),
    }


def _own_page(
    request: PageRequest,
    form: KeyForm,
    *,
    secret: str = "",
    error: InvalidInput | None = None,
    status: int = 200,
) -> HttpResponse:
    own = memberships(request.actor)
    chosen = request.POST.get("workspace") or request.GET.get("workspace")
    current = next(
        (each for each in own if each.slug == chosen), own[0] if own else None
    )
    context: dict[str, Any] = {
        "keys": own_keys(request.actor),
        "memberships": own,
        "current": current,
        "error": error,
        "all_scopes": SCOPES,
        "tab": "keys",
    }
    if current is not None:
        member = own_membership(request.actor, current.slug)
        context |= form_context(member, form, secret)
    return render(request, "people/keys.html", context, status=status)


def _confirm_revoked(request: PageRequest) -> None:
    tell(request, gettext("API key revoked. Clients with this key lose access."))

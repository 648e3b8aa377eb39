"""The members of a workspace: their roles, and how they leave."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from tracker.access.people import (
    grantable_roles,
    managed_member,
    may_manage,
    may_reset_account,
    readable_members,
    require_grantable,
    successor_of,
)
from tracker.access.projects import projects_of_workspace
from tracker.actions.people import members as actions
from tracker.actions.people.mail import can_mail
from tracker.actions.people.roles import role_named
from tracker.errors import InvalidInput
from tracker.queries.people.accounts import has_second_factor
from tracker.queries.people.invitations import pending_invitations
from tracker.queries.people.members import (
    leaving,
    possible_successors,
    workspace_members,
)
from web.pages.people.invitation_form import EXPIRIES, USES, InviteForm
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.templatetags.roles import NAMES, SENTENCES
from web.toasts import tell


@require_safe
@signed_in
def members_page(request: PageRequest, workspace: str) -> HttpResponse:
    found = readable_members(request.actor, workspace)
    return render(request, "people/members.html", members_context(request, found))


@require_safe
@signed_in
def member_page(request: PageRequest, workspace: str, member_id: int) -> HttpResponse:
    return show_member(request, workspace, member_id)


@require_POST
@signed_in
def set_role(request: PageRequest, workspace: str, member_id: int) -> HttpResponse:
    member = managed_member(request.actor, workspace, member_id)
    role = role_named(request.POST.get("role", ""))
    require_grantable(request.actor, member.workspace, role)
    try:
        actions.change_role(member, role, audit_context(request))
    except InvalidInput as error:
        return show_member(request, workspace, member_id, error=error)
    text = gettext("%(name)s is now %(role)s.")
    tell(request, text % {"name": member.user.display_name, "role": NAMES[role.value]})
    return HttpResponseRedirect(reverse("member", args=[workspace, member_id]))


@require_POST
@signed_in
def deactivate(request: PageRequest, workspace: str, member_id: int) -> HttpResponse:
    member = managed_member(request.actor, workspace, member_id)
    try:
        actions.deactivate(member, audit_context(request))
    except InvalidInput as error:
        return show_member(request, workspace, member_id, error=error)
    text = gettext("%(name)s has no access until you reactivate them.")
    tell(request, text % {"name": member.user.display_name})
    return HttpResponseRedirect(reverse("members", args=[workspace]))


@require_POST
@signed_in
def reactivate(request: PageRequest, workspace: str, member_id: int) -> HttpResponse:
    member = managed_member(request.actor, workspace, member_id)
    actions.reactivate(member, audit_context(request))
    text = gettext("%(name)s has access again.")
    tell(request, text % {"name": member.user.display_name})
    return HttpResponseRedirect(reverse("member", args=[workspace, member_id]))


@require_POST
@signed_in
def offboard(request: PageRequest, workspace: str, member_id: int) -> HttpResponse:
    member = managed_member(request.actor, workspace, member_id)
    try:
        successor = successor_of(member, request.POST.get("heir", ""))
        actions.offboard(member, audit_context(request), successor)
    except InvalidInput as error:
        return show_member(request, workspace, member_id, error=error)
    text = gettext(
        "%(name)s is signed out everywhere. API keys and share links no longer work."
    )
    tell(request, text % {"name": member.user.display_name})
    return HttpResponseRedirect(reverse("members", args=[workspace]))


@require_POST
@signed_in
def remove(request: PageRequest, workspace: str, member_id: int) -> HttpResponse:
    member = managed_member(request.actor, workspace, member_id)
    try:
        successor = successor_of(member, request.POST.get("heir", ""))
        actions.remove(member, audit_context(request), successor)
    except InvalidInput as error:
        return show_member(request, workspace, member_id, error=error)
    text = gettext("%(name)s is no longer a member.")
    tell(request, text % {"name": member.user.display_name})
    return HttpResponseRedirect(reverse("members", args=[workspace]))


# Any: a row of the workspaces table, which pages do not import; a template's context.
def members_context(
    request: PageRequest, workspace: Any, form: InviteForm | None = None
) -> dict[str, Any]:
    manages = may_manage(request.actor, workspace)
    return {
        "workspace": workspace,
        "members": workspace_members(workspace),
        "manages": manages,
        "invitations": pending_invitations(workspace) if manages else [],
        "roles": [
            (role.value, NAMES[role.value], SENTENCES[role.value])
            for role in reversed(grantable_roles(request.actor, workspace))
            if role.value != "guest"
        ],
        "projects": projects_of_workspace(request.actor, workspace),
        "expiries": EXPIRIES.items(),
        "uses": USES.items(),
        "form": form or InviteForm(),
        "can_mail": can_mail(),
    }


def show_member(
    request: PageRequest,
    workspace: str,
    member_id: int,
    *,
    error: InvalidInput | None = None,
    reset_link: str = "",
) -> HttpResponse:
    member = managed_member(request.actor, workspace, member_id)
    rows = workspace_members(member.workspace)
    context = {
        "workspace": member.workspace,
        "row": next(row for row in rows if row.id == member_id),
        "roles": [
            (role.value, NAMES[role.value], SENTENCES[role.value])
            for role in reversed(grantable_roles(request.actor, member.workspace))
        ],
        "leaving": leaving(member),
        "heirs": possible_successors(member),
        "may_reset": may_reset_account(request.actor, member.user),
        "has_second_factor": has_second_factor(member.user_id),
        "reset_link": reset_link,
        "pending_email": member.user.pending_email,
        "is_self": member.user_id == request.actor.user_id,
        "error": error,
    }
    status = 400 if error else 200
    return render(request, "people/member.html", context, status=status)

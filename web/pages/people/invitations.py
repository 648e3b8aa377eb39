"""Sends invitations to people, renews and revokes them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from tracker.access.people import (
    managed_invitation,
    managed_workspace,
    require_grantable,
)
from tracker.access.projects import readable_project
from tracker.actions.people.invitations import (
    InvitationRequest,
    invitation_url,
    invite,
    is_mailed,
    renew_invitation,
    revoke_invitation,
)
from tracker.actions.people.roles import role_named
from tracker.errors import InvalidInput
from web.pages.people.invitation_form import InviteForm, read_invite_form
from web.pages.people.members import members_context
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.toasts import tell


@require_POST
@signed_in
def send(request: PageRequest, workspace: str) -> HttpResponse:
    found = managed_workspace(request.actor, workspace)
    form = InviteForm()
    try:
        form = read_invite_form(request.POST)
        secret = invite(
            found, _invitation_request(request, found, form), audit_context(request)
        )
    except InvalidInput as error:
        context = {**members_context(request, found, form), "error": error}
        status = HTTPStatus.BAD_REQUEST
        return render(request, "people/members.html", context, status=status)
    return _shown(request, found, secret, form.email)


@require_POST
@signed_in
def renew(request: PageRequest, workspace: str, invitation_id: int) -> HttpResponse:
    invitation = managed_invitation(request.actor, workspace, invitation_id)
    secret = renew_invitation(invitation, audit_context(request))
    return _shown(request, invitation.workspace, secret, invitation.email)


@require_POST
@signed_in
def revoke(request: PageRequest, workspace: str, invitation_id: int) -> HttpResponse:
    invitation = managed_invitation(request.actor, workspace, invitation_id)
    revoke_invitation(invitation, audit_context(request))
    tell(request, gettext("Invitation revoked."))
    return HttpResponseRedirect(reverse("members", args=[workspace]))


# Any: a row of the workspaces table, which pages do not import.
def _invitation_request(
    request: PageRequest, workspace: Any, form: InviteForm
) -> InvitationRequest:
    role = role_named(form.role)
    require_grantable(request.actor, workspace, role)
    project = None
    if form.project:
        project = readable_project(request.actor, workspace.slug, form.project)
    return InvitationRequest(role, project, form.email, int(form.days), form.max_uses)


def _shown(
    request: PageRequest, workspace: Any, secret: str, email: str
) -> HttpResponse:
    """Show the link in the answer itself and nowhere else, unless it was mailed."""
    context = {
        **members_context(request, workspace),
        "made": "" if is_mailed(email) else invitation_url(secret),
        "made_for": email,
    }
    status = HTTPStatus.CREATED
    return render(request, "people/members.html", context, status=status)

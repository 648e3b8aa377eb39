"""Restores access for a member who lost their password or second factor."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from tracker.access.people import resettable_member
from tracker.actions.people.accounts import make_reset_link, remove_second_factors
from tracker.actions.people.addresses import confirm_address
from tracker.errors import InvalidInput
from tracker.server.client_address import client_address
from web.pages.people.members import show_member
from web.session import PageRequest, signed_in
from web.toasts import tell


@require_POST
@signed_in
def reset_link(request: PageRequest, workspace: str, member_id: int) -> HttpResponse:
    """Show a link for the member; it is in this answer and nowhere else."""
    member = resettable_member(request.actor, workspace, member_id)
    address = client_address(request)
    link = make_reset_link(member.user, by=request.actor.user_id, address=address)
    return show_member(request, workspace, member_id, reset_link=link)


@require_POST
@signed_in
def remove_second_factor(
    request: PageRequest, workspace: str, member_id: int
) -> HttpResponse:
    member = resettable_member(request.actor, workspace, member_id)
    address = client_address(request)
    remove_second_factors(member.user, by=request.actor.user_id, address=address)
    text = gettext("Second factor of %(name)s removed.")
    tell(request, text % {"name": member.user.display_name})
    return HttpResponseRedirect(reverse("member", args=[workspace, member_id]))


@require_POST
@signed_in
def confirm_email(request: PageRequest, workspace: str, member_id: int) -> HttpResponse:
    """Confirm the address that the member entered."""
    member = resettable_member(request.actor, workspace, member_id)
    address = client_address(request)
    try:
        confirm_address(
            member.user,
            request.POST.get("email", ""),
            by=request.actor.user_id,
            address=address,
        )
    except InvalidInput as error:
        return show_member(request, workspace, member_id, error=error)
    tell(request, gettext("Email address confirmed."))
    return HttpResponseRedirect(reverse("member", args=[workspace, member_id]))

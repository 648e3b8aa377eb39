"""The sessions of a user, and signing out of other sessions."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST, require_safe

from tracker.actions.people import sessions as actions
from tracker.queries.people.sessions import sessions_of
from tracker.server.client_address import client_address
from web.session import PageRequest, signed_in
from web.toasts import tell


@require_safe
@signed_in
def sessions(request: PageRequest) -> HttpResponse:
    found = sessions_of(request.actor.user_id, request.session.session_key)
    context = {"sessions": found, "tab": "sessions"}
    return render(request, "people/sessions.html", context)


@require_POST
@signed_in
def end_session(request: PageRequest, session_id: int) -> HttpResponse:
    address = client_address(request)
    actions.end_session(request.actor.user_id, session_id, address=address)
    tell(request, gettext("Session ended."))
    return redirect("sessions")


@require_POST
@signed_in
def end_other_sessions(request: PageRequest) -> HttpResponse:
    count = actions.end_sessions(
        request.actor.user_id,
        except_key=request.session.session_key,
        address=client_address(request),
    )
    text = ngettext("%d session ended.", "%d sessions ended.", count)
    tell(request, text % count)
    return redirect("sessions")

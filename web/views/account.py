"""The tokens that agents use."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
)

from tracker.access import own_membership
from tracker.actions.access import make_token, revoke_token
from tracker.actor import Scope
from tracker.errors import InvalidInput
from tracker.queries.members import memberships
from tracker.queries.tokens import token_summaries
from web.session import PageRequest, signed_in
from web.snippets import agent_file, environment
from web.texts import gettext_lazy
from web.toasts import tell

SCOPES = {
    Scope.LOG: gettext_lazy("Log runs"),
    Scope.READ: gettext_lazy("Read"),
    Scope.MANAGE: gettext_lazy("Log, read and change"),
}
USUAL_LIFETIME = "365"
LIFETIME_DAYS = {
    "30": gettext_lazy("30 days"),
    "90": gettext_lazy("90 days"),
    "365": gettext_lazy("1 year"),
    "": gettext_lazy("Never"),
}


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def tokens_page(request: PageRequest) -> HttpResponse:
    if request.method != "POST":
        return _tokens(request)
    try:
        secret = _make_token(request)
    except InvalidInput as error:
        return _tokens(request, error=error, status=400)
    # Shown in the answer itself and nowhere else: it must not lie in a session.
    return _tokens(request, secret=secret, status=201)


@require_POST
@signed_in
def revoke(request: PageRequest, token_id: int) -> HttpResponse:
    revoke_token(request.actor, token_id)
    said = gettext("The token is revoked: whatever used it is refused from now on.")
    tell(request, said)
    return redirect("tokens")


def _make_token(request: PageRequest) -> str:
    scope, days = request.POST.get("scope", ""), request.POST.get("days", "")
    if scope not in SCOPES:
        raise InvalidInput("scope", "must be one of those offered")
    if days not in LIFETIME_DAYS:
        raise InvalidInput("expiry", "must be one of those offered")

    member = own_membership(request.actor, request.POST.get("workspace", ""))
    name = request.POST.get("name", "").strip()
    expires_at = timezone.now() + timedelta(days=int(days)) if days else None
    return make_token(member, name, Scope(scope), expires_at)


def _tokens(
    request: PageRequest,
    *,
    secret: str = "",
    error: InvalidInput | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "tokens": token_summaries(request.actor),
        "memberships": memberships(request.actor),
        "scopes": [(scope.value, label) for scope, label in SCOPES.items()],
        "lifetimes": LIFETIME_DAYS.items(),
        "secret": secret,
        "error": error,
        # What was typed stays where it was refused.
        "typed": request.POST if error else {"days": USUAL_LIFETIME},
        "environment": environment(settings.PUBLIC_URL, secret),
        "agent_file": agent_file(settings.PUBLIC_URL, secret),
    }
    return render(request, "account/tokens.html", context, status=status)

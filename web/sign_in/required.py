"""Leads members of a workspace that requires a second factor to Security."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.http import urlencode

from tracker.errors import SecondFactorRequired
from tracker.second_factor import must_add_factor, must_confirm_factor


def next_step(request: HttpRequest) -> HttpResponse | None:
    """Return the way to the page on which a factor is added or confirmed, if needed."""
    if must_add_factor(request):
        address = reverse("mfa_index")
    elif must_confirm_factor(request):
        address = _confirmation(request)
    else:
        return None
    is_page = request.headers.get("HX-Request") != "true"
    if not is_page or request.headers.get("Accept", "").startswith("application/json"):
        raise SecondFactorRequired
    return HttpResponseRedirect(address)


def factor_duty(request: HttpRequest) -> dict[str, Any]:
    """Pass to templates whether the user can only open Security."""
    # Errors before the session is read have no user.
    duty = SimpleLazyObject(
        lambda: hasattr(request, "user") and must_add_factor(request)
    )
    return {"must_add_factor": duty}


def _confirmation(request: HttpRequest) -> str:
    """Return the address that requests a code or a passkey, and then redirects back."""
    methods = get_adapter().get_reauthentication_methods(request.user)
    factors = [each["url"] for each in methods if each["id"].startswith("mfa")]
    query = urlencode({"next": request.get_full_path()})
    return f"{factors[0]}?{query}" if factors else reverse("mfa_index")

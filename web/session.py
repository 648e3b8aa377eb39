"""Provides views with the actor of the session, or shows the sign-in page."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Concatenate, ParamSpec, cast
from urllib.parse import urlencode

from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    JsonResponse,
)
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from tracker.actor import Actor, link_actor
from web.sign_in.required import next_step

Parameters = ParamSpec("Parameters")


class PageRequest(HttpRequest):
    """A request with a signed-in user."""

    actor: Actor
    htmx: HtmxDetails


def signed_in(
    view: Callable[Concatenate[PageRequest, Parameters], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, Parameters], HttpResponseBase]:
    @wraps(view)
    def guarded(
        request: HttpRequest, /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> HttpResponseBase:
        actor = link_actor(request)
        if actor is None:
            if request.user.pk is None or not request.user.is_active:
                return _ask_to_sign_in(request)
            actor = Actor(user_id=request.user.pk)
            if (step := next_step(request)) is not None:
                return step

        # The same object; from here on it has the attributes of a PageRequest.
        page_request = cast(PageRequest, request)
        page_request.actor = actor
        return view(page_request, *args, **kwargs)

    return guarded


def wants_json(request: HttpRequest) -> bool:
    """Return whether the client requests JSON explicitly, as scripts do."""
    return request.headers.get("Accept", "").startswith("application/json")


def local_path(request: HttpRequest, address: str) -> str:
    """Return the address if it is on this server, otherwise the first page."""
    is_local = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    # A full address of our own would be safe; refusing it keeps the rule simple.
    return address if is_local and address.startswith("/") else reverse("projects")


def _ask_to_sign_in(request: HttpRequest) -> HttpResponse:
    if wants_json(request):
        error = {"code": "not_authenticated", "message": gettext("Sign in again.")}
        return JsonResponse({"error": error}, status=HTTPStatus.UNAUTHORIZED)

    if request.headers.get("HX-Request") == "true":
        return HttpResponseClientRedirect(reverse("sign-in"))

    address = reverse("sign-in")
    if request.method == "GET" and request.path != reverse("projects"):
        address += "?" + urlencode({"next": request.get_full_path()})
    return HttpResponseRedirect(address)

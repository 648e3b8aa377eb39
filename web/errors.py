"""Converts errors of pages to error pages with advice."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext
from django_htmx.http import reswap

from tracker.actor import link_actor
from tracker.errors import TrackerError, Unavailable
from tracker.server.statuses import DATABASE_AWAY, is_database_away, status_of
from web.session import wants_json
from web.texts import gettext_lazy

logger = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = "5"
RELOAD = gettext_lazy("Go back, reload the page and try again.")
RELOAD_HERE = gettext_lazy("Reload the page and try again.")
LOOK_AGAIN = gettext_lazy("Reload the page.")


@dataclass(frozen=True, slots=True)
class Told:
    """What a page says about a status: a title, what happened, what to do.

    `here` is what to do without leaving the page that asked for a part of itself.
    """

    title: str
    message: str
    advice: str
    here: str = ""


CANNOT = Told(
    gettext_lazy("Invalid request"),
    gettext_lazy("The form or address has an invalid value."),
    gettext_lazy("Go back, correct it and try again."),
)
PAGES = {
    HTTPStatus.BAD_REQUEST: CANNOT,
    HTTPStatus.CONFLICT: replace(
        CANNOT,
        message=gettext_lazy("The data changed in the meantime."),
        advice=gettext_lazy("Go back and reload the page."),
        here=LOOK_AGAIN,
    ),
    HTTPStatus.FORBIDDEN: Told(
        gettext_lazy("Not allowed"),
        gettext_lazy("Your role in this workspace does not allow this."),
        gettext_lazy("Ask an owner or admin of the workspace."),
        gettext_lazy("Ask an owner or admin of the workspace."),
    ),
    HTTPStatus.NOT_FOUND: Told(
        gettext_lazy("Page not found"),
        gettext_lazy("No page has this address."),
        gettext_lazy(
            "Check the address, or press Ctrl+K (⌘K on a Mac) to find a project or run by"
            " name."
        ),
        LOOK_AGAIN,
    ),
    HTTPStatus.METHOD_NOT_ALLOWED: Told(
        gettext_lazy("Method not allowed"),
        gettext_lazy("This address accepts only forms."),
        gettext_lazy("Go back and use the button on the page."),
    ),
    HTTPStatus.REQUEST_TIMEOUT: Told(
        gettext_lazy("Request timed out"),
        gettext_lazy("The request took too long to arrive."),
        gettext_lazy("Go back and try again with a better connection."),
        gettext_lazy("Try again with a better connection."),
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: Told(
        gettext_lazy("Request too large"),
        gettext_lazy("The form is larger than the limit."),
        gettext_lazy("Send less. To upload files, use the agent."),
        gettext_lazy("Send less."),
    ),
    HTTPStatus.TOO_MANY_REQUESTS: Told(
        gettext_lazy("Too many requests"),
        gettext_lazy("The server limits the rate of requests."),
        gettext_lazy("Wait a few seconds and reload the page."),
        gettext_lazy("Wait a few seconds and try again."),
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: Told(
        gettext_lazy("Something went wrong"),
        gettext_lazy("The server log has the error."),
        gettext_lazy(
            "No logged data is lost. Try again. If the error persists, report the time"
            " to the administrator."
        ),
        gettext_lazy("Try again. If the error persists, contact the administrator."),
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: Told(
        gettext_lazy("Temporarily unavailable"),
        gettext_lazy("The server or its database is busy or starting."),
        gettext_lazy(
            "No logged data is lost: agents keep it until the server is back. Try again in"
            " a few seconds."
        ),
        gettext_lazy("Try again in a few seconds."),
    ),
}
# Answers of Django's own, which have no text that helps anybody.
BARE = (
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.TOO_MANY_REQUESTS,
)


class PageErrors:
    """Answers refusals that leave a view. The API answers its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code not in BARE or not _is_bare(request, response):
            return response
        status = HTTPStatus(response.status_code)
        page = _page(request, status, status.name.lower(), PAGES[status])
        if "Allow" in response:
            page["Allow"] = response["Allow"]
        return page

    def process_exception(
        self, request: HttpRequest, error: Exception
    ) -> HttpResponse | None:
        if request.path.startswith("/api/"):
            return None
        if is_database_away(error):
            logger.warning("the database refused to answer a page: %s", error)
            return refusal(request, Unavailable())
        if isinstance(error, TrackerError):
            return refusal(request, error)
        return None


def page_not_found(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    status = HTTPStatus.NOT_FOUND
    return _page(request, status, "not_found", PAGES[status])


def permission_denied(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    status = HTTPStatus.FORBIDDEN
    return _page(request, status, "not_allowed", PAGES[status])


def bad_request(
    _request: HttpRequest, exception: Exception | None = None
) -> HttpResponse:
    # Whatever was wrong may be a host name or a cookie, so nothing is looked up.
    message = gettext("The server cannot read this request.")
    if isinstance(exception, DisallowedHost):
        message = gettext(
            "This server does not accept this host name. Use the address it printed at "
            "its start, or add the name to SEAMARK_HOSTS and restart it."
        )
    told = Told(CANNOT.title, message, "")
    return _plain(HTTPStatus.BAD_REQUEST, told)


def server_error(request: HttpRequest) -> HttpResponse:
    # Drawn without the database and without who is signed in: either may be the cause.
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    told = PAGES[status]
    return _said(request, status, told) if _is_part(request) else _plain(status, told)


def csrf_failure(request: HttpRequest, **_: object) -> HttpResponse:
    message = gettext(
        "The page was open for too long, or the request came from another site."
    )
    known = PAGES[HTTPStatus.FORBIDDEN]
    told = replace(known, message=message, advice=RELOAD, here=RELOAD_HERE)
    return _page(request, HTTPStatus.FORBIDDEN, "csrf_failed", told)


def refusal(request: HttpRequest, error: TrackerError) -> HttpResponse:
    status = status_of(error)
    # What is known of the case goes before what holds for all of its kind.
    told = replace(PAGES.get(status, CANNOT), message=str(error))
    response = _page(request, status, error.code, told)
    if isinstance(error, Unavailable):
        response["Retry-After"] = RETRY_AFTER_SECONDS
    return response


def _is_bare(request: HttpRequest, response: HttpResponse) -> bool:
    if request.path.startswith("/api/") or response.streaming:
        return False
    return not response.content


def _page(
    request: HttpRequest, status: HTTPStatus, code: str, told: Told
) -> HttpResponse:
    if wants_json(request):
        error = {"code": code, "message": str(told.message)}
        return JsonResponse({"error": error}, status=status)
    if _is_part(request):
        return _said(request, status, told)
    # Without a database even the name of who is signed in is out of reach.
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return _plain(status, told)
    try:
        return render(request, "errors/refused.html", {"told": told}, status=status)
    except DATABASE_AWAY as error:
        logger.warning("the database refused to answer a page: %s", error)
        unavailable = HTTPStatus.SERVICE_UNAVAILABLE
        return _plain(unavailable, PAGES[unavailable])


def _is_part(request: HttpRequest) -> bool:
    """Return an error for htmx to insert into a page."""
    return request.headers.get("HX-Request") == "true"


def _said(request: HttpRequest, status: HTTPStatus, told: Told) -> HttpResponse:
    """Return a sentence, which the page shows in a toast or in place."""
    # Visitors by link have no administrator to ask.
    advice = "" if link_actor(request) else told.here
    text = f"{told.message} {advice}".strip()
    response = HttpResponse(text, status=status, content_type="text/plain")
    return reswap(response, "none")


def _plain(status: HTTPStatus, told: Told) -> HttpResponse:
    """Answer with a page that asks neither the database nor who is signed in."""
    body = render_to_string("errors/plain.html", {"told": told})
    return HttpResponse(body, status=status)

"""Turns what goes wrong below a page into a page that says what to do."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus

from django.core.exceptions import DisallowedHost
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from tracker.errors import TrackerError, Unavailable
from tracker.statuses import status_of
from web.session import wants_json

logger = logging.getLogger(__name__)

TITLES = {
    HTTPStatus.NOT_FOUND: "Nothing here",
    HTTPStatus.FORBIDDEN: "Not allowed",
    HTTPStatus.BAD_REQUEST: "This cannot be done",
    HTTPStatus.CONFLICT: "This cannot be done",
    HTTPStatus.SERVICE_UNAVAILABLE: "Not available just now",
}


class PageErrors:
    """Answers refusals that leave a view. The API answers its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(
        self, request: HttpRequest, error: Exception
    ) -> HttpResponse | None:
        if request.path.startswith("/api/"):
            return None
        if isinstance(error, OperationalError):
            logger.warning("the database refused to answer a page: %s", error)
            return refusal(request, Unavailable())
        if isinstance(error, TrackerError):
            return refusal(request, error)
        return None


def page_not_found(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    return _page(
        request, HTTPStatus.NOT_FOUND, "not_found", "There is no page at this address."
    )


def bad_request(
    request: HttpRequest, exception: Exception | None = None
) -> HttpResponse:
    # Whatever was wrong may be a host name or a cookie, so nothing is looked up.
    message = "The browser's request cannot be understood."
    if isinstance(exception, DisallowedHost):
        message = (
            "Seamark does not answer to this host name. Use the address it printed at "
            "its start, or add the name to SEAMARK_HOSTS and start it again."
        )
    context = {"title": TITLES[HTTPStatus.BAD_REQUEST], "message": message}
    return render(request, "errors/plain.html", context, status=HTTPStatus.BAD_REQUEST)


def server_error(request: HttpRequest) -> HttpResponse:
    # Drawn without the database and without who is signed in: either may be the cause.
    return render(request, "errors/plain.html", status=HTTPStatus.INTERNAL_SERVER_ERROR)


def csrf_failure(request: HttpRequest, **_: object) -> HttpResponse:
    message = (
        "The page was open for too long, or the request came from elsewhere. "
        "Go back, reload and try again."
    )
    return _page(request, HTTPStatus.FORBIDDEN, "csrf_failed", message)


def refusal(request: HttpRequest, error: TrackerError) -> HttpResponse:
    response = _page(request, status_of(error), error.code, str(error))
    if isinstance(error, Unavailable):
        response["Retry-After"] = "5"
    return response


def _page(
    request: HttpRequest, status: HTTPStatus, code: str, message: str
) -> HttpResponse:
    if wants_json(request):
        error = {"code": code, "message": message}
        return JsonResponse({"error": error}, status=status)

    # Without a database even the name of who is signed in is out of reach.
    is_plain = status == HTTPStatus.SERVICE_UNAVAILABLE
    template = "errors/plain.html" if is_plain else "errors/refused.html"
    context = {"title": TITLES.get(status, status.phrase), "message": message}
    return render(request, template, context, status=status)

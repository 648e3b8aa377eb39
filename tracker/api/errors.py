"""Converts exceptions to error responses of one shape."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from tracker.errors import (
    Busy,
    FrameDiffers,
    InvalidInput,
    NotAuthenticated,
    OutOfOrder,
    TooSlow,
    TrackerError,
    Unavailable,
)
from tracker.server.statuses import is_database_away, status_of

logger = logging.getLogger(__name__)

PREFIX = "/api/"
RETRY_AFTER_SECONDS = 2

# Our messages for errors that Django and ninja raise themselves.
UNSPECIFIC = {
    HTTPStatus.BAD_REQUEST: ("invalid_input", "The request is invalid."),
    HTTPStatus.FORBIDDEN: ("not_allowed", "The request is not allowed."),
    HTTPStatus.NOT_FOUND: ("not_found", "This address does not exist."),
    HTTPStatus.METHOD_NOT_ALLOWED: (
        "method_not_allowed",
        "This address does not support this method.",
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("too_large", "The request is too large."),
    HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE: (
        "range_not_satisfiable",
        "The file ends before the range begins.",
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: (Unavailable.code, str(Unavailable())),
}
# Replacements for pydantic messages that only Python programmers understand.
REQUIREMENTS = {
    "missing": "is required",
    "string_pattern_mismatch": "is not one of the allowed values; see /api/v1/docs",
}
KEPT_HEADERS = ("Allow", "Content-Range", "Retry-After")
INTERNAL = ("internal_error", "Internal error; see the server's log.")


def refused(error: TrackerError) -> HttpResponse:
    body: dict[str, object] = {"code": error.code, "message": str(error)}
    if isinstance(error, OutOfOrder):
        body["expected"] = error.expected
    if isinstance(error, FrameDiffers):
        body |= {"first": error.first, "stored": list(error.stored)}
    response = JsonResponse({"error": body}, status=status_of(error))
    if isinstance(error, NotAuthenticated):
        response["WWW-Authenticate"] = "Bearer"
    if isinstance(error, Unavailable):
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if isinstance(error, TooSlow):
        # The rest of the body is not read.
        response["Connection"] = "close"
    if isinstance(error, Busy):
        response["Retry-After"] = str(error.retry_after_seconds)
    return response


def answered(error: Exception) -> HttpResponse | None:
    """Return the response to an expected error; None for bugs of ours."""
    if isinstance(error, HttpError) and isinstance(error.__cause__, TrackerError):
        error = error.__cause__  # ninja wraps exceptions of the body parser
    match error:
        case TrackerError():
            return refused(error)
        case _ if is_database_away(error):
            # The request itself is valid.
            logger.warning("the database is not available: %s", error)
            return refused(Unavailable())
        case ValidationError():
            return refused(_invalid_input(error))
        case HttpError():
            return unspecific(error.status_code)
        case Http404():
            return unspecific(HTTPStatus.NOT_FOUND)
        case _:
            return None


def _invalid_input(error: ValidationError) -> InvalidInput:
    first = error.errors[0]
    field = ".".join(str(part) for part in first["loc"][1:]) or "input"
    requirement = REQUIREMENTS.get(first["type"], f"is not valid: {first['msg']}")
    return InvalidInput(field, requirement)


def unspecific(status: int) -> HttpResponse:
    code, message = UNSPECIFIC.get(HTTPStatus(status), INTERNAL)
    return JsonResponse({"error": {"code": code, "message": message}}, status=status)


def use_our_errors(api: NinjaAPI) -> None:
    """Register handlers for known errors; Django reports unknown ones."""

    def answer(
        _request: HttpRequest, error: Exception | type[Exception]
    ) -> HttpResponse:
        response = answered(error) if isinstance(error, Exception) else None
        if response is None:
            raise error
        return response

    for known in (Exception, Http404, HttpError, ValidationError):
        api.add_exception_handler(known, answer)


class ApiErrors:
    """Gives every error under /api/ the same shape, including Django's own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if (
            response.status_code < HTTPStatus.BAD_REQUEST
            or not request.path.startswith(PREFIX)
            or response.get("Content-Type", "").startswith("application/json")
        ):
            return response

        plain = unspecific(response.status_code)
        for name in KEPT_HEADERS:
            if name in response:
                plain[name] = response[name]
        return plain

    def process_exception(
        self, request: HttpRequest, error: Exception
    ) -> HttpResponse | None:
        return answered(error) if request.path.startswith(PREFIX) else None

import json

import pytest
from django.db import InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpResponse
from django.test import RequestFactory
from ninja.errors import ValidationError

from tracker.api.errors import ApiErrors, answered
from tracker.errors import InvalidInput, NotAuthenticated, NotFound, OutOfOrder


class PostgresError(Exception):
    sqlstate = None


def body_of(response):
    return json.loads(response.content)["error"]


def test_a_refusal_says_code_and_message():
    response = answered(NotFound("run"))

    assert response.status_code == 404
    assert body_of(response) == {
        "code": "not_found",
        "message": "This run does not exist, or you cannot access it.",
    }


def test_a_kind_of_a_refusal_is_answered_as_that_refusal():
    class BadCursor(InvalidInput):
        """An error without a separate status."""

    response = answered(BadCursor("cursor", "is too old"))

    assert response.status_code == 400
    assert body_of(response)["code"] == "invalid_input"


def test_out_of_order_says_what_is_expected():
    response = answered(OutOfOrder(7))

    assert response.status_code == 409
    assert body_of(response)["expected"] == 7


def test_a_request_without_a_token_gets_a_bearer_challenge():
    assert answered(NotAuthenticated())["WWW-Authenticate"] == "Bearer"


def of_postgresql(state):
    """Django's exception for an internal error of PostgreSQL."""
    cause = PostgresError()
    cause.sqlstate = state
    error = InternalError("no")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize("state", ["25P02", "XX001", None])
def test_a_damaged_table_or_a_fault_of_ours_is_not_taken_for_a_pause(state):
    assert answered(of_postgresql(state)) is None


@pytest.mark.parametrize(
    "error",
    [OperationalError("locked"), InterfaceError("gone"), of_postgresql("25006")],
)
def test_a_database_that_is_away_is_no_fault_of_the_caller(error):
    response = answered(error)

    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    assert body_of(response)["code"] == "unavailable"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("missing", "path is required."),
        (
            "string_pattern_mismatch",
            "path is not one of the allowed values; see /api/v1/docs.",
        ),
        ("int_parsing", "path is not valid: Input should be an integer."),
    ],
)
def test_an_invalid_parameter_has_a_readable_message(kind, message):
    found = {
        "type": kind,
        "loc": ("query", "path"),
        "msg": "Input should be an integer",
    }

    response = answered(ValidationError([found]))

    assert response.status_code == 400
    assert body_of(response) == {"code": "invalid_input", "message": message}


def test_an_unexpected_exception_is_not_translated():
    assert answered(ZeroDivisionError()) is None


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "invalid_input"),
        (403, "not_allowed"),
        (404, "not_found"),
        (405, "method_not_allowed"),
        (500, "internal_error"),
    ],
)
def test_errors_of_django_itself_have_the_common_shape(status, code):
    page = HttpResponse("<h1>Secret traceback</h1>", status=status)
    page["Allow"] = "GET"
    middleware = ApiErrors(lambda _: page)

    response = middleware(RequestFactory().get("/api/v1/nothing"))

    assert response.status_code == status
    assert body_of(response)["code"] == code
    assert response["Allow"] == "GET"
    assert b"Secret" not in response.content


def test_pages_keep_their_own_errors():
    page = HttpResponse("<h1>Not here</h1>", status=404)
    request = RequestFactory().get("/runs/1")
    middleware = ApiErrors(lambda _: page)

    assert middleware(request) is page
    assert middleware.process_exception(request, Http404()) is None

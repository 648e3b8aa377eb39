from __future__ import annotations

from http import HTTPStatus

import pytest
from django.db import InterfaceError, OperationalError
from django.http import HttpResponse
from django.test import Client, RequestFactory

from tracker import errors
from web.errors import (
    PAGES,
    PageErrors,
    page_not_found,
    permission_denied,
    server_error,
)

pytestmark = pytest.mark.django_db


def refused(error: Exception, path: str = "/", **headers: str):
    request = RequestFactory().get(path, headers=headers)
    return PageErrors(lambda _: None).process_exception(request, error)


def test_an_unknown_address_says_so_and_leads_back(member, client_of):
    response = client_of(member).get("/nothing/here")

    assert response.status_code == HTTPStatus.NOT_FOUND
    assert b"This page does not exist" in response.content
    assert b'href="/"' in response.content


def test_what_is_absent_and_what_is_forbidden_look_the_same(
    member, stranger, client_of
):
    browser = client_of(stranger)

    forbidden = browser.get(f"/w/{member.workspace.slug}/vision/")
    absent = browser.get("/w/nowhere/nothing/")

    assert forbidden.status_code == absent.status_code == HTTPStatus.NOT_FOUND


def test_a_script_gets_the_code_of_a_refusal(member, client_of):
    response = client_of(member).get(
        "/w/nowhere/nothing/runs.json", headers={"accept": "application/json"}
    )

    assert response.status_code == HTTPStatus.NOT_FOUND
    assert response.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_database_that_is_away_is_said_without_asking_it(
    django_assert_num_queries, error
):
    with django_assert_num_queries(0):
        response = refused(error("no such host db.internal"))

    assert response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert response["Retry-After"] == "5"
    assert b"db.internal" not in response.content


def test_the_api_answers_for_itself():
    assert refused(errors.NotFound("run"), path="/api/v1/runs") is None


def test_a_bug_is_left_to_the_server():
    assert refused(ZeroDivisionError()) is None


def test_the_page_of_a_bug_needs_nothing_that_may_be_broken(django_assert_num_queries):
    with django_assert_num_queries(0):
        response = server_error(RequestFactory().get("/"))

    assert response.status_code == HTTPStatus.INTERNAL_SERVER_ERROR
    assert b"Something went wrong" in response.content


def test_a_message_is_shown_literally():
    response = refused(errors.InvalidInput("<script>alert(1)</script>", "is no field"))

    assert b"<script>alert" not in response.content
    assert b"&lt;script&gt;alert" in response.content


@pytest.mark.parametrize("host", ["evil.test", "localhost.evil.test", "[::2]"])
def test_another_hosts_name_is_refused(host):
    # As sent by a browser after DNS rebinding.
    response = Client().get("/", headers={"host": host})

    assert response.status_code == HTTPStatus.BAD_REQUEST


def test_a_forwarded_hosts_name_is_not_believed():
    response = Client().get("/w/a/b/", headers={"x-forwarded-host": "evil.test"})

    assert response.status_code == HTTPStatus.FOUND
    assert "evil.test" not in response["Location"]


def test_a_foreign_host_name_is_told_which_setting_to_change(client):
    response = client.get("/", headers={"host": "evil.test"})

    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert b"SEAMARK_HOSTS" in response.content


@pytest.mark.parametrize("status", [403, 404, 405, 413, 429, 500, 503])
def test_every_refusal_says_what_to_do(status):
    error_page = PAGES[HTTPStatus(status)]

    assert error_page.title
    assert error_page.message.endswith(".")
    assert error_page.advice.endswith(".")


def test_an_address_that_takes_forms_says_so_when_it_is_opened(member, client_of):
    response = client_of(member).get("/sign-out")

    assert response.status_code == HTTPStatus.METHOD_NOT_ALLOWED
    assert response["Allow"] == "POST"
    assert b"only accepts form submissions" in response.content


@pytest.mark.parametrize("status", [405, 413, 429])
def test_answers_without_a_word_become_pages(status):
    request = RequestFactory().get("/")
    page = PageErrors(lambda _: HttpResponse(status=status))(request)

    assert page.status_code == status
    assert PAGES[HTTPStatus(status)].title.encode() in page.content


def test_an_answer_with_words_of_its_own_is_left():
    answer = HttpResponse("as it is", status=413)

    assert PageErrors(lambda _: answer)(RequestFactory().get("/")) is answer


def test_too_large_a_form_is_refused_on_a_page(member, client_of, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100

    response = client_of(member).post("/account/keys", {"name": "x" * 200})

    assert response.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert b"Request too large" in response.content


def test_what_may_not_be_done_says_whom_to_ask(member, client_of):
    from tests.builders import make_member, make_project

    project = make_project(member)
    viewer = make_member("vera", "viewer", workspace=member.workspace)
    response = client_of(viewer).post(
        f"/w/{project.workspace.slug}/vision/settings", {"retention_days": "9"}
    )

    assert response.status_code == HTTPStatus.FORBIDDEN
    assert b"Ask an owner or admin" in response.content


def test_a_page_of_nothing_is_no_fault_of_ours_while_the_database_is_away():
    class Nobody:
        @property
        def is_authenticated(self):
            raise OperationalError("no such host db.internal")

    for answer in (page_not_found, permission_denied):
        request = RequestFactory().get("/nowhere")
        request.user = Nobody()

        response = answer(request)

        assert response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
        assert b"db.internal" not in response.content


HTMX = {"hx-request": "true"}


def is_sentence(response) -> bool:
    return response["HX-Reswap"] == "none" and b"<" not in response.content


@pytest.mark.parametrize("status", [405, 413, 429])
def test_a_part_of_a_page_is_refused_in_a_sentence(status):
    request = RequestFactory().get("/", headers=HTMX)
    response = PageErrors(lambda _: HttpResponse(status=status))(request)

    assert response.status_code == status
    assert is_sentence(response)
    assert str(PAGES[HTTPStatus(status)].message) in response.content.decode()


@pytest.mark.parametrize(
    "error",
    [
        errors.NotFound("widget"),
        errors.InvalidInput("name", "must not be <b>empty</b>"),
        errors.NotAllowed("change this"),
        OperationalError("away"),
    ],
)
def test_no_refusal_puts_a_page_into_a_page(error):
    response = refused(error, **HTMX)

    assert response["HX-Reswap"] == "none"
    # Plain text, so that markup in it is harmless.
    assert response["Content-Type"].startswith("text/plain")
    assert b"<html" not in response.content


def test_a_bug_and_an_unknown_address_are_said_within_the_page():
    request = RequestFactory().get("/", headers=HTMX)

    assert is_sentence(server_error(request))
    assert is_sentence(page_not_found(request))
    assert is_sentence(permission_denied(request))


def test_a_form_of_an_older_session_is_told_to_reload(member):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(member.user)

    response = browser.post("/account/keys", headers=HTMX)

    assert response.status_code == HTTPStatus.FORBIDDEN
    assert is_sentence(response)
    assert b"Reload the page and try again." in response.content

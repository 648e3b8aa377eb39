from __future__ import annotations

from http import HTTPStatus

import pytest
from django.test import Client, RequestFactory

from web.session import local_path

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PAGES = ["/", "/account/keys", "/w/home/vision/", "/docs/rules/data-wait-dominates"]


@pytest.mark.parametrize("path", PAGES)
def test_a_visitor_is_asked_to_sign_in(path):
    response = Client().get(path)

    assert response.status_code == HTTPStatus.FOUND
    assert response["Location"].startswith("/sign-in")


def test_a_visitor_comes_back_to_the_page_asked_for():
    response = Client().get("/w/home/vision/?sort=-name")

    assert (
        response["Location"] == "/sign-in?next=%2Fw%2Fhome%2Fvision%2F%3Fsort%3D-name"
    )


def test_a_script_gets_a_refusal_and_no_page():
    response = Client().get(
        "/w/home/vision/runs.json", headers={"accept": "application/json"}
    )

    assert response.status_code == HTTPStatus.UNAUTHORIZED
    assert response.json()["error"]["code"] == "not_authenticated"


def test_a_part_of_a_page_sends_the_whole_page_to_sign_in():
    response = Client().get("/account/keys", headers={"hx-request": "true"})

    assert response["HX-Redirect"] == "/sign-in"


def test_someone_disabled_is_out_at_once(member, client_of):
    browser = client_of(member)
    member.user.is_active = False
    member.user.save(update_fields=["is_active"])

    assert browser.get("/account/keys").status_code == HTTPStatus.FOUND


@pytest.mark.parametrize(
    "wanted",
    [
        "//evil.test",
        "/\\evil.test",
        "\\\\evil.test",
        "https:evil.test",
        "https://evil.test/",
        "///evil.test",
        "javascript:alert(1)",
        "http://testserver@evil.test/",
        "\t//evil.test",
        "/\t/evil.test",
        "",
    ],
)
def test_nobody_is_sent_to_another_host(wanted):
    assert local_path(RequestFactory().get("/"), wanted) in ("/", "/%09/evil.test")


def test_an_address_of_our_own_is_kept():
    path = "/w/home/vision/?sort=-path%3Atrain%2Floss#top"

    assert local_path(RequestFactory().get("/"), path) == path

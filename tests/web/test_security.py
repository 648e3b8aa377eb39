from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import get_resolver

from tests.builders import make_project

pytestmark = [pytest.mark.django_db, pytest.mark.database]

ASSETS = Path(__file__).parents[2] / "web/static/web"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=()",
    "Referrer-Policy": "same-origin",
}


@pytest.mark.parametrize(
    "path", ["/", "/sign-in", "/w/ada-workspace/vision/", "/nowhere", "/livez"]
)
def test_every_answer_carries_the_headers(path, member, client_of):
    make_project(member)
    response = client_of(member).get(path)

    missing = [
        name for name, start in HEADERS.items() if start not in response.get(name, "")
    ]
    assert not missing
    assert response["Cache-Control"] == "no-store"


def test_files_carry_the_headers_too_and_may_be_kept():
    response = Client().get("/static/web/icons.svg")
    response.close()

    assert not [
        name for name in HEADERS if name not in response and "Frame" not in name
    ]
    assert response["Cache-Control"] != "no-store"


def test_a_sign_in_link_is_not_passed_on_as_a_referrer():
    assert Client().get("/sign-in/secret")["Referrer-Policy"] == "strict-origin"


@pytest.mark.parametrize(
    "origin", ["null", "https://evil.test", "http://testserver.evil.test"]
)
def test_no_other_origin_may_read(origin, member, client_of):
    response = client_of(member).get("/", headers={"origin": origin})

    assert not [name for name in response.headers if name.startswith("Access-Control")]


@pytest.mark.parametrize(
    "headers", [{}, {"origin": "null"}, {"origin": "https://evil.test"}]
)
@pytest.mark.parametrize(
    "path",
    ["/sign-out", "/sign-in/secret", "/settings/tokens", "/settings/tokens/1/revoke"],
)
def test_nothing_changes_without_the_pages_own_token(path, headers, member):
    browser = Client(enforce_csrf_checks=True, headers=headers)
    browser.force_login(member.user)

    assert browser.post(path).status_code == 403
    assert browser.session.get("_auth_user_id") == str(member.user.pk)


@pytest.mark.parametrize("path", ["/sign-out", "/settings/tokens/1/revoke"])
def test_reading_changes_nothing(path, member, client_of):
    assert client_of(member).get(path).status_code == 405


def test_the_pages_load_nothing_from_elsewhere():
    # A namespace is a name that looks like an address; nothing is fetched from it.
    remote = re.compile(r"https?://(?!www\.w3\.org/2000/svg)")
    assets = [path for path in ASSETS.rglob("*") if path.suffix in (".css", ".js")]

    assert assets
    assert [path.name for path in assets if remote.search(path.read_text())] == []


def test_cookies_are_for_this_host_only_under_tls():
    assert settings.SESSION_COOKIE_HTTPONLY
    assert settings.SESSION_COOKIE_SAMESITE == "Lax"
    assert (settings.SESSION_COOKIE_NAME.startswith("__Host-")) == settings.HTTPS


def test_names_of_pages_are_unique():
    names = [pattern.name for pattern in get_resolver("web.urls").url_patterns]

    assert len(names) == len(set(names))

"""The documentation at /help/: for every visitor, with the headers of all pages."""

from __future__ import annotations

import pytest
from django.test import Client

from web.security import CONTENT_SECURITY_POLICY

pytestmark = pytest.mark.django_db

FILES = {
    "index.html": "<h1>Seamark</h1>",
    "how-to/charts/index.html": "<h1>Charts</h1>",
    "assets/bundle.1a2b.js": "go()",
    "search.json": "{}",
}


@pytest.fixture
def site(tmp_path, monkeypatch):
    folder = tmp_path / "help"
    monkeypatch.setattr("web.pages.help.pages.SITE", folder)
    return folder


@pytest.fixture
def built(site):
    (site.parent / "secret.html").write_text("secret")
    for name, content in FILES.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return site


@pytest.fixture(params=["anonymous", "member"])
def visitor(request, member, client_of):
    return Client() if request.param == "anonymous" else client_of(member)


def test_every_visitor_gets_the_pages(built, visitor):
    start = visitor.get("/help/")
    page = visitor.get("/help/how-to/charts/")

    assert start.content == b"<h1>Seamark</h1>"
    assert page.content == b"<h1>Charts</h1>"
    assert page["Content-Type"] == "text/html; charset=utf-8"


def test_pages_have_the_strict_policy(built, visitor):
    page = visitor.get("/help/")

    assert page["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
    assert page["X-Content-Type-Options"] == "nosniff"


def test_browsers_ask_again_for_pages_and_keep_scripts(built):
    client = Client()
    page = client.get("/help/")
    again = client.get("/help/", headers={"If-None-Match": page["ETag"]})
    script = client.get("/help/assets/bundle.1a2b.js")

    assert page["Cache-Control"] == "public, no-cache"
    assert again.status_code == 304
    assert script["Cache-Control"] == "public, max-age=31536000, immutable"
    assert script["Content-Type"].startswith("text/javascript")


def test_a_folder_without_a_slash_redirects(built):
    response = Client().get("/help/how-to/charts")

    assert response.status_code == 302
    assert response["Location"] == "/help/how-to/charts/"


@pytest.mark.parametrize(
    "path",
    [
        "nothing/",
        "how-to/",
        "../secret.html",
        "%2e%2e/secret.html",
        "how-to/..%2f..%2f..%2fsecret.html",
        "a%00b",
        "x" * 5_000,
    ],
)
def test_there_is_nothing_outside_of_the_site(built, path):
    response = Client().get(f"/help/{path}")

    assert response.status_code == 404
    assert b"secret" not in response.content


def test_without_a_site_the_page_explains_how_to_build_it(site, visitor):
    page = visitor.get("/help/")

    assert page.status_code == 200
    assert "python3 manage.py docs" in page.content.decode()
    assert page["Cache-Control"] == "no-store"
    assert visitor.get("/help/quickstart/").status_code == 404


def test_the_menu_leads_to_the_help(site, member, client_of):
    page = client_of(member).get("/")

    assert 'href="/help/"' in page.content.decode()

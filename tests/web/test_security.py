from __future__ import annotations

import re
from pathlib import Path
from uuid import UUID

import pytest
from django.apps import apps
from django.conf import settings
from django.db.models import QuerySet
from django.test import Client
from django.urls import get_resolver

from tests.builders import make_project, make_run, write_series
from tests.web import every_page
from tests.web.every_page import Things, make_empty, make_full
from tracker.files.names import attachment

pytestmark = pytest.mark.django_db

CHART = re.compile(rb'data-behaviour="[^"]*\b(?:chart|file-figure)\b')
SECRET_ADDRESSES = ("sign-in-link", "shared", "shared-page", "join")

ASSETS = Path(__file__).parents[2] / "web/static/web"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=()",
    "Referrer-Policy": "same-origin",
}
# Scripts, their texts, the documentation and the SDK are the same for every visitor.
FOR_EVERYBODY = {"texts", "plotly-bundle", "help", "sdk-archive"}
NOT_KEPT = {"no-store", "private, no-store"}
# Stored by the browser only, and revalidated on each use.
ASKED_EACH_TIME = "no-cache, private"
# Figures and points, which are revalidated by version.
NAMED_BY_BROWSERS = {
    "run-evidence",
    "run-charts-figures",
    "compare-figures",
    "run-series",
    "run-histograms",
    "run-hardware-figure",
    "run-file-figure",
    "run-stages",
    "compare-figure",
    "compare-hardware",
    "compare-scatter",
    "ladder-figure",
    "widget-figure",
    "report-widget-figure",
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


ANSWERS = {
    "400 foreign host": ("get", "/", {"host": "evil.test"}, 400),
    "400 foreign host, API": ("get", "/api/v1/me", {"host": "evil.test"}, 400),
    "400 foreign host, file": (
        "get",
        "/static/web/icons.svg",
        {"host": "evil.test"},
        400,
    ),
    "302 not signed in": ("get", "/account/keys", {}, 302),
    "401 API": ("get", "/api/v1/me", {}, 401),
    "401 ingest": ("post", f"/api/v1/ingest/{UUID(int=1)}", {}, 401),
    "403 forged": ("post", "/sign-out", {}, 403),
    "404 page": ("get", "/nowhere", {}, 404),
    "404 API": ("get", "/api/v1/nowhere", {}, 404),
    "404 file": ("get", "/static/web/nothing.css", {}, 404),
    "405 page": ("get", "/sign-out", {}, 405),
    "405 API": ("delete", "/api/v1/me", {}, 405),
    "401 API schema": ("get", "/api/v1/openapi.json", {}, 401),
    "200 head": ("head", "/sign-in", {}, 200),
}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"), ANSWERS.values(), ids=ANSWERS
)
def test_every_refusal_carries_the_headers(method, path, headers, status):
    response = getattr(Client(enforce_csrf_checks=True), method)(path, headers=headers)

    assert response.status_code == status
    assert missing_headers(response) == []


def test_a_fault_of_ours_carries_the_headers_and_tells_nothing(monkeypatch):
    def fail(*_):
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr("web.pages.people.sign_in.render", fail)
    response = Client(raise_request_exception=False).get("/account/deactivated")

    assert response.status_code == 500
    assert missing_headers(response) == []
    for secret in (b"hunter2", b"Traceback", b"RuntimeError", b"/site-packages/"):
        assert secret not in response.content


def missing_headers(response):
    # Frames are controlled by the policy; the older header is only on pages.
    return [
        name
        for name, start in HEADERS.items()
        if start not in response.get(name, "") and name != "X-Frame-Options"
    ] + ["frame-ancestors"] * (
        "frame-ancestors 'none'" not in response["Content-Security-Policy"]
    )


def is_private(name, response):
    """Return whether the answer is not cached, except for versioned data in a browser."""
    if response["Cache-Control"] in NOT_KEPT:
        return True
    if response.get("Content-Type", "").startswith("image/"):
        return response["Cache-Control"].startswith("private, ")
    is_asked = response["Cache-Control"] == ASKED_EACH_TIME and "ETag" in response
    return is_asked and name in NAMED_BY_BROWSERS


def read(response):
    """Read a streamed answer to its end, and close it like a server."""
    if response.streaming:
        b"".join(response)
    return response


@pytest.fixture
def owner(member):
    owner = Client(raise_request_exception=False)
    owner.force_login(member.user)
    return owner


@pytest.mark.database
def test_every_answer_of_every_address_carries_the_headers(addresses, owner):
    missing = {}
    for method in ("get", "head", "post", "put", "options"):
        for name, path in addresses.items():
            response = read(getattr(owner, method)(path))
            lacks = [
                header
                for header in missing_headers(response)
                # Their addresses are secrets, so they are even stricter.
                if header != "Referrer-Policy" or name not in SECRET_ADDRESSES
            ]
            if name not in FOR_EVERYBODY and not is_private(name, response):
                lacks.append(f"Cache-Control: {response['Cache-Control']}")
            if lacks:
                missing[f"{method} {name}"] = lacks

    assert missing == {}


# Pages on which charts may be drawn, now or later, by how their names begin. Sections of a
# run's page and of a comparison that draw none are as strict as all others.
MAY_DRAW = {
    "run",
    "run-charts",
    "run-hardware",
    "run-media",
    "run-files",
    "runs",
    "compare?runs={runs}",
    "compare?runs={runs}&tab=media",
    "compare?runs={runs}&tab=scatter",
    "compare?runs={runs}&tab=hardware",
    "ladder",
    "dashboard",
    "report",
    "report-edit",
    "shared-page",
    "shared-pagecharts",
    "shared-pagehardware",
    "shared-pagefiles",
    "shared-pagemedia",
    "shared-comparison&tab=charts",
    "shared-comparison&tab=media",
    "shared-comparison&tab=scatter",
    "shared-comparison&tab=hardware",
    "shared-ladder",
    "shared-dashboard",
    "shared-report",
}


@pytest.mark.django_db(
    transaction=True
)  # as answers are closed before they are looked at
@pytest.mark.parametrize(
    "make",
    [
        # Every page with something on it, on both databases.
        pytest.param(make_full, marks=pytest.mark.database),
        pytest.param(make_empty, marks=pytest.mark.slow),
    ],
)
def test_only_pages_that_may_draw_charts_allow_styles_within(
    make, member, client_of, settings, tmp_path
):
    settings.DATA_FOLDER = tmp_path
    things = make(member)
    browser = client_of(member)
    visited, loose, charted = set(), set(), set()
    for name, address in every_page.pages(things, browser).items():
        response = read(browser.get(address))
        # Variants of a route have one policy, unless they are listed in MAY_DRAW.
        known = name if name in MAY_DRAW else name.partition("?")[0]
        named = known if known != "compare" else name
        visited.add(named)
        if "'unsafe-inline'" in response["Content-Security-Policy"]:
            loose.add(named)
        if CHART.search(response.content):
            charted.add(named)

    assert "run-charts" in visited
    assert charted <= loose
    assert loose <= MAY_DRAW
    assert {"run-logs", "run-source", "run-attributes"} <= visited - loose
    # MAY_DRAW has no superfluous entries.
    if things.compared:
        assert loose == MAY_DRAW


def test_under_tls_browsers_are_told_to_come_by_tls_only(settings, addresses, member):
    settings.SECURE_HSTS_SECONDS = 365 * 24 * 3600
    # A new one has its middleware read the settings.
    browser = Client()
    browser.force_login(member.user)

    paths = [addresses["projects"], "/nowhere", "/api/v1/me", "/static/web/icons.svg"]
    for path in paths:
        response = read(browser.get(path, secure=True))
        assert response["Strict-Transport-Security"] == "max-age=31536000", path


@pytest.mark.parametrize(
    "name",
    ['a"b', "a\r\nSet-Cookie: x=1", "a;b", "Zürich ☃", "\u202egnp.exe", "%0d%0a"],
)
def test_a_name_cannot_forge_a_header(name):
    header = attachment(name)

    assert header.isascii()
    assert header.isprintable()
    plain, _, encoded = header.removeprefix('attachment; filename="').partition('"; ')
    assert not set('"\\\r\n') & set(plain)
    # RFC 6266, with the characters that RFC 5987 lets stand.
    assert re.fullmatch(r"filename\*=UTF-8''[\w%.~-]+", encoded)


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
    ["/sign-out", "/sign-in/secret", "/account/keys", "/account/keys/1/revoke"],
)
def test_nothing_changes_without_the_pages_own_token(path, headers, member):
    browser = Client(enforce_csrf_checks=True, headers=headers)
    browser.force_login(member.user)

    assert browser.post(path).status_code == 403
    assert browser.session.get("_auth_user_id") == str(member.user.pk)


@pytest.fixture
def addresses(member):
    """Every page's address, of things that exist, by the page's name."""
    project = make_project(member)
    run = make_run(project)
    write_series(run, "loss", [1.0, 2.0])
    return every_page.addresses(Things(member, project, run).known())


def stored():
    """Return everything stored but traces of reading: sessions, how often a share link
    was opened, exports in the audit log, and which notifications are read."""
    models = apps.get_app_config("tracker").get_models()
    found = {model: list(QuerySet(model).order_by("pk").values()) for model in models}
    for rows in found.values():
        for row in rows:
            for told in ("last_opened_at", "open_count", "read_at"):
                row.pop(told, None)
    entries = found[apps.get_model("tracker", "AuditEntry")]
    entries[:] = [entry for entry in entries if entry["action"] != "data.exported"]
    return found


@pytest.mark.database
def test_no_page_takes_a_form_without_its_own_token(addresses, member):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(member.user)
    before = stored()

    statuses = {
        name: browser.post(path, {"name": "x"}).status_code
        for name, path in addresses.items()
    }

    assert set(statuses.values()) == {403}, statuses
    assert stored() == before


@pytest.mark.database
def test_reading_a_page_changes_nothing_that_is_stored(addresses, member, client_of):
    browser = client_of(member)
    before = stored()

    statuses = {name: browser.get(path).status_code for name, path in addresses.items()}

    assert [name for name, status in statuses.items() if status == 200] != []
    assert {status for status in statuses.values() if status >= 500} == set()
    assert stored() == before
    assert browser.session.get("_auth_user_id") == str(member.user.pk)


@pytest.mark.database
@pytest.mark.parametrize("path", ["/sign-out", "/account/keys/1/revoke"])
def test_reading_changes_nothing(path, member, client_of):
    assert client_of(member).get(path).status_code == 405


def test_the_pages_load_nothing_from_elsewhere():
    # XML namespaces look like addresses, but are not fetched.
    remote = re.compile(r"https?://(?!www\.w3\.org/(?:2000/svg|1999/xhtml))")
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

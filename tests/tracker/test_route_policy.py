"""Users who are not signed in have access to nothing except a list of routes.

A new route is closed until it is added here.
"""

import re
from uuid import UUID

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver

pytestmark = pytest.mark.django_db

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
# Public: sign-in, invitations with their secret, health checks, documentation, the SDK, and text catalogs for scripts.
PUBLIC = {
    "sign-in",
    "sign-in/<str:secret>",
    "join/<str:secret>",
    "account/deactivated",
    "account/password/forgotten",
    "account/password/forgotten/sent",
    "account/password/reset/<slug:uidb36>/<str:key>",
    "texts/<str:language>/<str:version>.js",
    "help/",
    "sdk/",
    "livez",
    "readyz",
    "plotly.js",
}
SAMPLES = {"int": "1", "str": "x", "slug": "x", "path": "x/y"}
SAMPLE_ID = str(UUID(int=7))
PARAMETER = re.compile(r"<(?:(\w+):)?\w+>")


def routes(patterns, prefix=""):
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from routes(pattern.url_patterns, route)


def address(route):
    return "/" + PARAMETER.sub(
        lambda match: SAMPLES.get(match[1] or "str", SAMPLE_ID), route
    )


def all_routes():
    return sorted(set(routes(get_resolver().url_patterns)))


def refuses(response):
    if response.status_code in (301, 302):
        return response["Location"].startswith("/sign-in")
    return response.status_code in (400, 401, 403, 404, 405)


def test_everything_but_the_list_refuses_who_is_not_signed_in():
    client = Client()

    answering = {
        (method, route)
        for route in all_routes()
        if route not in PUBLIC
        for method in METHODS
        if not refuses(client.generic(method, address(route)))
    }

    assert answering == set()


def test_the_list_holds_only_addresses_that_exist():
    assert set(all_routes()) >= PUBLIC


def test_public_addresses_refuse_methods_they_have_no_use_for():
    client = Client()

    answering = {
        (method, route)
        for route in PUBLIC
        for method in ("PUT", "PATCH", "DELETE", "TRACE")
        if client.generic(method, address(route)).status_code < 400
    }

    assert answering == set()


@pytest.mark.database
@pytest.mark.parametrize("path", ["/api/v1/me", "/api/v1/projects", "/api/v1/limits"])
def test_a_secret_in_the_address_opens_nothing(path, member):
    from tracker.actions.access import make_token
    from tracker.actor import Scope

    secret = make_token(member, "leaky", Scope.MANAGE)

    for name in ("token", "access_token", "authorization"):
        assert Client().get(path, {name: secret}).status_code == 401

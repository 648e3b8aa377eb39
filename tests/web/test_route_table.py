"""Each route answers each role as in the table, and no route is missing.

The table is `route_table.py`. Add a row there with each route.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from django.test import Client

from tests.tracker.test_route_policy import address
from tests.web.route_site import ELSEWHERE, IN, Site, api_routes, page_routes
from tests.web.route_table import ROLES, api_rows, page_rows

# Forms that name a workspace.
NAMED_IN_FORM = ("keys", "first-key")
pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def site(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    return Site()


def test_every_route_has_a_row():
    client = Client()
    answering = {
        (method, name)
        for name, route in page_routes()
        for method in ("GET", "POST")
        if client.generic(method, address(route[1:])).status_code != 405
    }

    assert answering == page_rows().keys()
    assert set(api_routes()) == api_rows().keys()


def test_roles_without_access_are_refused(settings, tmp_path):
    """Test the most powerful role without access in each row, as JSON for speed.

    `test_route_policy.py` does the same for visitors.
    """
    settings.DATA_FOLDER = tmp_path
    site = Site(accept="application/json")
    wrong = {}
    for cell in rows(site):
        refused = [
            role
            for role, answer in zip(ROLES, cell.answers, strict=True)
            if answer != IN and role != "anonymous"
        ]
        for role in refused[-1:]:
            if (found := cell.ask(role, "project")) != cell.answer(role):
                wrong[cell.name, role] = found

    assert wrong == {}


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("role", ROLES)
def test_every_route_answers_the_role_as_the_table_says(site, role):
    found = {row.name: row.ask(role, "project") for row in rows(site)}

    expected = {row.name: row.answer(role) for row in rows(site)}
    assert different(found, expected) == {}


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(
    ("place", "role", "counts_as"),
    [(place, *each) for place, roles in ELSEWHERE.items() for each in roles.items()],
)
def test_closed_projects_and_other_workspaces_stay_closed(site, place, role, counts_as):
    asked = [row for row in rows(site) if not row.is_anywhere]
    found = {row.name: row.ask(role, place) for row in asked}

    # The workspace of a closed project is their own.
    is_own = place == "closed project"
    expected = {
        row.name: row.answer(role if is_own and row.is_of_workspace else counts_as)
        for row in asked
    }
    assert different(found, expected) == {}


class Row(NamedTuple):
    name: str
    # Whether the address contains no project.
    is_anywhere: bool
    is_of_workspace: bool
    answers: str
    # Send the request as a role, to a place.
    ask: Callable[[str, str], str]

    def answer(self, role: str) -> str:
        return self.answers[ROLES.index(role)]


def rows(site: Site) -> Iterator[Row]:
    routes = dict(page_routes())
    for (method, name), answers in page_rows().items():
        route = routes[name]

        def ask(role, place, method=method, name=name, route=route):
            return site.page(role, place, method, name, route)

        is_of_workspace = "workspace>" in route and "project>" not in route
        is_of_workspace |= name in NAMED_IN_FORM
        is_anywhere = "<" not in route and name not in NAMED_IN_FORM
        yield Row(f"{method} {name}", is_anywhere, is_of_workspace, answers, ask)
    for (method, path), answers in api_rows().items():

        def ask(role, place, method=method, path=path):
            return site.api(role, place, method, path)

        is_of_workspace = path.startswith("/api/v1/workspaces/")
        is_anywhere = "{" not in path
        yield Row(f"{method} {path}", is_anywhere, is_of_workspace, answers, ask)


def different(found: dict[str, str], expected: dict[str, str]) -> dict[str, str]:
    return {
        name: f"{answer}, not {expected[name]}"
        for name, answer in found.items()
        if answer != expected[name]
    }

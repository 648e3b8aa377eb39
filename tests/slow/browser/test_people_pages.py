"""The pages about people, with a team's work in them, fit and are accessible."""

from __future__ import annotations

from collections.abc import Iterator
from pprint import pformat

import pytest
from playwright.sync_api import Page

from tests.slow.browser.accessibility import violations
from tests.slow.browser.test_every_page import headings, sideways
from tests.web.pages.people.test_second_factors import code_of
from tests.web.people_pages import PASSWORD, make_team, people_pages
from tracker.models import User

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1200),
]


def test_every_page_about_people_is_accessible_and_fits(visit, watch):
    """Axe in both themes, headings, and no sideways scrolling from 360 px on."""
    found = {}
    team = make_team()
    for name, (address, member) in people_pages(team).items():
        watch.context.clear_cookies()
        page = visit(address, member)
        if objections := violations(page) + headings(page) + sideways(page):
            found[name] = objections
        # These pages show a refusal.
        watch.faults = [each for each in watch.faults if "status of 4" not in each]
    watch.context.clear_cookies()
    for name in second_factor_pages(visit, page, team.member.user):
        if objections := violations(page) + headings(page) + sideways(page):
            found[name] = objections

    assert not found, pformat(found, width=200)


def second_factor_pages(visit, page: Page, user: User) -> Iterator[str]:
    """Go through the pages of an authenticator app; yield the name of each."""
    sign_in(visit, page, user)
    visit("/account/app")
    yield "confirm"
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/account/app")
    yield "add app"
    code = code_of(page.locator("#app-key").inner_text())
    page.get_by_role("textbox", name="Code").fill(code)
    page.get_by_role("button", name="Add app").click()
    page.wait_for_url("**/account/recovery-codes")
    yield "recovery codes"
    for name, path in (
        ("security", "/account/security"),
        ("remove app", "/account/app/remove"),
        ("replace codes", "/account/recovery-codes/replace"),
    ):
        visit(path)
        yield name
    page.context.clear_cookies()
    sign_in(visit, page, user)
    page.wait_for_url("**/account/second-factor")
    yield "second factor"
    page.context.clear_cookies()
    visit("/account/password", user.memberships.get())
    yield "change password"


def sign_in(visit, page: Page, user: User) -> None:
    visit("/sign-in")
    page.get_by_label("Email address").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda url: not url.endswith("/sign-in"))

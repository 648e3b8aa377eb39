"""A passkey in Chromium's virtual authenticator, as a fingerprint reader would hold it."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "correct horse battery"


def give_authenticator(context: BrowserContext, page: Page) -> None:
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def test_a_passkey_is_added_and_signs_in_without_a_password(visit, ada, context):
    ada.user.set_password(PASSWORD)
    ada.user.save()
    page = visit("/account/security", ada)
    give_authenticator(context, page)

    page.get_by_role("link", name="Add passkey").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("link", name="Remove Laptop")).to_be_visible()

    context.clear_cookies()
    page.goto(page.url.partition("/account")[0] + "/sign-in")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()

    # As a second factor after the password, too.
    context.clear_cookies()
    page.goto(page.url.rstrip("/") + "/sign-in")
    page.get_by_label("Email address").fill(ada.user.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()

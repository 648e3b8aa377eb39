"""Coming in, choosing a theme, making a token: the pages around the runs."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.conftest import open_account_menu
from tracker.actions.access import make_sign_in_link, make_token
from tracker.actor import Scope

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def theme(page: Page) -> str:
    return page.evaluate("() => document.documentElement.dataset.theme")


def background(page: Page) -> str:
    return page.evaluate(
        "() => getComputedStyle(document.body.parentElement).backgroundColor"
    )


def test_a_link_leads_in_once(visit, ada):
    link = f"/sign-in/{make_sign_in_link(ada.user)}"
    page = visit(link)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()

    open_account_menu(page)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()

    visit(link).get_by_role("button", name="Sign in").click()
    expect(
        page.get_by_role("heading", name="This link no longer works")
    ).to_be_visible()


def test_the_theme_is_kept_and_set_before_anything_is_drawn(visit, ada):
    page = visit("/", ada)
    light = background(page)
    assert theme(page) == "auto"
    open_account_menu(page)
    button = page.get_by_role("button", name="Theme")

    button.click()
    button.click()
    assert theme(page) == "dark"
    assert background(page) != light

    page.goto(page.url, wait_until="commit")
    page.wait_for_function("() => document.body")
    assert theme(page) == "dark"
    open_account_menu(page)
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()


def test_the_keyboard_walks_through_the_account_menu(visit, ada):
    page = visit("/", ada)
    button = page.get_by_role("button", name="Account: ada")
    theme_entry = page.get_by_role("button", name="Theme")

    button.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="Profile")).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Sign out")).to_be_focused()
    page.keyboard.press("Escape")

    expect(theme_entry).to_be_hidden()
    expect(button).to_be_focused()


def test_the_system_decides_unless_somebody_did(visit, ada):
    page = visit("/", ada)
    light = background(page)

    page.emulate_media(color_scheme="dark")

    assert background(page) != light


def test_a_key_is_created_shown_and_revoked(visit, ada):
    page = visit("/account/keys", ada)
    page.get_by_label("Name").fill("GPU node")
    page.get_by_role("button", name="Create key").click()

    secret = page.locator("#secret")
    expect(secret).to_contain_text("smk_")
    expect(page.locator("#key-environment")).to_contain_text(secret.inner_text())

    page.get_by_role("button", name="Revoke GPU node").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Revoke GPU node")).to_be_visible()
    page.get_by_role("button", name="Revoke GPU node").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("You have no API keys.")).to_be_visible()


def test_a_snippet_can_be_copied(visit, ada, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit("/", ada)

    page.get_by_role("button", name="Copy").last.click()

    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert (
        page.evaluate("() => navigator.clipboard.readText()")
        == "python3 manage.py demo"
    )


def test_moments_are_shown_in_the_readers_time(visit, ada):
    make_token(ada, "node", Scope.READ)
    page = visit("/account/keys", ada)

    moment = page.locator("time").first

    expect(moment).to_have_attribute("title", re.compile(r" UTC$"))


def test_the_keyboard_skips_to_the_content(visit, ada):
    page = visit("/", ada)

    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to content")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator("main")).to_be_focused()

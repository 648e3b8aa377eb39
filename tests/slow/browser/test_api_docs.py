import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]


def test_the_api_is_described_under_our_content_security_policy(visit, ada):
    page = visit("/api/v1/docs", ada)

    expect(page.get_by_text("/api/v1/runs/{run_id}/series")).to_be_visible()


def test_a_reader_who_is_signed_in_may_try_it(visit, ada):
    page = visit("/api/v1/docs", ada)
    page.get_by_text("/api/v1/me", exact=True).click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()

    expect(page.get_by_text('"user": "ada"')).to_be_visible()


def test_it_follows_the_theme_and_leads_back(visit, ada):
    page = visit("/api/v1/docs", ada)
    html = page.locator("html")
    expect(html).not_to_have_class("dark-mode")

    page.emulate_media(color_scheme="dark")
    expect(html).to_have_class("dark-mode")

    page.get_by_role("link", name="Seamark").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()

"""The documentation in a browser, under the policy of all pages and without other hosts."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest
from playwright.sync_api import expect

from tests.slow.browser.accessibility import violations
from web.pages.help import build

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.browser,
    pytest.mark.skipif(find_spec("zensical") is None, reason="no zensical"),
]
# The theme gives each block of code a landmark.
OF_THE_THEME = "landmark-unique"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "help"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "SITE", folder)
        assert build.main() == 0
    return folder


@pytest.fixture(autouse=True)
def served(site, monkeypatch):
    monkeypatch.setattr("web.pages.help.pages.SITE", site)


@pytest.mark.parametrize("path", ["", "how-to/charts/", "sdk/", "benchmarks/"])
def test_pages_keep_to_the_policy_and_are_accessible(visit, path):
    opened = visit(f"/help/{path}")

    found = [each for each in violations(opened) if OF_THE_THEME not in each]
    assert found == []


def test_pages_fit_a_phone(visit, page):
    page.set_viewport_size({"width": 390, "height": 844})

    opened = visit("/help/benchmarks/")

    assert opened.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_search_finds_a_page(visit):
    page = visit("/help/")

    page.get_by_role("button", name="Search").first.click()
    page.get_by_role("combobox", name="Search").fill("preemption")
    page.get_by_role("option", name="Preemption and restarts").first.click()

    expect(page).to_have_url(re.compile("/help/how-to/preemption/"))


def test_the_menu_leads_to_the_help(visit, ada):
    page = visit("/", ada)

    page.get_by_role("button", name="Account").click()
    page.get_by_role("link", name="Help").click()

    expect(page.get_by_role("heading", name="Seamark", level=1)).to_be_visible()

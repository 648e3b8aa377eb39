"""Accessibility of dialogs, menus and panels, in both themes.

Dialogs are found in the pages: a new one needs an entry here, unless a single button
opens it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pprint import pformat

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.accessibility import violations
from tests.web.every_page import NOTHING, make_full, pages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1200),
]

DIALOG = re.compile(r'<dialog\b[^>]*?\b(?:id|data-part)="([^"]+)')
# IDs, so that one of many similar dialogs is tested.
OWN_NUMBER = re.compile(r"[0-9a-f-]{36}|\d+")
SHOWN = "dialog[open], [popover]:popover-open, details.drop[open] > .drop__panel"

Steps = Callable[[Page], None]


def press(key: str) -> Steps:
    return lambda page: page.keyboard.press(key)


def button(name: str) -> Steps:
    return lambda page: page.get_by_role("button", name=name, exact=True).first.click()


def panel(part: str) -> Steps:
    return lambda page: page.locator(f"[data-part={part}] > summary").click()


def in_chart_menu(item: str = "") -> Steps:
    def open_menu(page: Page) -> None:
        chart = page.locator(".chart[data-path='train/loss']")
        expect(chart).to_have_attribute("data-drawn", "true")
        chart.hover()
        chart.get_by_role("button", name="More").click()
        if item:
            page.get_by_role("menuitem", name=item).click()

    return open_menu


def share(page: Page) -> None:
    page.get_by_role("link", name="Share", exact=True).click()
    expect(page.locator("#share-title")).to_be_visible()


def add_widget(page: Page) -> None:
    button("Add widget")(page)
    page.get_by_role("button", name="Chart Metrics over steps or time").click()
    expect(page.locator("#widget-form")).to_be_visible()


def insert_widget(page: Page) -> None:
    page.locator("[hx-get*='kind=chart']").click()
    expect(page.locator("#widget-form")).to_be_visible()


def add_panel(page: Page) -> None:
    button("Add panel")(page)
    expect(page.locator("#panel-dialog .kinds__kind").first).to_be_visible()


def enlarge(page: Page) -> None:
    page.locator("[data-part=zoom]").first.click()


def column_menu(page: Page) -> None:
    page.get_by_role("columnheader").nth(2).click(button="right")


def changed_view(page: Page) -> None:
    page.get_by_role("columnheader").nth(2).click()
    panel("views")(page)
    button("Update")(page)


def discard(page: Page) -> None:
    page.get_by_label("Title", exact=True).fill("Another title")
    expect(page.get_by_text("Draft saved")).to_be_visible()
    page.locator("button[form=discard-form]").click()


# Dialog, its page, and the steps to open it.
DIALOGS: Mapping[str, tuple[str, Steps]] = {
    "palette": ("runs", press("Control+k")),
    "shortcuts": ("runs", press("?")),
    "share-dialog": ("run", share),
    "dialog": ("dashboard", add_widget),
    "panel-dialog": ("run-charts", add_panel),
    "zoomed": ("run-media", enlarge),
    "annotate": ("run-charts", in_chart_menu("Annotate…")),
    "choose": ("run-charts", in_chart_menu("Combine with other series…")),
    "discard-draft": ("report-edit", discard),
    "update-view": ("runs?view={view}", changed_view),
}
OTHERS: Mapping[str, tuple[str, Steps]] = {
    "widget in a report": ("report-edit", insert_widget),
    "menu of a chart": ("run-charts", in_chart_menu()),
    "menu of a column": ("runs", column_menu),
    **{
        f"panel of {part}": ("runs", panel(part))
        for part in ("columns", "groups", "views", "query-form")
    },
}


# Needs more runs than a page has here: test_runs_grid.py.
ELSEWHERE = {"confirm-matching"}


def kind(dialog: str) -> str:
    return OWN_NUMBER.sub("…", dialog)


def opener(dialog: str) -> Steps:
    """Press the button that names the dialog, or that triggers its confirmation."""
    asks = f"form[data-confirm='{dialog}'] button[type=submit]"
    return lambda page: page.locator(f"[data-opens='{dialog}'], {asks}").click()


def test_axe_objects_to_nothing_that_opens(visit, ada, client_of, settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    client = client_of(ada)
    addresses = {
        name: address
        for name, address in pages(make_full(ada), client).items()
        if name not in NOTHING
    }
    opened = {**DIALOGS, **OTHERS}
    for name, address in addresses.items():
        for dialog in DIALOG.findall(client.get(address).content.decode()):
            if kind(dialog) not in {*map(kind, opened), *ELSEWHERE}:
                opened[dialog] = (name, opener(dialog))

    found = {}
    for what, (name, steps) in opened.items():
        page = visit(addresses[name], ada)
        steps(page)
        expect(page.locator(SHOWN).last).to_be_visible()
        if objections := violations(page):
            found[what] = objections

    assert not found, pformat(found, width=200)

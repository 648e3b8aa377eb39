"""What holds of every page there is, in both themes, with much on it and with nothing.

Pages come from the routes, so a new one is looked at from its first day.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import Page

from tests.web.browser.accessibility import violations
from tests.web.browser.conftest import PHONE, WIDE
from tests.web.every_page import Things, make_empty, make_full, pages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1200),
]

WORLDS = {"empty": make_empty, "full": make_full}
# Swagger's page is not ours; that it breaks no policy is.
NOT_OURS = "api"
# Pages that say what cannot be done are answered so; and on a slow machine a page may be
# drawn later than Chromium thinks its font should be used.
EXPECTED = ("status of 40", "was preloaded using link preload")
# Counted beside what the watch of every browser test hears.
COUNT_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) => {
  (window.violations ??= []).push(`${event.violatedDirective}: ${event.blockedURI}`)
})"""
INLINE = """() => [...document.querySelectorAll("script:not([src]), style")]
  .filter((each) => each.type !== "application/json" && each.textContent.trim())
  .map((each) => `stands in the page: ${each.outerHTML.slice(0, 200)}`)"""
HANDLERS = """() => [...document.querySelectorAll("*")].flatMap((each) =>
  [...each.attributes].filter(({ name }) => name.startsWith("on"))
    .map(({ name }) => `has a handler: ${each.tagName} ${name}`))"""
# Charts follow a window that changes within moments.
SIDEWAYS = """async () => {
  const { documentElement: root } = document
  const beyond = () => root.scrollWidth - root.clientWidth
  for (let tries = 0; tries < 50 && beyond() > 0; tries++) {
    await new Promise((resume) => setTimeout(resume, 100))
  }
  return beyond()
}"""
HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5")]
  .filter((each) => each.checkVisibility()).map((each) => Number(each.tagName[1]))"""


@pytest.fixture(params=WORLDS)
def things(request, ada, settings, tmp_path) -> Things:
    settings.DATA_FOLDER = tmp_path
    return WORLDS[request.param](ada)


def test_every_page_is_for_everybody_safe_and_fits(
    visit, page, client_of, things, watch
):
    """Axe, headings, focus, the content security policy and the width, in one visit."""
    page.add_init_script(COUNT_VIOLATIONS)
    found = {}
    for name, address in pages(things, client_of(things.member)).items():
        visit(address, things.member)
        objections = unsafe(page)
        if name != NOT_OURS:
            objections += violations(page) + headings(page)
            objections += page.evaluate(WALK) + sideways(page)
        if objections:
            found[name] = objections
    watch.faults = [
        fault for fault in watch.faults if not any(part in fault for part in EXPECTED)
    ]

    # That no request leaves the host and nothing is logged, the watch asserts.
    assert found == {}


def unsafe(page: Page) -> list[str]:
    found: list[str] = page.evaluate("() => window.violations ?? []")
    return found + page.evaluate(INLINE) + page.evaluate(HANDLERS)


def headings(page: Page) -> list[str]:
    levels: list[int] = page.evaluate(HEADINGS)
    found = [
        f"a heading of level {after} follows one of level {before}"
        for before, after in pairwise(levels)
        if after > before + 1
    ]
    if levels.count(1) != 1:
        found.append(f"{levels.count(1)} headings of the first level")
    return found


def sideways(page: Page) -> list[str]:
    found = []
    for size in (PHONE, WIDE):
        page.set_viewport_size(size)
        if beyond := page.evaluate(SIDEWAYS):
            found.append(f"scrolls {beyond} pixels sideways at {size['width']}")
    return found


# Nobody's order of focus is turned round, and what has it shows it.
WALK = """() => {
  const found = []
  for (const each of document.querySelectorAll("[tabindex]")) {
    if (each.tabIndex > 0) found.push(`a place of its own in the order: ${each.outerHTML.slice(0, 120)}`)
  }
  const controls = document.querySelectorAll("main a[href], main button, main input, main select, main summary, header a[href], header button")
  for (const control of controls) {
    if (!control.checkVisibility({ visibilityProperty: true }) || control.disabled) continue
    control.focus({ focusVisible: true, preventScroll: true })
    if (document.activeElement !== control) continue
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(control)
    if ((outlineStyle === "none" || outlineWidth === "0px") && boxShadow === "none") {
      found.push(`does not show the focus: ${control.outerHTML.slice(0, 120)}`)
    }
  }
  return found
}"""

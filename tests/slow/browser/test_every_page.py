"""Requirements for all pages, in both themes, with a full project and an empty one.

Pages come from the routes, so a new one is tested immediately. Each page is visited
once: content, sizes and layout are checked while it is open.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pprint import pformat

import pytest
from playwright.sync_api import Page

from tests.slow.browser.accessibility import ASKED, violations, violations_of_width
from tests.slow.browser.conftest import PHONE, WIDE
from tests.slow.browser.weights import BROTLI, GZIP, SCRIPT, STYLE, weigh
from tests.web.every_page import ALIKE, NOTHING, Things, make_empty, make_full, pages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1200),
]

WORLDS = {"empty": make_empty, "full": make_full}
# Swagger's page is not ours; that it breaks no policy is.
NOT_OURS = "api"
# Bytes of scripts and styles as sent without TLS, where browsers accept gzip but not
# brotli.
LIGHT, WITH_CHARTS = 125_000, 700_000
# Pages that draw charts, and may load Plotly.
CHARTED = {
    "run",
    "run-charts",
    "run-hardware",
    "runs?as=charts",
    "compare?runs={runs}",
    *(f"compare?runs={{runs}}&tab={tab}" for tab in ("scatter", "hardware")),
    "ladder",
    "dashboard",
    "report",
    "report?comments=paper",
    "report?version=1",
    "report-edit",
    "shared-page",
    "shared-pagecharts",
    "shared-pagehardware",
    *(f"shared-comparison&tab={tab}" for tab in ("charts", "scatter", "hardware")),
    "shared-ladder",
    "shared-dashboard",
    "shared-report",
}
# Name prefixes of pages that are visited without signing in.
FOR_STRANGERS = ("sign-in", "join", "shared-")
WIDTHS = (360, PHONE["width"], 1440, 2560)
# In addition to the watch of every browser test.
COUNT_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) => {
  (window.violations ??= []).push(`${event.violatedDirective}: ${event.blockedURI}`)
})"""
INLINE = """() => [...document.querySelectorAll("script:not([src]), style")]
  .filter((each) => each.type !== "application/json" && each.textContent.trim())
  .map((each) => `stands in the page: ${each.outerHTML.slice(0, 200)}`)"""
HANDLERS = """() => [...document.querySelectorAll("*")].flatMap((each) =>
  [...each.attributes].filter(({ name }) => name.startsWith("on"))
    .map(({ name }) => `has a handler: ${each.tagName} ${name}`))"""
# Charts follow a window that changes within moments; a few are meant to be scrolled.
SIDEWAYS = """async () => {
  const { documentElement: root } = document
  const beyond = () => root.scrollWidth - root.clientWidth
  const follows = () => [...document.querySelectorAll(".chart")]
    .every((each) => each.scrollWidth <= each.clientWidth)
  for (let tries = 0; tries < (beyond() > 0 ? 50 : 10) && !(beyond() <= 0 && follows()); tries++) {
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


@pytest.fixture(autouse=True)
def _counts_violations(page: Page) -> None:
    page.add_init_script(COUNT_VIOLATIONS)


def test_every_page_is_for_everybody_safe_light_and_fits(
    visit, client_of, things, watch, *, page, record_property
):
    """Axe, headings, focus, content security policy, weight and width, in one visit."""
    found = {}
    is_full = bool(things.compared)
    for name, address in pages(things, client_of(things.member)).items():
        if name in ALIKE and not is_full:
            continue
        # A page that is left asks for nothing more, which it may no longer see.
        page.goto("about:blank")
        watch.context.clear_cookies()
        visit(address, None if name.startswith(FOR_STRANGERS) else things.member)
        objections = unsafe(page)
        # Before the checks below, which load further scripts.
        weights = [*weights_of(page, GZIP), *weights_of(page, BROTLI)]
        if name != NOT_OURS:
            objections += violations(page) + headings(page)
            objections += page.evaluate(WALK) + sideways(page)
            limit = WITH_CHARTS if name in CHARTED else LIGHT
            objections += too_heavy(*weights[:2], limit)
            # Printed by benchmarks.pages.weights.
            counts = count_by_theme(objections)
            record_property(name, [*weights, limit, *counts])
        if name in NOTHING:
            watch.allow("status of 40")
        if objections:
            found[name] = objections

    # The watch asserts that there are no requests to other hosts and no logged errors.
    assert not found, pformat(found, width=200)


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
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if beyond := page.evaluate(SIDEWAYS):
            found.append(f"scrolls {beyond} pixels sideways at {width}")
        if width == PHONE["width"]:
            found += violations_of_width(page)
    page.set_viewport_size(WIDE)
    return found


def weights_of(page: Page, packing: str) -> tuple[int, int]:
    """Return how many bytes of scripts and of styles a page has, packed like this."""
    weights = weigh(page, packing)
    return weights[SCRIPT], weights[STYLE]


def too_heavy(script: int, style: int, limit: int) -> list[str]:
    total = script + style
    return [f"weighs {total} bytes of {limit}"] if total >= limit else []


def count_by_theme(objections: Iterable[str]) -> list[int]:
    """Return how often axe objects in the light, in the dark, and on a phone."""
    return [
        sum(each.startswith(f"{theme}: ") for each in objections) for theme in ASKED
    ]


# No element changes the tab order, and each focused element shows its focus.
WALK = """() => {
  const found = []
  for (const each of document.querySelectorAll("[tabindex]")) {
    if (each.tabIndex > 0) found.push(`a place of its own in the order: ${each.outerHTML.slice(0, 120)}`)
  }
  const controls = document.querySelectorAll("main a[href], main button, main input, main select, main summary, header a[href], header button")
  // A line that somebody has drawn grows thick.
  const thickness = (control) =>
    [...control.querySelectorAll("path")].map((line) => getComputedStyle(line).strokeWidth).join()
  for (const control of controls) {
    if (!control.checkVisibility({ visibilityProperty: true }) || control.disabled) continue
    const before = thickness(control)
    control.focus({ focusVisible: true, preventScroll: true })
    if (document.activeElement !== control) {
      found.push(`takes no focus: ${control.outerHTML.slice(0, 120)}`)
      continue
    }
    // A field of several parts shows the focus as a whole.
    const shown = control.closest(".search__box") ?? control
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(shown)
    const isOutlined = outlineStyle !== "none" && outlineWidth !== "0px"
    if (!isOutlined && boxShadow === "none" && thickness(control) === before) {
      found.push(`does not show the focus: ${control.outerHTML.slice(0, 120)}`)
    }
  }
  return found
}"""

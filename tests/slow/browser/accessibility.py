"""Runs axe on a page to find accessibility problems."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

ALL = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Rules that depend on the theme, and on the width; all others are checked once.
OF_COLOUR = ["color-contrast", "link-in-text-block"]
OF_WIDTH = ["color-contrast", "scrollable-region-focusable", "target-size"]
# Prefix of each line: the theme, or the width.
ASKED = LIGHT, DARK, PHONE = "light", "dark", "of this width"
ASK = """async ({ theme, options }) => {
  if (theme) document.documentElement.dataset.theme = theme
  const { violations } = await axe.run(options)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html }) => `${id} (${help}): ${html.slice(0, 200)}`))
}"""


def violations(page: Page) -> list[str]:
    """Return axe's violations in either theme, one line per element.

    The page stays in the dark theme.
    """
    return _ask(page, ALL, LIGHT) + _ask(page, OF_COLOUR, DARK)


def violations_of_width(page: Page) -> list[str]:
    """Return axe's violations after the window's width has changed."""
    return _ask(page, OF_WIDTH)


def _ask(page: Page, only: list[str], theme: str = "") -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    # Without resultTypes, axe also reports each passing element.
    options = {"runOnly": only, "resultTypes": ["violations"]}
    found: list[str] = page.evaluate(ASK, {"theme": theme, "options": options})
    return [f"{theme or PHONE}: {each}" for each in found]

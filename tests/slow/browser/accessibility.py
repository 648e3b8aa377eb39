"""Asks axe for what people with assistive technology would stumble over."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

ALL = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# What a theme decides, and what the width does; the rest is the same in all of them.
OF_COLOUR = ["color-contrast", "link-in-text-block"]
OF_WIDTH = ["color-contrast", "scrollable-region-focusable", "target-size"]
# What each line begins with: of which theme, or which width, it is.
ASKED = LIGHT, DARK, PHONE = "light", "dark", "of this width"
ASK = """async ({ theme, options }) => {
  if (theme) document.documentElement.dataset.theme = theme
  const { violations } = await axe.run(options)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html }) => `${id} (${help}): ${html.slice(0, 200)}`))
}"""


def violations(page: Page) -> list[str]:
    """Return what axe objects to in either theme, one line for each element.

    It leaves the page in the dark.
    """
    return _ask(page, ALL, LIGHT) + _ask(page, OF_COLOUR, DARK)


def violations_of_width(page: Page) -> list[str]:
    """Return what axe objects to in a window that has become narrower or wider."""
    return _ask(page, OF_WIDTH)


def _ask(page: Page, only: list[str], theme: str = "") -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    # Otherwise it also tells of every element that is as it should be.
    options = {"runOnly": only, "resultTypes": ["violations"]}
    found: list[str] = page.evaluate(ASK, {"theme": theme, "options": options})
    return [f"{theme or PHONE}: {each}" for each in found]

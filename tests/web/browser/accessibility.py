"""Asks axe for what people with assistive technology would stumble over."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

THEMES = ("light", "dark")
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
}


def violations(page: Page) -> list[str]:
    """Return what axe objects to in either theme, one line for each element."""
    found = []
    for theme in THEMES:
        page.evaluate(
            "theme => { document.documentElement.dataset.theme = theme }", theme
        )
        answer = Axe().run(page, options=RULES).response
        found += [
            f"{theme}: {violation['id']} ({violation['help']}): {node['html'][:200]}"
            for violation in answer["violations"]
            for node in violation["nodes"]
        ]
    return found

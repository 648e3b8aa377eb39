"""Scripts show texts in the language of the page."""

from __future__ import annotations

import pytest

from tests.builders import make_project, make_run
from tests.web.languages import CLOSING, OPENING

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# A catalog, as a page in another language loads one, which puts all in brackets.
BRACKETS = f"""globalThis.django = {{
  gettext: (text) => `{OPENING}${{text}}{CLOSING}`,
  ngettext: (one, many, count) => `{OPENING}${{count === 1 ? one : many}}{CLOSING}`,
}}"""


def test_what_scripts_write_comes_from_the_catalogue(visit, page, ada):
    project = make_project(ada)
    make_run(project, "one")
    make_run(project, "two")
    page.add_init_script(BRACKETS)

    visit(f"/w/{project.workspace.slug}/{project.slug}/", ada)
    heads = page.locator("[role=columnheader]").all_inner_texts()
    page.keyboard.press("?")
    shortcuts = page.locator("#shortcuts dd, #shortcuts td").all_inner_texts()

    texts = [text.strip() for text in (*heads, *shortcuts) if text.strip()]
    assert f"{OPENING}Started{CLOSING}" in texts
    assert f"{OPENING}2 runs{CLOSING}" in page.locator("main").inner_text()


def test_without_a_catalogue_they_are_as_they_are_written(visit, page):
    visit("/sign-in")

    texts = page.evaluate("""async () => {
      const { gettext, ngettext, interpolate } = await import("/static/web/js/core/texts.js")
      return [
        gettext("Undo"),
        gettext("%(count)s of %(all)s, 5 %% less", { count: 1, all: "$&" }),
        ngettext("%(count)s run", "%(count)s runs", 1),
        ngettext("%(count)s run", "%(count)s runs", 2),
        interpolate("%(a)s %(a)s", { a: "%(b)s" }),
      ]
    }""")

    assert texts == ["Undo", "1 of $&, 5 % less", "1 run", "2 runs", "%(b)s %(b)s"]

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from web.templatetags.icons import icon

WEB = Path(__file__).parents[3] / "web"
SYMBOLS = {
    symbol.get("id")
    for symbol in ElementTree.parse(WEB / "static/web/icons.svg").getroot()
}


def test_an_icon_is_a_symbol_of_the_sprite_and_not_read_aloud():
    html = icon("search", "icon--small")

    assert 'class="icon icon--small" aria-hidden="true"' in html
    assert '/web/icons.svg#search"' in html


def test_every_icon_used_is_in_the_sprite():
    used = {
        name
        for template in (WEB / "templates").rglob("*.html")
        for name in re.findall(r'{% icon "([^"]+)"', template.read_text())
    }

    assert used
    assert used <= SYMBOLS


def test_the_sprite_holds_nothing_that_is_not_used():
    sources = [*(WEB / "static/web/js").rglob("*.js"), *WEB.rglob("*.py")]
    sources += (WEB / "templates").rglob("*.html")
    texts = "\n".join(path.read_text() for path in sources)

    assert {name for name in SYMBOLS if f'"{name}"' not in texts} == set()

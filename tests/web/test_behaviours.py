"""Every behavior that a template names is registered."""

from __future__ import annotations

import re
from pathlib import Path

WEB = Path(__file__).resolve().parents[2] / "web"
NAMED = re.compile(r"data-behaviour=[\"']([a-z -]+)")
REGISTERED = re.compile(r"^  \"([a-z-]+)\": \(\) => import", re.M)


def test_templates_name_only_behaviours_that_are_registered():
    registered = set(
        REGISTERED.findall((WEB / "static/web/js/behaviours.js").read_text())
    )
    templates = [path.read_text() for path in (WEB / "templates").rglob("*.html")]
    named = {
        name
        for text in templates
        for names in NAMED.findall(text)
        for name in names.split()
    }

    assert named - registered == set()

"""Only one module of the pages formats times, in the user's zone."""

from __future__ import annotations

import re
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "web/static/web/js"
FORMATS = re.compile(r"DateTimeFormat|toLocale(Time|Date)String|toLocaleString\(\)")


def test_no_script_formats_times_by_itself():
    found = [
        path.name
        for path in SCRIPTS.rglob("*.js")
        if path.name != "clock.js" and FORMATS.search(path.read_text())
    ]

    assert found == []

"""Logged figures as standalone HTML files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tracker.errors import InvalidInput
from web.pages.charts.standalone import figure_page

HOSTILE = "</script><script>alert(1)</script>"
# Any reference that would cause a network request.
FOREIGN = re.compile(r"""<(?:script|link|img|iframe)[^>]*(?:src|href)=""")


def page(figure, title="curves"):
    return figure_page(json.dumps(figure).encode(), title)


def test_a_figure_of_any_kind_is_one_file_that_needs_no_network():
    surface = {"type": "surface", "z": [[1, 2], [3, 4]]}

    text = page({"data": [surface], "layout": {"title": {"text": "loss"}}})

    assert '"type":"surface"' in text
    assert "plotly.js v" in text  # the library itself
    assert not FOREIGN.search(text)


def test_hostile_names_stay_text():
    figure = {"data": [{"type": "scatter", "y": [1], "name": HOSTILE}]}

    text = page(figure, title=f"<title>{HOSTILE}")

    assert "alert(1)</script>" not in text
    assert "<script>alert" not in text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "not valid"),
        (b"[]", "not valid"),
        (b'{"data": [{"type": "nonsense"}]}', "nonsense"),
        (b'{"data": [{"type": "scatter", "opacity": 7}]}', "opacity"),
    ],
)
def test_an_invalid_figure_is_refused_with_the_reason(content, reason):
    with pytest.raises(InvalidInput, match=reason):
        figure_page(content, "x")


def test_plotly_is_not_imported_with_the_pages():
    code = "import django; django.setup(); import web.urls, sys; print('plotly' in sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tracker.settings"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "False"

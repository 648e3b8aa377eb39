"""A logged figure as one HTML file that is interactive without a network."""

from __future__ import annotations

import json
from typing import Any

from django.utils.html import escape

from tracker.errors import InvalidInput
from web.pages.run_files.previews import without_links

LONGEST_REASON = 300
PAGE = """<!doctype html>
<html>
<head><meta charset="utf-8"><title>{title}</title></head>
<body>{figure}</body>
</html>
"""


def figure_page(content: bytes, title: str) -> str:
    """Return the page of a figure; raise InvalidInput if Plotly refuses the figure."""
    # They take a second to import, which no page should wait for.
    from plotly.graph_objects import Figure  # noqa: PLC0415
    from plotly.io import to_html  # noqa: PLC0415

    try:
        # Any: untrusted JSON.
        found: Any = without_links(json.loads(content, parse_constant=lambda _: None))
        figure = Figure(found["data"], found.get("layout"))
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        reason = " ".join(str(error).split())[:LONGEST_REASON]
        raise InvalidInput("figure", f"is not valid for Plotly: {reason}") from error
    html = to_html(figure, full_html=False, config={"displaylogo": False})
    return PAGE.format(title=escape(title), figure=html)

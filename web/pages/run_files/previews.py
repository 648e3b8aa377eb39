"""Previews of files, by name and first bytes (pure).

Text is always shown as plain text; files that are neither text nor images are only
offered for download.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext

from web.pages.run_files.notebooks import notebook_text

TEXT_BYTES = 64 * 1024
JSON_BYTES = 512 * 1024
FIGURE_BYTES = 16 * 1024 * 1024
# Maximum number of bytes that a preview reads, except for figures.
MAX_BYTES = JSON_BYTES
ROWS, COLUMNS, CELL_CHARACTERS = 200, 40, 200
PLOTLY = "application/vnd.plotly.v1+json"
DELIMITERS = {".csv": ",", ".tsv": "\t"}
# Trace types in the Plotly bundle of the pages.
TRACES = frozenset(
    {
        *("bar", "box", "contour", "heatmap", "histogram", "histogram2d"),
        *("histogram2dcontour", "image", "pie", "scatter", "scattergl"),
        *("scatterternary", "violin"),
    }
)
MAX_TRACES = 500
# The start of any tag except those that format text.
OTHER_TAG = re.compile(
    r"<(?!/?(?:b|i|u|s|em|strong|sub|sup|br|span|extra)(?![\w%{-]))", re.IGNORECASE
)
LOWEST_HEIGHT, GREATEST_HEIGHT = 160, 1_200


class Kind(StrEnum):
    PICTURE = "picture"
    FIGURE = "figure"
    TABLE = "table"
    TEXT = "text"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Preview:
    """`is_part`: the file has more content than shown."""

    kind: Kind
    text: str = ""
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    is_part: bool = False


NOTHING = Preview(Kind.NOTHING)


def is_figure(name: str, media_type: str) -> bool:
    return media_type == PLOTLY or name.lower().endswith(".plotly.json")


def preview(name: str, head: bytes, *, is_whole: bool) -> Preview:
    """Return the preview of a file that is neither a picture nor a figure."""
    text = as_text(head, is_whole=is_whole)
    if text is None:
        return NOTHING
    if not is_whole:
        text = _whole_lines(text)
    lowered = name.lower()
    for ending, delimiter in DELIMITERS.items():
        if lowered.endswith(ending):
            return _table(text, delimiter, is_whole=is_whole)
    if lowered.endswith(".ipynb") and is_whole and (cells := notebook_text(text)):
        return _shown(cells)
    if lowered.endswith((".json", ".ipynb")) and is_whole:
        return _json(text)
    return _shown(text, is_whole=is_whole)


def _whole_lines(text: str) -> str:
    """Drop the cut last line, unless it is most of the content."""
    end = text.rfind("\n") + 1
    return text[:end] if 2 * end >= len(text) else text


def as_text(head: bytes, *, is_whole: bool) -> str | None:
    """Return bytes as text; None if they are something else."""
    if b"\0" in head:
        return None
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The last character may have been cut in two.
        is_cut = not is_whole and error.start >= len(head) - 3
        return head[: error.start].decode("utf-8-sig") if is_cut else None


# Any: untrusted JSON.
def figure(content: bytes) -> tuple[dict[str, Any], str]:
    """Return the figure that Plotly may draw, and notes about it."""
    try:
        found = without_links(json.loads(content, parse_constant=lambda _: None))
    except (ValueError, RecursionError):
        return {}, gettext("The file is not valid JSON.")
    if not isinstance(found, dict) or not isinstance(found.get("data"), list):
        return {}, gettext("The file is not a Plotly figure.")
    traces = [trace for trace in found["data"] if isinstance(trace, dict)]
    foreign = {str(trace.get("type", "scatter"))[:40] for trace in traces} - TRACES
    if foreign:
        kinds = ", ".join(sorted(foreign))
        message = gettext(
            "Unsupported trace type: %(kinds)s. Log the figure as HTML instead."
        )
        return {}, message % {"kinds": kinds}
    given = found.get("layout")
    layout = dict(given) if isinstance(given, dict) else {}
    # As wide as the page allows.
    layout.pop("width", None)
    layout["height"] = _height(layout.get("height"))
    layout["autosize"] = True
    is_part = len(traces) > MAX_TRACES
    message = gettext("Showing the first %(count)s traces.")
    note = message % {"count": MAX_TRACES} if is_part else ""
    return {"data": traces[:MAX_TRACES], "layout": layout}, note


# Any: untrusted JSON.
def without_links(value: Any) -> Any:
    """Have Plotly show every tag that does not only shape a text, letter for letter.

    It would make a link of an `a`, also of one that a template puts together from parts.
    """
    if isinstance(value, str):
        return OTHER_TAG.sub("&lt;", value)
    if isinstance(value, list):
        return [without_links(each) for each in value]
    if isinstance(value, dict):
        return {key: without_links(each) for key, each in value.items()}
    return value


def _height(height: object) -> float:
    usable = isinstance(height, (int, float)) and math.isfinite(height)
    requested = float(height) if usable and isinstance(height, (int, float)) else 450.0
    return min(max(requested, LOWEST_HEIGHT), GREATEST_HEIGHT)


def _json(text: str) -> Preview:
    try:
        pretty = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        pretty = text
    return _shown(pretty)


def _shown(text: str, *, is_whole: bool = True) -> Preview:
    shown = text
    if len(text) > TEXT_BYTES:
        shown = _whole_lines(text[:TEXT_BYTES])
    # Half of a surrogate pair, which JSON can name, no page can show.
    printable = shown.encode("utf-8", "replace").decode()
    is_part = not is_whole or len(shown) < len(text)
    return Preview(Kind.TEXT, printable, is_part=is_part)


def _table(text: str, delimiter: str, *, is_whole: bool) -> Preview:
    rows: list[tuple[str, ...]] = []
    is_part = not is_whole
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if len(rows) > ROWS:
                is_part = True
                break
            is_part |= len(row) > COLUMNS
            rows.append(tuple(cell[:CELL_CHARACTERS] for cell in row[:COLUMNS]))
    except csv.Error:
        return Preview(Kind.TEXT, text[:TEXT_BYTES], is_part=True)
    if not rows:
        return Preview(Kind.TEXT, text[:TEXT_BYTES])
    return Preview(Kind.TABLE, header=rows[0], rows=tuple(rows[1:]), is_part=is_part)

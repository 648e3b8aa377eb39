"""Charts of several runs over each other: on their own page, and beside the runs."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tracker.queries.comparison import overlaid_paths
from web.chart_sections import chart_sections
from web.compare_state import SMOOTHINGS, CompareState
from web.views.compare_divisions import divisions_context
from web.views.compare_frame import Comparison

# Beyond this many charts on a page nobody reads them all; the filter finds the rest.
CHARTS_AT_MOST = 200
# What a form above the charts asks for by itself.
FIELDS = ("text", "smoothing", "log", "together", "colour", "dash", "chart")


def listed_charts(comparison: Comparison) -> dict[str, Any]:
    """Return a chart for each series of the runs that are shown, and what all ask for.

    What they share stands once, so that a page can change it for all of them.
    """
    state = comparison.state
    run_ids = [run.id for run in comparison.runs]
    text = state.text.casefold()
    paths = [path for path in overlaid_paths(run_ids) if text in path.casefold()]
    divided = divisions_context(comparison, most_charts=CHARTS_AT_MOST)
    most = divided["charts_at_most"]
    return divided | {
        "sections": chart_sections(paths[:most], opens_all=bool(state.text)),
        "chart_count": len(paths),
        "chart_query": _shared_query(state.of_only(run_ids)),
        "is_live": comparison.is_live,
    }


def chart_choices(state: CompareState) -> dict[str, Any]:
    """Return what the form above the charts offers."""
    return {
        "state": state,
        "smoothings": [
            (f"{weight:g}", weight == state.smoothing) for weight in SMOOTHINGS
        ],
    }


def _shared_query(state: CompareState) -> str:
    asked = {
        "runs": ",".join(map(str, state.runs)),
        "colours": ".".join(map(str, state.slots)),
        "axis": state.axis,
        "smoothing": f"{state.smoothing:g}" if state.smoothing else "",
        "log": "1" if state.log else "",
        "low": "" if state.low is None else repr(state.low),
        "high": "" if state.high is None else repr(state.high),
        "together": state.together,
        "colour": state.colour,
        "dash": state.dash,
        "chart": state.chart,
    }
    return urlencode({name: value for name, value in asked.items() if value}, safe=",")

"""Charts of several runs in one figure: on their own page and next to the runs table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext

from tracker.queries.compare.comparison import overlaid_series
from web.figures.smoothing import EMA
from web.pages.charts.arrangements import arrangement_context, arrangement_for
from web.pages.charts.cards import (
    CardSection,
    card_sections,
    first_of,
    is_indexed,
)
from web.pages.charts.figure_bundles import MAX_LINES_AT_ONCE
from web.pages.charts.sections import epoch_path, sharing_of
from web.pages.compare.divisions import divisions_context
from web.pages.compare.frame import Comparison
from web.pages.compare.state import AXES, CompareState
from web.pages.runs.path_search import find_paths

# Limits of the preload header: the charts in a window, and proxies' header size.
FIRST_CHARTS, FIRST_LETTERS = 12, 7_000
# Fields that the form above the charts submits itself.
FIELDS = (
    *("text", "regex", "over", "smoothing", "smoother", "log", "logx", "clip", "bare"),
    *("together", "colour", "dash", "chart"),
)


def listed_charts(comparison: Comparison) -> dict[str, Any]:
    """Return a chart for each series of the shown runs, and their common query.

    The common query is in one place, so that the page can change it for all charts.
    """
    state = comparison.state
    run_ids = [run.id for run in comparison.runs]
    every = overlaid_series(run_ids)
    found = find_paths(every, state.text, is_regex=state.regex)
    divided = divisions_context(comparison)
    arrangement = arrangement_for(comparison.actor, comparison.project, state.layout)
    sections = card_sections(
        found.paths,
        arrangement,
        opens_all=bool(state.text),
        parts=divided["parts"],
        sharing=sharing_of(every, len(run_ids)),
    )
    kept = arrangement_context(comparison.actor, comparison.project, arrangement)
    return (
        divided
        | kept
        | {
            "sections": sections,
            "is_indexed": is_indexed(sections),
            "chart_count": len(found.paths),
            "unnamed_count": sum(section.unnamed_count for section in sections),
            "mistake": found.mistake,
            "epoch": epoch_path(every),
            "chart_query": _shared_query(state.of_only(run_ids)),
            "marks_query": _marks_query(state.of_only(run_ids)),
            "is_live": comparison.is_live,
        }
    )


def first_figures(comparison: Comparison, sections: Sequence[CardSection]) -> str:
    """Return the address of the first charts, in one request; "" if there are none.

    Browsers preload it before the scripts run.
    """
    shared = _shared_query(
        comparison.state.of_only([run.id for run in comparison.runs])
    )
    first = first_of(
        sections,
        charts=FIRST_CHARTS,
        lines=MAX_LINES_AT_ONCE,
        letters=FIRST_LETTERS - len(shared),
        runs=len(comparison.runs),
    )
    if not first:
        return ""
    project = comparison.project
    address = reverse("compare-figures", args=[project.workspace.slug, project.slug])
    figures = urlencode({"figure": [card.batch_query for card in first]}, doseq=True)
    return f"{address}?{shared}&{figures}"


def axis_choices(state: CompareState, epoch: str) -> list[tuple[str, bool, str]]:
    """Return the axes as links; one of epochs where a series counts them."""
    # The same numbers mean another range on another axis.
    whole = replace(state, low=None, high=None)
    choices = [
        (
            str(label),
            not state.over and name == state.axis,
            whole.having(axis=name, over=""),
        )
        for name, label in AXES.items()
    ]
    if epoch:
        by_epoch = whole.having(axis="step", over=epoch)
        choices.append((gettext("Epoch"), state.over == epoch, by_epoch))
    return choices


def _marks_query(state: CompareState) -> str:
    """Return the address of annotations; "" if the chart has none."""
    if state.bare or state.over or not state.runs:
        return ""
    return CompareState(runs=state.runs, slots=state.slots).address


def _shared_query(state: CompareState) -> str:
    asked = {
        "runs": ",".join(map(str, state.runs)),
        "colours": ".".join(map(str, state.slots)),
        "axis": state.axis,
        "over": state.over,
        "smoothing": f"{state.smoothing:g}" if state.smoothing else "",
        "smoother": "" if state.smoother == EMA else state.smoother,
        "log": "1" if state.log else "",
        "logx": "1" if state.logx else "",
        "clip": "1" if state.clip else "",
        "low": "" if state.low is None else repr(state.low),
        "high": "" if state.high is None else repr(state.high),
        "together": state.together,
        "colour": state.colour,
        "dash": state.dash,
        "chart": state.chart,
    }
    return urlencode({name: value for name, value in asked.items() if value}, safe=",")

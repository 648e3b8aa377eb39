"""A first dashboard, built from the metrics of a project's newest runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracker.boards.board import COLUMNS, Board, Place, Widget, new_id
from tracker.boards.grid import with_widget
from tracker.queries.ladders.ladders import ladder_summaries
from tracker.queries.runs.newest_runs import (
    changed_params,
    metric_paths,
    series_among,
)
from tracker.queries.series.metrics import quality_rank
from web.texts import gettext_lazy
from web.widgets import KINDS

MAX_CHARTS = 4
MAX_VALUES = 3
# Metrics for which lower is better.
LOWER_IS_BETTER = ("loss", "error", "perplexity", "seconds", "latency")
WELCOME = gettext_lazy("""\
### What this shows

This dashboard shows **the ten newest runs**. Choose other runs at the top of the page,
or in the settings of a widget.
""")


def example_board(project: Any) -> Board:
    """Return values and charts of the most frequent metrics, a table, a time breakdown."""
    metrics = metric_paths(project.id)
    series = series_among(project.id, metrics)
    columns = [*metrics[:4], *changed_params(project.id)[:4]]
    widgets: list[Widget] = []
    values = metrics[:MAX_VALUES]
    for path in values:
        settings = {"metric": path, "over": better(path)}
        widgets = _with(widgets, "value", settings)
    room = COLUMNS - KINDS["value"].width * len(values)
    widgets = _with(widgets, "text", {"text": str(WELCOME)}, width=room, height=2)
    for path in series[:MAX_CHARTS]:
        widgets = _with(widgets, "chart", {"metrics": [path]})
    widgets = _with(widgets, "table", {"columns": columns, "times": True})
    widgets = _with(widgets, "ledger", {})
    ladders = ladder_summaries(project.id)
    if ladders:
        widgets = _with(widgets, "ladder", {"ladder": str(ladders[0].id)})
    return Board(widgets=tuple(widgets))


def better(path: str) -> str:
    """Guess whether the highest or the lowest of a metric is the best."""
    is_quality = quality_rank(path) is not None
    lower = any(word in path.lower() for word in LOWER_IS_BETTER)
    return "lowest" if lower or not is_quality else "highest"


def _with(
    widgets: Sequence[Widget],
    kind: str,
    settings: dict[str, Any],
    *,
    width: int | None = None,
    height: int | None = None,
) -> list[Widget]:
    return list(with_widget(widgets, new_widget(kind, settings, width, height)))


def new_widget(
    kind: str,
    settings: dict[str, Any],
    width: int | None = None,
    height: int | None = None,
) -> Widget:
    """Return a widget of this kind, as large as such widgets usually are."""
    known = KINDS[kind]
    place = Place(width=width or known.width, height=height or known.height)
    return Widget(id=new_id(), kind=kind, place=place, settings=settings)

"""A run's charts: one of each series, in sections by namespace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import orjson
from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from tracker.access.projects import may_own
from tracker.access.runs import readable_run
from tracker.queries.run.attributes import series_count, series_paths
from tracker.queries.run.run import is_live, silent_for
from tracker.queries.series.histograms import histogram_paths
from web.numbers import whole_number
from web.pages.charts.arrangements import arrangement_context, arrangement_for
from web.pages.charts.cards import Card, card_sections, first_of, is_indexed
from web.pages.charts.chart_options import ChartOptions, read_options
from web.pages.charts.panels import panels_context
from web.pages.charts.sections import epoch_path
from web.pages.compare.state import SMOOTHERS
from web.pages.run.frame import run_frame
from web.pages.runs.path_search import Found, find_paths
from web.polling import poll_answer
from web.session import PageRequest, signed_in
from web.texts import gettext_lazy

# Paths in the answer of a search.
MAX_FOUND = 10_000
AXES = (
    ("step", gettext_lazy("Step")),
    ("relative", gettext_lazy("Relative time")),
    ("time", gettext_lazy("Time")),
)
# The charts of a usual window and their lines; fewer if the address gets too long.
FIRST_CHARTS, FIRST_LINES, FIRST_LETTERS = 12, 60, 6_000


@require_safe
@signed_in
def charts(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    histograms = histogram_paths(run)
    if request.htmx:
        return _news(request, run, series_count(run) + len(histograms))

    paths = sorted([*series_paths(run), *histograms])
    search, is_regex = _asked(request)
    found = find_paths(paths, search, is_regex=is_regex)
    layout = request.GET.get("layout", "")
    arrangement = arrangement_for(request.actor, run.project, layout)
    frame = run_frame(request, run, "charts")
    options = read_options(request.GET)
    sections = card_sections(
        paths,
        arrangement,
        maps=frozenset(histograms),
        matching=found.paths if search else None,
        opens_all=bool(search),
    )
    first = first_of(
        sections, charts=FIRST_CHARTS, lines=FIRST_LINES, letters=FIRST_LETTERS
    )
    context = {
        **frame,
        "sections": sections,
        "is_indexed": is_indexed(sections),
        "first_figures": _first_figures(run.id, options, first),
        "hidden": sum(section.unnamed_count for section in sections),
        "count": len(paths),
        "matching": len(found.paths),
        "search": search,
        "is_regex": is_regex,
        "mistake": found.mistake,
        "options": options,
        "axes": AXES,
        "smoothers": SMOOTHERS.items(),
        "epoch": epoch_path(paths),
        "has_histograms": bool(histograms),
        "maps_json": orjson.dumps(histograms).decode(),
        **arrangement_context(request.actor, run.project, arrangement),
        **panels_context(request, run.project, arrangement.panels, f"runs={run.id}"),
        "is_silent": silent_for(run) is not None,
        "may_own": may_own(request.actor, run.project),
    }
    return render(request, "run/charts.html", context)


@require_safe
@signed_in
def search_charts(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Answer which of the page's charts match, and how many there are in all."""
    run = readable_run(request.actor, run_id)
    text, is_regex = _asked(request)
    paths = sorted([*series_paths(run), *histogram_paths(run)])
    found: Found = find_paths(paths, text, is_regex=is_regex)
    answer = {
        "paths": found.paths[:MAX_FOUND],
        "count": len(found.paths),
        "mistake": found.mistake,
    }
    return HttpResponse(orjson.dumps(answer), content_type="application/json")


def _first_figures(run_id: UUID, options: ChartOptions, cards: Sequence[Card]) -> str:
    """Return the address of the first figures, which browsers preload."""
    if not cards:
        return ""
    address = reverse("run-charts-figures", args=[run_id])
    charts = urlencode({"chart": [card.batch_query for card in cards]}, doseq=True)
    return f"{address}?{'&'.join(filter(None, [options.query, charts]))}"


def _asked(request: PageRequest) -> tuple[str, bool]:
    return request.GET.get("search", ""), request.GET.get("regex") == "1"


# Any: a row of the runs table, which pages do not import.
def _news(request: PageRequest, run: Any, count: int) -> HttpResponse:
    """Return the number of series, and whether more data may arrive, to a live page."""
    known = request.GET.get("known", "")
    new = count - whole_number(known, "known") if known else 0
    context = {
        "run": run,
        "new": new,
        "is_live": is_live(run),
        "is_silent": silent_for(run) is not None,
        "address": reverse("run-charts", args=[run.id]),
    }
    text = render_to_string("run/charts_news.html", context, request)
    return poll_answer(request, text)

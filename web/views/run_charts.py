"""A run's charts: one of each series, in sections by namespace."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tracker.access import readable_run
from tracker.queries.attributes import series_count, series_paths
from tracker.queries.histograms import histogram_paths
from web.chart_sections import chart_sections
from web.session import PageRequest, signed_in
from web.views.chart_options import read_options
from web.views.run_frame import run_frame

# More than a page can hold; the search finds the others.
MOST_CHARTS = 1_000
AXES = (("step", "Step"), ("time", "Time"), ("relative", "Relative"))


@require_safe
@signed_in
def charts(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    histograms = histogram_paths(run)
    if request.htmx:
        return _new_charts(request, series_count(run) + len(histograms))

    paths = sorted([*series_paths(run), *histograms])
    search = request.GET.get("search", "")
    matching = [path for path in paths if search.casefold() in path.casefold()]
    options = read_options(request.GET)
    context = {
        **run_frame(request, run_id, "charts"),
        # Without JavaScript the search happens here; with it, on the page.
        "sections": chart_sections(
            matching[:MOST_CHARTS], histograms, opens_all=bool(search)
        ),
        "hidden": max(0, len(matching) - MOST_CHARTS),
        "count": len(paths),
        "matching": len(matching),
        "search": search,
        "options": options,
        "axes": AXES,
    }
    return render(request, "run/charts.html", context)


def _new_charts(request: PageRequest, count: int) -> HttpResponse:
    """Tell a live page how many series began since it was opened."""
    known = request.GET.get("known", "")
    new = count - int(known) if known.isascii() and known.isdigit() else 0
    return render(request, "run/new_charts.html", {"new": new})

"""The charts next to a project's list of runs, for the runs with an open eye."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tracker.access.projects import may_edit
from tracker.queries.runs.filter.filters import Found
from web.pages.charts.compared_charts import listed_charts
from web.pages.charts.panels import panels_context
from web.pages.compare.frame import Comparison, read_comparison
from web.pages.runs.table_state import read_table
from web.session import PageRequest, signed_in


@require_safe
@signed_in
def runs_charts(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Return the charts of the requested runs in the table."""
    comparison = _of_the_table(request, read_comparison(request, workspace, project))
    context = {
        "project": comparison.project,
        "state": comparison.state,
        "runs": comparison.shown,
        "is_beside": True,
        "may_edit": may_edit(request.actor, comparison.project),
        **listed_charts(comparison),
    }
    context |= panels_context(
        request,
        comparison.project,
        context["arrangement"].panels,
        context["chart_query"],
    )
    return render(request, "compare/_beside.html", context)


def _of_the_table(request: PageRequest, asked: Comparison) -> Comparison:
    """Leave out the runs that the table's filter does not let through."""
    table = read_table(request.GET)
    ids = [run.id for run in asked.runs]
    listed = Found(asked.project.id, table.wanted).among(ids) | set(table.top)
    return replace(
        asked, everyone=[each for each in asked.shown if each.run.id in listed]
    )

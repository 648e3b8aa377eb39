"""The user's chart arrangement of a project, for one run and for several."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from tracker.access.projects import readable_project
from tracker.actions.chart_arrangements import keep_arrangement
from tracker.actor import Actor
from tracker.queries.series.chart_arrangements import arrangement_of
from web.pages.charts.arrangement import SIZES, Arrangement, arranged, read_arrangement
from web.session import PageRequest, signed_in


@require_POST
@signed_in
def arrange_charts(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Save this user's chart arrangement for the project."""
    found = readable_project(request.actor, workspace, project)
    arrangement = read_arrangement(request.POST.get("layout", ""))
    keep_arrangement(found, request.actor, arrangement.body)
    return HttpResponse(status=204)


# Any: a row of the projects table, which pages do not import.
def arrangement_for(actor: Actor, project: Any, layout: str) -> Arrangement:
    """Read the arrangement from the address, or else the user's saved one."""
    if layout:
        return read_arrangement(layout)
    try:
        return arranged(arrangement_of(project, actor))
    except (ValueError, TypeError):
        # An older version stored it differently: use the default.
        return Arrangement()


# Any: see above, and a template's context.
def arrangement_context(
    actor: Actor, project: Any, arrangement: Arrangement
) -> dict[str, Any]:
    """Return the chart arrangement for the template, and the address to save it.

    Visitors by share link keep theirs in the page's address only.
    """
    names = [project.workspace.slug, project.slug]
    is_kept = actor.grant is None
    return {
        "arrangement": arrangement,
        "arrangement_json": orjson.dumps(arrangement.body).decode(),
        "layout_url": reverse("charts-arrangement", args=names) if is_kept else "",
        "sizes": SIZES,
    }

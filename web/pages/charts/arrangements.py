"""The user's chart arrangement of a project, for one run and for several."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from tracker.access.objects import readable_project
from tracker.actions.chart_arrangements import keep_arrangement
from tracker.actor import Actor
from tracker.queries.series.chart_arrangements import arrangement_of
from web.pages.charts.arrangement import SIZES, Arrangement, arranged, read_arrangement
from web.session import PageRequest, signed_in


@require_POST
@signed_in
def arrange_charts(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Keep how this person wants the charts of this project's runs."""
    found = readable_project(request.actor, workspace, project)
    arrangement = read_arrangement(request.POST.get("layout", ""))
    keep_arrangement(found, request.actor, arrangement.body)
    return HttpResponse(status=204)


# Any: a row of the projects table, which pages do not import.
def arrangement_for(actor: Actor, project: Any, layout: str) -> Arrangement:
    """Read what an address says; what it does not say is as this person left it."""
    if layout:
        return read_arrangement(layout)
    try:
        return arranged(arrangement_of(project, actor))
    except (ValueError, TypeError):
        # An earlier version wrote it otherwise; nobody is locked out for that.
        return Arrangement()


# Any: likewise, and what templates are given.
def arrangement_context(
    actor: Actor, project: Any, arrangement: Arrangement
) -> dict[str, Any]:
    """Return what a page of charts says of their arrangement, and where it is kept.

    Strangers have nobody to keep it for: theirs is in the address alone.
    """
    names = [project.workspace.slug, project.slug]
    is_kept = actor.grant is None
    return {
        "arrangement": arrangement,
        "arrangement_json": orjson.dumps(arrangement.body).decode(),
        "layout_url": reverse("charts-arrangement", args=names) if is_kept else "",
        "sizes": SIZES,
    }

"""Run names in forms; runs of other projects are prefixed with the project's slug."""

from __future__ import annotations

import orjson
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from tracker.access.projects import projects_beside, readable_project
from tracker.queries.compare.comparison import find_runs, find_runs_beside
from web.pages.runs.run_set_form import name_beside
from web.session import PageRequest, signed_in

OFFERED = 15


@require_safe
@signed_in
def run_names(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Return names that contain the typed text, those of the project first."""
    found = readable_project(request.actor, workspace, project)
    text = request.GET.get("q", "").strip()
    own = find_runs(found.id, text, without=[], limit=OFFERED)
    others = projects_beside(request.actor, found)
    words = text.replace("/", " ")
    beside = find_runs_beside(others, words, without=[], limit=OFFERED)
    rows = [{"name": name_beside(found, run)} for run in (*own, *beside)]
    return HttpResponse(orjson.dumps({"rows": rows}), content_type="application/json")

"""Where a project's GPU hours go: by use, by member, and the runs that waste most."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_safe

from tracker.access.objects import readable_project
from tracker.queries.diagnoses.time_breakdowns import project_ledger
from tracker.queries.hardware.runs_without_gpus import runs_without_gpus
from web.session import PageRequest, signed_in

DAYS = (7, 30, 90, 365)
USUAL_DAYS = 30
EVER = "all"


@require_safe
@signed_in
def gpu_hours(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = readable_project(request.actor, workspace, project)
    days = _days(request.GET)
    since = None if days is None else timezone.now() - timedelta(days=days)
    hours = project_ledger(found, since=since)
    context = {
        "project": found,
        "tab": "gpu-hours",
        "hours": hours,
        "without": None if hours.total else runs_without_gpus(found, since=since),
        "period": gettext("so far") if days is None else in_the_last(days),
        "days": days,
        "choices": DAYS,
    }
    return render(request, "projects/gpu_hours.html", context)


def in_the_last(days: int) -> str:
    said = ngettext("in the last %(count)s day", "in the last %(count)s days", days)
    return said % {"count": days}


def _days(query: QueryDict) -> int | None:
    """Return over how many days to add up; None: over all there are."""
    asked = query.get("days", "")
    if asked == EVER:
        return None
    known = {str(days): days for days in DAYS}
    return known.get(asked, USUAL_DAYS)

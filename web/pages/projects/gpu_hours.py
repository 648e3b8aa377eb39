"""GPU hours of a project: by category, period and group, and the most wasteful runs."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.views.decorators.http import require_safe

from tracker.access.projects import readable_project
from tracker.queries.hardware.gpu_hours import (
    Group,
    hours_by,
    most_wasted,
    total_hours,
    trend_of,
)
from tracker.queries.hardware.runs_without_gpus import runs_without_gpus
from web.pages.projects.trend_columns import trend_chart
from web.session import PageRequest, signed_in
from web.templatetags.ledger import gpu_unit

DAYS = (7, 30, 90, 365)
USUAL_DAYS = 30
EVER = "all"
GROUPS = {
    Group.MEMBER: gettext_lazy("Member"),
    Group.MACHINE: gettext_lazy("Machine"),
    Group.GPU: gettext_lazy("GPU type"),
}


@require_safe
@signed_in
def gpu_hours(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = readable_project(request.actor, workspace, project)
    days = _days(request.GET)
    now = timezone.now()
    since = None if days is None else now - timedelta(days=days)
    total = total_hours(found, since=since)
    group = _group(request.GET)
    context = {
        "project": found,
        "tab": "gpu-hours",
        "total": total,
        "period": gettext("so far") if days is None else in_the_last(days),
        "days": days,
        "choices": DAYS,
        "group": group,
        "group_label": GROUPS[group],
        "groups": GROUPS,
    }
    context["without"] = runs_without_gpus(found, since=since)
    if total is not None:
        trend = trend_of(found, since=since, now=now)
        context["trend"] = trend_chart(trend, unit=gpu_unit(total.seconds))
        context["rows"] = hours_by(found, group, since=since)
        context["wasteful"] = most_wasted(found, since=since)
    return render(request, "projects/gpu_hours.html", context)


def in_the_last(days: int) -> str:
    text = ngettext("in the last %(count)s day", "in the last %(count)s days", days)
    return text % {"count": days}


def _days(query: QueryDict) -> int | None:
    """Return the number of days to add up; None: all time."""
    given = query.get("days", "")
    if given == EVER:
        return None
    known = {str(days): days for days in DAYS}
    return known.get(given, USUAL_DAYS)


def _group(query: QueryDict) -> Group:
    given = query.get("by", "")
    return Group(given) if given in set(Group) else Group.MEMBER

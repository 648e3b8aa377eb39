"""The home page: running runs, alerts and projects."""

from __future__ import annotations

from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from tracker.access.projects import own_membership
from tracker.actions.people.keys import KeyRequest, create_key
from tracker.actor import Scope
from tracker.queries.hardware.gpu_hours import hours_of_projects
from tracker.queries.hardware.runs_without_gpus import all_runs_without_gpus
from tracker.queries.projects.home import home_news, live_runs, open_alerts, recent_runs
from tracker.queries.projects.members import memberships
from tracker.queries.projects.projects import has_projects, project_summaries
from web.pages.home.first_run import KEY_DAYS, first_run_context
from web.pages.projects.gpu_hours import in_the_last
from web.polling import poll_answer, poll_unless, wait_answer
from web.request_actor import audit_context
from web.run_names import RunNames
from web.session import PageRequest, signed_in

WEEK_DAYS = 7
# From here on a list is searched rather than read.
SEARCHED_FROM = 12
MAKERS = ("owner", "admin", "member")
FIRST_KEY = "first run"


@require_safe
@signed_in
def projects_page(request: PageRequest) -> HttpResponse:
    """Show the page; for htmx, only the parts that change while runs are running."""
    now = timezone.now()
    part = request.GET.get("part", "") if request.htmx else None
    if part == "start":
        return _arrival(request)
    if part == "columns":
        if not has_projects(request.actor):
            # The last project was deleted: load the start page.
            return wait_answer(is_there=True)
        return poll_unless(
            request,
            home_news(request.actor, now=now),
            lambda: render_to_string(
                "projects/_columns.html", _columns(request, now), request
            ),
        )
    live = {"live": live_runs(request.actor, now=now)}
    if part is not None:
        return poll_answer(
            request, render_to_string("projects/_live.html", live, request)
        )
    columns = _columns(request, now)
    if not columns["projects"] and not columns.get("archived"):
        return _start(request)
    return render(request, "projects/projects.html", {**columns, **live})


# Any: a template's context.
def _columns(request: PageRequest, now: datetime) -> dict[str, Any]:
    projects = project_summaries(request.actor)
    if not projects:
        return {"projects": []}
    since = now - timedelta(days=WEEK_DAYS)
    ledgers = hours_of_projects(request.actor, since=since)
    recent = recent_runs(request.actor)
    return {
        "projects": [each for each in projects if not each.is_archived],
        "archived": [each for each in projects if each.is_archived],
        "makes_in": [
            each for each in memberships(request.actor) if each.role in MAKERS
        ],
        "shows_workspaces": len({project.workspace_slug for project in projects}) > 1,
        "is_searched": len(projects) >= SEARCHED_FROM,
        "recent": recent,
        "recent_names": RunNames(run.name for run in recent),
        # Runs that log only metrics have none: a column of "not enough data" is noise.
        "has_outcomes": any(
            run.main_finding or run.has_error or (run.verdict and run.verdict.is_judged)
            for run in recent
        ),
        "alerts": open_alerts(request.actor, now=now),
        "ledgers": ledgers,
        "without": None
        if ledgers
        else all_runs_without_gpus(request.actor, since=since),
        "period": in_the_last(WEEK_DAYS),
        "week_days": WEEK_DAYS,
    }


def _arrival(request: PageRequest) -> HttpResponse:
    """Answer whether the first run has arrived."""
    is_there = has_projects(request.actor)
    if request.GET.get("keeps") != "page":
        return wait_answer(is_there=is_there)
    # A token that is shown once stands there; only its reader may put it away.
    if not is_there:
        return wait_answer(is_there=False)
    return poll_answer(request, render_to_string("projects/_arrived.html", {}, request))


@require_POST
@signed_in
def first_key(request: PageRequest) -> HttpResponse:
    """Make a key for logging, and show it once within the lines to copy."""
    member = own_membership(request.actor, request.POST.get("workspace", ""))
    expires_at = timezone.now() + timedelta(days=KEY_DAYS)
    fields = KeyRequest(FIRST_KEY, Scope.LOG, expires_at)
    secret = create_key(member, fields, audit_context(request)).secret
    project = request.POST.get("project", "")
    return _start(request, secret=secret, project=project)


def _start(
    request: PageRequest, *, secret: str = "", project: str = ""
) -> HttpResponse:
    context = first_run_context(request.actor, project=project, secret=secret)
    status = HTTPStatus.CREATED if secret else HTTPStatus.OK
    return render(request, "projects/start.html", context, status=status)

"""The first page: what runs, what needs somebody, and the projects."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from tracker.access import own_membership
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.queries.home import live_runs, open_alerts, recent_runs
from tracker.queries.ledgers import ledgers_of_projects
from tracker.queries.members import memberships
from tracker.queries.projects import project_summaries
from tracker.queries.runs_without_gpus import all_runs_without_gpus
from web.session import PageRequest, signed_in
from web.snippets import first_run, start_elsewhere
from web.views.gpu_hours import in_the_last

WEEK_DAYS = 7
# From here on a list is searched rather than read.
SEARCHED_FROM = 12
VIEWER = "viewer"
FIRST_TOKEN = "first run"
FIRST_TOKEN_DAYS = 365


@require_safe
@signed_in
def projects_page(request: PageRequest) -> HttpResponse:
    """Show everything; asked by htmx, only what changes while runs run."""
    now = timezone.now()
    if request.htmx:
        live = live_runs(request.actor, now=now)
        return render(request, "projects/_live.html", {"live": live})

    projects = project_summaries(request.actor)
    if not projects:
        return _start(request)
    since = now - timedelta(days=WEEK_DAYS)
    ledgers = ledgers_of_projects(request.actor, since=since)
    context = {
        "projects": projects,
        "shows_workspaces": len({project.workspace_slug for project in projects}) > 1,
        "is_searched": len(projects) >= SEARCHED_FROM,
        "live": live_runs(request.actor, now=now),
        "recent": recent_runs(request.actor),
        "alerts": open_alerts(request.actor, now=now),
        "ledgers": ledgers,
        "without": None
        if ledgers
        else all_runs_without_gpus(request.actor, since=since),
        "period": in_the_last(WEEK_DAYS),
        "week_days": WEEK_DAYS,
    }
    return render(request, "projects/projects.html", context)


@require_POST
@signed_in
def first_token(request: PageRequest) -> HttpResponse:
    """Make a token for logging, and show it once within what is to be copied."""
    member = own_membership(request.actor, request.POST.get("workspace", ""))
    expires_at = timezone.now() + timedelta(days=FIRST_TOKEN_DAYS)
    secret = make_token(member, FIRST_TOKEN, Scope.INGEST, expires_at)
    project = request.POST.get("project", "")
    return _start(request, secret=secret, project=project)


def _start(
    request: PageRequest, *, secret: str = "", project: str = ""
) -> HttpResponse:
    """Say how the first run is logged, with this server's address filled in."""
    slug = project or "my-project"
    context = {
        "snippet": first_run(slug),
        "elsewhere": start_elsewhere(settings.PUBLIC_URL, secret),
        "memberships": [
            each for each in memberships(request.actor) if each.role != VIEWER
        ],
        "secret": secret,
        "first_project": slug,
        "token_days": FIRST_TOKEN_DAYS,
    }
    status = HTTPStatus.CREATED if secret else HTTPStatus.OK
    return render(request, "projects/start.html", context, status=status)

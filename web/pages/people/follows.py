"""Following a run or a project."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from tracker.access.projects import may_comment, readable_project
from tracker.access.runs import readable_run
from tracker.actions.people.follows import follow_project, follow_run
from tracker.errors import NotAllowed
from web.session import PageRequest, local_path, signed_in
from web.toasts import tell


@require_POST
@signed_in
def change_run(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Follow a run, or unfollow it."""
    run = readable_run(request.actor, run_id)
    is_on = _is_on(request)
    follow_run(run, user_id=request.actor.user_id, is_on=is_on)
    _confirm(request, is_on=is_on)
    address = request.POST.get("next") or reverse("run", args=[run_id])
    return HttpResponseRedirect(local_path(request, address))


@require_POST
@signed_in
def change_project(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Follow all runs of a project, or unfollow them."""
    found = readable_project(request.actor, workspace, project)
    is_on = _is_on(request)
    follow_project(found, user_id=request.actor.user_id, is_on=is_on)
    _confirm(request, is_on=is_on)
    return HttpResponseRedirect(reverse("alerts", args=[workspace, project]))


def _is_on(request: PageRequest) -> bool:
    if not may_comment(request.actor):
        raise NotAllowed("follow runs")
    return request.POST.get("follow") == "1"


def _confirm(request: PageRequest, *, is_on: bool) -> None:
    message = gettext("Following.") if is_on else gettext("Unfollowed.")
    tell(request, message)

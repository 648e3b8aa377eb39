"""The address that a training script prints: it exists before the run does."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from tracker.access.runs import readable_run_of_spool
from tracker.errors import NotFound
from web.session import PageRequest, signed_in

_RELOAD_SECONDS = 3


@require_safe
@signed_in
def redirect_to_run(request: PageRequest, spool_id: UUID) -> HttpResponse:
    """Redirect to the page of the run, or wait for its first data."""
    try:
        run = readable_run_of_spool(request.actor, spool_id)
    except NotFound:
        page = render(request, "run/awaited.html", status=HTTPStatus.NOT_FOUND)
        page["Refresh"] = str(_RELOAD_SECONDS)
        return page
    return redirect("run", run.id)

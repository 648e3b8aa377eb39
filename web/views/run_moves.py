"""Moves a run to another project."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from tracker.access import editable_run, moving_target, targets_of_moves
from tracker.actions.moves import move_run
from tracker.errors import InvalidInput
from web.doer import doer_of
from web.session import PageRequest, signed_in
from web.toasts import quoted, tell


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def move(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = editable_run(request.actor, run_id)
    if request.method != "POST":
        return _page(request, run)
    target = moving_target(request.actor, run.project, request.POST.get("project", ""))
    renames = request.POST.get("clash") == "rename"
    try:
        move_run(run, target, doer_of(request), renames=renames)
    except InvalidInput as error:
        return _page(request, run, error=error)
    text = gettext("Run moved to %(project)s.")
    tell(request, text % {"project": quoted(target.name)})
    return redirect("run", run_id)


# Any: a row of the runs table, which pages do not import.
def _page(
    request: PageRequest, run: Any, *, error: InvalidInput | None = None
) -> HttpResponse:
    context = {
        "run": run,
        "project": run.project,
        "tab": "runs",
        "targets": targets_of_moves(request.actor, run.project),
        "typed": request.POST,
        "error": error,
    }
    status = 400 if error else 200
    return render(request, "run/move.html", context, status=status)

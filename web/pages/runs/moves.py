"""Moves a run, or the ticked runs of a table, to another project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from tracker.access.projects import editable_project, moving_target, targets_of_moves
from tracker.access.runs import editable_run, runs_of
from tracker.actions.runs.moves import MAX_RUNS, move_run, move_runs
from tracker.errors import InvalidInput
from tracker.queries.runs.requested import read_runs
from tracker.queries.runs.table import runs_in_order
from web.pages.runs.bulk_changes import named_runs
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.templatetags.format import number
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
        move_run(run, target, audit_context(request), renames=renames)
    except InvalidInput as error:
        return _page(request, run, error=error)
    text = gettext("Run moved to %(project)s.")
    tell(request, text % {"project": quoted(target.name)})
    return redirect("run", run_id)


@require_POST
@signed_in
def move_many(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Show the runs and the possible projects; with a project, move them."""
    found = editable_project(request.actor, workspace, project, to="change runs")
    runs = _ticked(request, found)
    if "project" not in request.POST:
        return _many_page(request, found, runs)
    target = moving_target(request.actor, found, request.POST["project"])
    renames = request.POST.get("clash") == "rename"
    ids = [run.id for run in runs]
    done = move_runs(found, ids, target, audit_context(request), renames=renames)
    if done.moved:
        count = len(done.moved)
        text = ngettext(
            "Moved %(count)s run to %(project)s.",
            "Moved %(count)s runs to %(project)s.",
            count,
        )
        values = {"count": number(count), "project": quoted(target.name)}
        tell(request, text % values)
    if done.stayed:
        left = [run for run in runs if run.id not in done.moved]
        return _many_page(request, found, left, stayed=done.stayed)
    return redirect("runs", workspace, project)


# Any: rows of the tables of projects and runs, which pages do not import.
def _ticked(request: PageRequest, project: Any) -> list[Any]:
    """Return the runs named by their ids, or found by the question of the table."""
    if "question" not in request.POST:
        ids = named_runs(request)
    else:
        wanted, order = read_runs(QueryDict(request.POST["question"]))
        ids = runs_in_order(project.id, wanted=wanted, order=order, limit=MAX_RUNS + 1)
    if len(ids) > MAX_RUNS:
        raise InvalidInput("runs", f"must be at most {MAX_RUNS:,} at once")
    return runs_of(project, ids)


# Any: as above.
def _many_page(
    request: PageRequest, project: Any, runs: list[Any], *, stayed: Sequence[Any] = ()
) -> HttpResponse:
    context = {
        "project": project,
        "tab": "runs",
        "runs": runs,
        "ids": ",".join(str(run.id) for run in runs),
        "targets": targets_of_moves(request.actor, project),
        "typed": request.POST,
        "stayed": stayed,
    }
    status = 400 if stayed else 200
    return render(request, "runs/move.html", context, status=status)


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

"""A project's ladders, one ladder with all its rungs, and the form that changes it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from tracker.access.objects import editable_ladder, readable_ladder
from tracker.access.projects import editable_project, may_edit, readable_project
from tracker.actions.ladders import (
    RUNGS_AT_MOST,
    arrange_ladder,
    create_ladder,
    set_note,
)
from tracker.disclosure import seen_ladder
from tracker.errors import InvalidInput, NotFound
from tracker.queries.compare.comparison import RUNS_AT_MOST
from tracker.queries.ladders.ladders import (
    LadderView,
    ladder_rungs,
    ladder_summaries,
    read_ladder,
)
from tracker.queries.runs.newest_runs import project_tags
from web.figures.ladder import step_time_figure
from web.pages.charts.figures import figure_response
from web.pages.ladders.bars import (
    EXAMPLE,
    STEP,
    bars_of,
    counts_examples,
    legend_of,
    unit_of,
)
from web.pages.ladders.form import (
    LadderForm,
    read_form,
    read_start,
    rows_of,
    suggested_runs,
    usual_name,
)
from web.pages.ladders.report import report_of, sentence_of
from web.pages.ladders.step_cards import cards_of
from web.pages.ladders.summary import summary_of
from web.pages.projects.deletions import delete_with_way_back
from web.session import PageRequest, signed_in
from web.snippets import ladder as ladder_snippet
from web.toasts import tell


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def ladders(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """List the project's ladders; with runs or a tag, show the form for a new one."""
    if request.method == "POST":
        return _create(request, workspace, project)

    found = readable_project(request.actor, workspace, project)
    if {"new", "runs", "tag"} & request.GET.keys():
        editable_project(request.actor, workspace, project, to="change ladders")
        start = read_start(request.GET, found)
        rows = rows_of(found, [(run_id, "") for run_id in start.run_ids])
        form = LadderForm(start.name or usual_name(rows), rows)
        return _form_page(request, found, form, left_out=start.left_out)

    edits = may_edit(request.actor, found)
    context = {
        "project": found,
        "tab": "ladders",
        "may_edit": edits,
        "ladders": ladder_summaries(found.id),
        "tags": project_tags(found.id) if edits else [],
        "snippet": ladder_snippet(
            request.build_absolute_uri("/").rstrip("/"), workspace, project
        ),
    }
    return render(request, "ladders/ladders.html", context)


@require_safe
@signed_in
def ladder(request: PageRequest, ladder_id: UUID) -> HttpResponse:
    """Show a ladder; for htmx, only the parts that change while runs are running."""
    found = readable_ladder(request.actor, ladder_id)
    view = _read(request, found)
    per = _per(request, view)
    context = {
        "project": found.project,
        "tab": "ladders",
        "may_edit": may_edit(request.actor, found.project),
        "ladder": view,
        "cards": cards_of(view),
        "summary": summary_of(view),
        "sentence": sentence_of(view),
        "per": per,
        "legend": legend_of(view),
        "counts_examples": counts_examples(view),
        "query": _query(view, per),
        "query_per_example": _query(view, EXAMPLE),
        "query_per_step": _query(view, STEP),
        "compared": ",".join(str(rung.run_id) for rung in view.rungs[:RUNS_AT_MOST]),
        "may_have_cost": request.actor.grant is None
        and found.project.gpu_hour_price is None
        and any(rung.ledger and rung.ledger.is_of_gpus for rung in view.rungs),
    }
    template = "ladders/_live.html" if request.htmx else "ladders/ladder.html"
    return render(request, template, context)


@require_safe
@signed_in
def report(request: PageRequest, ladder_id: UUID) -> HttpResponse:
    """Show a ladder for printing, without controls."""
    found = readable_ladder(request.actor, ladder_id)
    view = _read(request, found)
    per = _per(request, view)
    context = {
        "project": found.project,
        "tab": "ladders",
        "ladder": view,
        "report": report_of(view, per_example=per == EXAMPLE),
        "summary": summary_of(view),
        "per": per,
        "query": _query(view, per),
        "address": request.build_absolute_uri(),
    }
    return render(request, "ladders/report.html", context)


@require_POST
@signed_in
def note(request: PageRequest, ladder_id: UUID, run_id: UUID) -> HttpResponse:
    """Save the note of a step."""
    found = editable_ladder(request.actor, ladder_id)
    set_note(found, run_id, request.POST.get("note", ""))
    tell(request, gettext("Note saved."))
    query = request.GET.urlencode()
    address = reverse("ladder", args=[ladder_id]) + (f"?{query}" if query else "")
    return HttpResponseRedirect(f"{address}#rung-{run_id}")


@require_safe
@signed_in
def ladder_figure(request: PageRequest, ladder_id: UUID) -> HttpResponse:
    """Draw the time breakdown of a step, or of an example, for each optimization step."""
    view = _read(request, readable_ladder(request.actor, ladder_id))
    per = _per(request, view)
    figure = step_time_figure(bars_of(view, per), unit=per)
    return figure_response(request, figure, is_live=view.may_go_on)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def edit(request: PageRequest, ladder_id: UUID) -> HttpResponse:
    found = editable_ladder(request.actor, ladder_id)
    if request.method != "POST":
        rows = [(rung.run_id, rung.note) for rung in ladder_rungs(found)]
        form = LadderForm(found.name, rows_of(found.project, rows))
        return _form_page(request, found.project, form, ladder=found)

    form = read_form(request.POST, found.project)
    if form.is_ready:
        try:
            arrange_ladder(found, form.name, form.requests)
        except (InvalidInput, NotFound) as refusal:
            found.refresh_from_db()
            form = form.refused(str(refusal))
        else:
            tell(request, gettext("Ladder saved."))
            return HttpResponseRedirect(reverse("ladder", args=[found.id]))
    return _form_page(request, found.project, form, ladder=found)


@require_POST
@signed_in
def delete(request: PageRequest, ladder_id: UUID) -> HttpResponse:
    found = editable_ladder(request.actor, ladder_id)
    project = found.project
    delete_with_way_back(request, "ladder", found)
    return HttpResponseRedirect(
        reverse("ladders", args=[project.workspace.slug, project.slug])
    )


def _create(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = editable_project(request.actor, workspace, project, to="change ladders")
    form = read_form(request.POST, found)
    if form.is_ready:
        try:
            made = create_ladder(found, form.name, form.requests)
        except (InvalidInput, NotFound) as refusal:
            form = form.refused(str(refusal))
        else:
            tell(request, gettext("Ladder created."))
            return HttpResponseRedirect(reverse("ladder", args=[made.id]))
    return _form_page(request, found, form)


# Any: rows of tables, which pages do not import.
def _form_page(
    request: PageRequest,
    project: Any,
    form: LadderForm,
    *,
    ladder: Any = None,
    left_out: int = 0,
) -> HttpResponse:
    context = {
        "project": project,
        "tab": "ladders",
        "ladder": ladder,
        "form": form,
        "suggested": suggested_runs(project, form),
        "left_out": left_out,
        "at_most": RUNGS_AT_MOST,
    }
    status = 400 if form.error else 200
    return render(request, "ladders/edit.html", context, status=status)


def _read(request: PageRequest, ladder: Any) -> LadderView:
    view = read_ladder(
        ladder,
        stage=request.GET.get("stage"),
        quality=request.GET.get("quality"),
    )
    return seen_ladder(request.actor, view)


def _per(request: PageRequest, view: LadderView) -> str:
    return unit_of(view, request.GET.get("per", ""))


def _query(view: LadderView, per: str) -> str:
    parameters = {"stage": view.stage, "quality": view.quality_path, "per": per}
    return urlencode({name: value for name, value in parameters.items() if value})

"""Compares runs of one or several projects; the address selects runs and options."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_safe

from tracker.access.projects import may_edit, project_beside, projects_beside
from tracker.disclosure import seen_by
from tracker.errors import NotFound
from tracker.queries.compare.comparison import (
    CHUNK,
    RUNS_AT_MOST,
    ComparedRow,
    compare_attributes,
    find_runs,
    find_runs_beside,
)
from tracker.queries.run.namespaces import MONITORING, namespace
from tracker.queries.run.run import may_go_on, may_resume, silent_for
from tracker.queries.series.versions import version_of_summaries
from web.numbers import whole_number
from web.pages.charts.panels import panels_context
from web.pages.compare.cells import SERIES, make_cell
from web.pages.compare.frame import COLOUR_NAMES, Comparison, open_tabs, read_comparison
from web.pages.compare.state import CompareState
from web.pages.compare.tabs import TAB_CONTEXTS
from web.pages.compare.values import pictured_runs
from web.pages.runs.cells import json_value
from web.polling import poll_answer, poll_unless
from web.run_names import RunNames
from web.session import PageRequest, signed_in
from web.snippets import capture, two_runs

FINDINGS, VALUES = "findings", "values"
# Tabs whose charts show one value per run.
VALUE_TABS = ("parallel", "scatter")
# Maximum number of runs offered to add.
FOUND = 12
# Maximum number of projects listed in the picker; with more, the search covers all.
MAX_PROJECTS = 200
# With more runs, a scrolling list is next to the charts.
LISTED_ABOVE = 1
# More runs than this can be searched by name.
SEARCHED_ABOVE = 12
# Maximum number of attributes that one update reads.
MAX_LOOKED_AT = 2_000


@require_safe
@signed_in
def compare(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    comparison = read_comparison(request, workspace, project)
    found, state = comparison.project, comparison.state
    if "change" in request.GET:
        return redirect(f"{request.path}?{state.changed(request.GET['change'])}")
    if request.htmx:
        return _again(request, comparison)
    is_enough = len(comparison.everyone) > 1
    context = {
        **_states(comparison),
        "tab": "compare",
        "state": state,
        "runs": comparison.shown,
        "missing": comparison.missing,
        "at_most": RUNS_AT_MOST,
        **_life(comparison),
        "is_across": comparison.is_across,
        "projects_beside": projects_beside(request.actor, found)[:MAX_PROJECTS],
        "is_enough": is_enough,
        "state_fields": state.parameters,
        "may_edit": may_edit(request.actor, found),
        "colour_names": _choosable_colours(request, state),
        "address_all_shown": state.having(hidden=()),
        "address_all_hidden": state.having(
            hidden=tuple(sorted(each.slot for each in comparison.everyone))
        ),
        "tabs": [
            (str(number), label, name == state.tab, state.having(tab=name))
            for number, (name, label) in enumerate(
                open_tabs(request.actor).items(), start=1
            )
        ],
        "snippet": two_runs(found.slug),
        "capture_snippet": capture(
            request.build_absolute_uri("/").rstrip("/"), found.slug
        ),
    }
    if is_enough and comparison.shown:
        context |= TAB_CONTEXTS[state.tab](comparison)
        if state.tab == "charts":
            panels, query = context["arrangement"].panels, context["chart_query"]
            context |= panels_context(request, found, panels, query)
    return render(request, "compare/compare.html", context)


def _again(request: PageRequest, comparison: Comparison) -> HttpResponse:
    """Answer a part of the page that refreshes itself; by default all runs' states."""
    part = request.GET.get("part")
    if part == VALUES:
        return _values_again(request, comparison)
    if part == FINDINGS and comparison.shown:
        context = {
            **_states(comparison),
            **_life(comparison),
            **TAB_CONTEXTS[FINDINGS](comparison),
        }
        template = "compare/_findings.html"
    else:
        context, template = _states(comparison), "compare/_states.html"
    return poll_answer(request, render_to_string(template, context, request))


def _values_again(request: PageRequest, comparison: Comparison) -> HttpResponse:
    """Answer the table below a chart of values, with the data of the chart."""
    tab = comparison.state.tab
    if tab not in VALUE_TABS or not comparison.shown:
        raise NotFound("runs with values")
    pictured = pictured_runs(comparison)
    address = request.get_full_path()
    version = (
        version_of_summaries(pictured.runs, address),
        pictured.names,
        comparison.may_resume,
    )

    def draw() -> str:
        context = {
            **_states(comparison),
            "may_resume": comparison.may_resume,
            **TAB_CONTEXTS[tab](comparison),
        }
        return render_to_string("compare/_values_table.html", context, request)

    return poll_unless(request, version, draw)


def _life(comparison: Comparison) -> dict[str, Any]:
    state = comparison.state
    return {
        "is_live": comparison.is_live,
        "may_resume": comparison.may_resume,
        "as_of": timezone.now(),
        "findings_address": f"{state.address}&part={FINDINGS}",
    }


def _choosable_colours(request: PageRequest, state: CompareState) -> tuple[str, ...]:
    """Return the colors offered for a run; none for visitors by share link."""
    is_offered = request.actor.grant is None and state.is_coloured_by_run
    return COLOUR_NAMES if is_offered else ()


def _states(comparison: Comparison) -> dict[str, Any]:
    """Return the context of the list of runs with their states."""
    state, everyone = comparison.state, comparison.everyone
    requested = CompareState(runs=state.runs, slots=state.slots)
    return {
        "project": comparison.project,
        "everyone": everyone,
        "run_names": RunNames(each.run.name for each in everyone),
        "is_many": len(everyone) > LISTED_ABOVE,
        "is_long": len(everyone) > SEARCHED_ABOVE,
        "state_address": requested.address,
        "is_going_on": any(may_go_on(each.run) for each in everyone),
        "may_be_resumed": any(may_resume(each.run) for each in everyone),
    }


@require_safe
@signed_in
def compare_table(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer one chunk of the side-by-side table."""
    comparison = read_comparison(request, workspace, project)
    address = request.get_full_path()
    version = version_of_summaries(comparison.runs, address), comparison.is_live
    answer = poll_unless(request, version, lambda: _table_chunk(request, comparison))
    answer["Content-Type"] = "application/json"
    return answer


def _table_chunk(request: PageRequest, comparison: Comparison) -> str:
    limit = whole_number(request.GET.get("limit") or str(CHUNK), "limit")
    page = compare_attributes(
        [run.id for run in comparison.runs],
        offset=whole_number(request.GET.get("offset", "0"), "offset"),
        limit=min(max(limit, 1), MAX_LOOKED_AT),
        only_differences=not comparison.state.everything,
        seen=seen_by(request.actor),
    )
    reference = comparison.reference_position
    rows = [_table_row(row, reference) for row in page.rows]
    answer = {
        "rows": rows,
        "paths": page.path_count,
        "next_offset": page.next_offset,
        "live": comparison.is_live,
    }
    return orjson.dumps(answer).decode()


@require_safe
@signed_in
def compare_search(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer the runs that can be added, each as the address that adds it."""
    comparison = read_comparison(request, workspace, project)
    ids = [each.run.id for each in comparison.everyone]
    found = _found(request, comparison, ids)
    shown_in, state = comparison.project, comparison.state
    room = RUNS_AT_MOST - len(ids)
    every = [run.id for run in found]
    context = {
        "project": shown_in,
        "found": [
            (
                run,
                silent_for(run),
                run.project.name if run.project_id != shown_in.id else "",
                state.along_with(run.id),
            )
            for run in found
        ],
        "address_of_all": state.along_with(*every) if 1 < len(every) <= room else "",
        "is_full": room <= 0,
        "at_most": RUNS_AT_MOST,
    }
    return render(request, "compare/_found.html", context)


# Any: rows of the runs table, which pages do not import.
def _found(
    request: PageRequest, comparison: Comparison, without: list[UUID]
) -> list[Any]:
    """Return runs of the project that was chosen; of none, its own before others'."""
    project, text = comparison.project, request.GET.get("q", "").strip()
    chosen = request.GET.get("in", "")
    if chosen:
        project = project_beside(request.actor, project, chosen)
        return find_runs(project.id, text, without=without, limit=FOUND)
    own = find_runs(project.id, text, without=without, limit=FOUND)
    others = projects_beside(request.actor, project)
    beside = find_runs_beside(others, text, without=without, limit=FOUND // 2)
    return [*own[: FOUND - len(beside)], *beside]


def _table_row(row: ComparedRow, reference: int) -> list[Any]:
    """Present a row as JSON: lists, so that no path or name becomes a key."""
    cells: list[list[Any] | None] = []
    for value in row.values:
        cell = make_cell(value, row.values[reference])
        if value is None:
            cells.append([None, "", cell.is_changed, ""])
        else:
            is_time = isinstance(value.value, datetime)
            text = json_value(value.value) if is_time else cell.text
            cells.append([text, cell.change, cell.is_changed, cell.title])
    is_series = any(value is not None and value.kind == SERIES for value in row.values)
    is_monitoring = row.path.startswith(MONITORING)
    return [row.path, namespace(row.path), is_monitoring, cells, is_series]

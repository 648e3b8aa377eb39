"""Several runs of a project beside each other; the address says which and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import orjson
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from tracker.access import comparable_project, comparable_runs, may_edit
from tracker.actor import Actor
from tracker.disclosure import seen_by, seen_diagnoses
from tracker.errors import InvalidInput
from tracker.freshness import fresh_answer
from tracker.queries.compared_findings import compare_findings
from tracker.queries.comparison import (
    RUNS_AT_MOST,
    ComparedRow,
    compare_attributes,
    find_runs,
    overlaid_paths,
)
from tracker.queries.diagnoses import diagnoses_of
from tracker.queries.namespaces import MONITORING, namespace
from tracker.queries.run import may_go_on
from tracker.queries.series import Axis, read_lines
from web.cells import make_cell
from web.chart_sections import chart_sections
from web.compare_state import AXES, TABS, CompareState, read_state
from web.figures.comparison import overlay_figure
from web.figures.series import NamedLine
from web.figures.traces import RUN_COLOURS
from web.session import PageRequest, signed_in
from web.views.chart_options import read_number
from web.views.figures import figure_version, sent_figure

# Beyond this many charts on a page nobody reads them all; the filter finds the rest.
CHARTS_AT_MOST = 200
BUCKETS = 500
OFFSET_DIGITS = 9


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run of the comparison, with the addresses that change the comparison."""

    id: UUID
    name: str
    state: str
    colour: int
    is_second_round: bool
    is_reference: bool
    query_without: str
    query_as_reference: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was asked for, cut down to the runs that there are."""

    project: Any  # a row of the projects table; pages do not import tables
    runs: list[Any]  # likewise
    state: CompareState
    missing: list[str]
    actor: Actor

    @property
    def reference_position(self) -> int:
        ids = [run.id for run in self.runs]
        return ids.index(self.state.reference) if self.state.reference else 0

    @property
    def is_live(self) -> bool:
        return any(may_go_on(run) for run in self.runs)


@require_safe
@signed_in
def compare(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    comparison = _read(request, workspace, project)
    state = comparison.state
    context = {
        "project": comparison.project,
        "tab": "compare",
        "state": state,
        "runs": _shown_runs(comparison),
        "missing": comparison.missing,
        "at_most": RUNS_AT_MOST,
        "is_live": comparison.is_live,
        "is_enough": len(comparison.runs) > 1,
        "may_edit": may_edit(request.actor, comparison.project),
        "tabs": [
            (label, name == state.tab, state.having(tab=name))
            for name, label in TABS.items()
        ],
    }
    if context["is_enough"]:
        context |= TAB_CONTEXTS[state.tab](comparison)
    return render(request, "compare/compare.html", context)


@require_safe
@signed_in
def compare_figure(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer the chart of one series path, a line for each run that has it."""
    comparison = _read(request, workspace, project)
    is_live = comparison.is_live
    version = figure_version(request, comparison.runs, is_live=is_live)
    path = request.GET.get("path", "")
    axis = comparison.state.axis
    low, high = read_number(request.GET, "low"), read_number(request.GET, "high")

    def draw() -> HttpResponse:
        lines = read_lines(
            [(run, path) for run in comparison.runs],
            axis=Axis(axis),
            low=low,
            high=high,
            buckets=BUCKETS,
            steady=True,
        )
        named = [
            NamedLine(line, run.name, position)
            for position, (run, line) in enumerate(
                zip(comparison.runs, lines, strict=True)
            )
            if line.count
        ]
        figure = overlay_figure(named, axis=axis, low=low, high=high)
        return sent_figure(request, figure, is_live=is_live)

    return fresh_answer(request, version, draw)


@require_safe
@signed_in
def compare_table(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer one chunk of the side-by-side table."""
    comparison = _read(request, workspace, project)
    page = compare_attributes(
        [run.id for run in comparison.runs],
        offset=_offset(request.GET),
        only_differences=not comparison.state.everything,
        seen=seen_by(request.actor),
    )
    reference = comparison.reference_position
    rows = [_table_row(row, reference) for row in page.rows]
    answer = {
        "rows": rows,
        "paths": page.path_count,
        "next_offset": page.next_offset,
    }
    return HttpResponse(orjson.dumps(answer), content_type="application/json")


@require_safe
@signed_in
def compare_search(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer the runs that can be added, each as the address that adds it."""
    comparison = _read(request, workspace, project)
    text = request.GET.get("q", "").strip()
    found = find_runs(
        comparison.project.id, text, without=[run.id for run in comparison.runs]
    )
    context = {
        "project": comparison.project,
        "found": [(run, comparison.state.along_with(run.id)) for run in found],
        "is_full": len(comparison.runs) >= RUNS_AT_MOST,
        "at_most": RUNS_AT_MOST,
    }
    return render(request, "compare/_found.html", context)


def _read(request: PageRequest, workspace: str, project: str) -> Comparison:
    found = comparable_project(request.actor, workspace, project)
    state = read_state(request.GET)
    runs = comparable_runs(request.actor, found, list(state.runs))
    ids = [run.id for run in runs]
    # Absent and forbidden look the same here, too.
    missing = [str(run_id) for run_id in state.runs if run_id not in ids]
    reference = state.reference if state.reference in ids else None
    shown = replace(state, runs=tuple(ids), reference=reference)
    return Comparison(found, runs, shown, [*missing, *state.unreadable], request.actor)


def _shown_runs(comparison: Comparison) -> list[ShownRun]:
    state, reference = comparison.state, comparison.reference_position
    return [
        ShownRun(
            id=run.id,
            name=run.name,
            state=run.state,
            colour=position % RUN_COLOURS,
            is_second_round=position >= RUN_COLOURS,
            is_reference=position == reference,
            query_without=state.without(run.id),
            query_as_reference=state.having(reference=run.id),
        )
        for position, run in enumerate(comparison.runs)
    ]


def _charts(comparison: Comparison) -> dict[str, Any]:
    state = comparison.state
    paths = [
        path
        for path in overlaid_paths([run.id for run in comparison.runs])
        if state.text.casefold() in path.casefold()
    ]
    return {
        "sections": [
            (section, [(path, _figure_query(state, path)) for path in section.paths])
            for section in chart_sections(
                paths[:CHARTS_AT_MOST], opens_all=bool(state.text)
            )
        ],
        "chart_count": len(paths),
        "charts_at_most": CHARTS_AT_MOST,
        "query_without_text": state.having(text=""),
        "axes": [
            (label, axis == state.axis, state.having(axis=axis))
            for axis, label in AXES.items()
        ],
    }


def _figure_query(state: CompareState, path: str) -> str:
    return urlencode(
        {"path": path, "runs": ",".join(map(str, state.runs)), "axis": state.axis}
    )


def _table(comparison: Comparison) -> dict[str, Any]:
    state = comparison.state
    address = reverse(
        "compare-table",
        args=[comparison.project.workspace.slug, comparison.project.slug],
    )
    return {
        "table_url": f"{address}?{state.query}",
        "table_runs": [
            {
                "name": run.name,
                "colour": run.colour,
                "second": run.is_second_round,
                "reference": run.is_reference,
                "url": reverse("run", args=[run.id]),
            }
            for run in _shown_runs(comparison)
        ],
        "query_toggled": state.having(everything=not state.everything),
    }


def _diagnoses(comparison: Comparison) -> dict[str, Any]:
    diagnoses = [
        seen_diagnoses(comparison.actor, diagnoses_of(run)) for run in comparison.runs
    ]
    return {
        "findings": compare_findings(diagnoses, comparison.reference_position),
        "is_diagnosed": any(diagnoses),
        "undiagnosed": [
            run.name
            for run, found in zip(comparison.runs, diagnoses, strict=True)
            if not found
        ],
    }


TAB_CONTEXTS = {"charts": _charts, "table": _table, "diagnoses": _diagnoses}


def _table_row(row: ComparedRow, reference: int) -> list[Any]:
    """Present a row as JSON: lists, so that no path or name becomes a key."""
    cells: list[list[Any] | None] = []
    for value in row.values:
        cell = make_cell(value, row.values[reference])
        if value is None:
            cells.append([None, "", cell.is_changed, ""])
        else:
            cells.append([cell.text, cell.change, cell.is_changed, cell.title])
    return [row.path, namespace(row.path), row.path.startswith(MONITORING), cells]


def _offset(query: QueryDict) -> int:
    text = query.get("offset", "0")
    if not (text.isascii() and text.isdigit() and len(text) <= OFFSET_DIGITS):
        raise InvalidInput("offset", "must be a whole number")
    return int(text)

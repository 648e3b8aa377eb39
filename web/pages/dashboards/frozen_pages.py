"""Snapshots of dashboards and reports for share links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from tracker.access.projects import projects_in_reach
from tracker.actor import Actor
from tracker.boards.board import MAX_RUNS, RunSet, Widget, board_from, checked
from tracker.boards.frozen import Frozen
from tracker.errors import InvalidInput
from tracker.queries.ladders.ladders import ladder_of_project, ladder_rungs
from tracker.queries.runs.over_runs import number_over_runs
from tracker.queries.runs.run_sets import every_match, runs_in
from web.pages.compare.state import as_id
from web.pages.dashboards.widget_kind import BestOf, Kind, settings_of
from web.pages.reports.text import readable_blocks
from web.widgets import KINDS

# Each widget with the runs that it is about.
About = Iterable[tuple[Widget, RunSet]]


# Any: rows of tables, which pages do not import.
def frozen_dashboard(actor: Actor, dashboard: Any) -> Frozen:
    board = board_from(dashboard.content)
    widgets = [(each, each.run_set or board.run_set) for each in board.widgets]
    return Frozen(
        name=dashboard.name,
        saved_at=dashboard.changed_at,
        runs=_runs_shown(actor, dashboard.project, widgets),
        board=replace(board, removed=()),
    )


def frozen_report(actor: Actor, report: Any) -> Frozen:
    blocks = readable_blocks(report.text)
    widgets = [(block.widget, block.run_set) for block in blocks]
    return Frozen(
        name=report.name,
        saved_at=report.changed_at,
        runs=_runs_shown(actor, report.project, widgets),
        text=report.text,
        number=report.version,
    )


def _runs_shown(
    actor: Actor, project: Any, widgets: About
) -> dict[str, tuple[UUID, ...]]:
    """Return the runs of each widget, as they are now."""
    found: dict[RunSet, tuple[UUID, ...]] = {}
    reach = projects_in_reach(actor, project)
    shown = {}
    for widget, run_set in widgets:
        kind = KINDS.get(widget.kind)
        if kind is None or not kind.has_runs:
            shown[widget.id] = _rungs(project, widget)
            continue
        if run_set not in found:
            found[run_set] = tuple(
                run.id for run in runs_in(project, run_set, reach).runs
            )
        shown[widget.id] = found[run_set]
        best = _best(project, run_set, reach, _best_of(kind, widget))
        if best is not None and found[run_set] and best not in found[run_set]:
            shown[widget.id] = (*found[run_set][: MAX_RUNS - 1], best)
    return shown


def _best_of(kind: Kind, widget: Widget) -> BestOf | None:
    try:
        settings = checked(settings_of(kind, dict(widget.settings)), kind.settings)
    except InvalidInput:
        return None
    return kind.best_of(settings)


def _best(
    project: Any, run_set: RunSet, reach: Any, best_of: BestOf | None
) -> UUID | None:
    """Return the run that the widget names, which need not be among the first."""
    if best_of is None or run_set.runs is not None:
        return None
    sets = every_match(project, run_set, reach)
    best = number_over_runs(sets, best_of.key, best_of.over).run
    return None if best is None else best.id


def _rungs(project: Any, widget: Widget) -> tuple[UUID, ...]:
    ladder_id = as_id(str(widget.settings.get("ladder", "")))
    ladder = ladder_id and ladder_of_project(project.id, ladder_id)
    return tuple(rung.run_id for rung in ladder_rungs(ladder)) if ladder else ()

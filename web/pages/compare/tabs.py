"""The content of each tab of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from tracker.actor import Part
from tracker.disclosure import seen_by, seen_diagnoses, seen_ledger
from tracker.queries.compare.findings import Became, compare_findings, count_changes
from tracker.queries.compare.source import chosen_stage, source_parts, stages_of
from tracker.queries.compare.values import OWN_DIMENSIONS, dimensions_of
from tracker.queries.diagnoses.between_stages import Span, seconds_between, stage_spans
from tracker.queries.diagnoses.diagnoses import diagnoses_of_runs
from tracker.queries.diagnoses.time_breakdowns import LedgerView, run_ledger
from web.figures.hardware_kinds import GROUPS
from web.pages.charts.compared_charts import (
    FIELDS,
    axis_choices,
    first_figures,
    listed_charts,
)
from web.pages.compare.frame import ComparedRun, Comparison
from web.pages.compare.importance import importance_context
from web.pages.compare.media import media_context
from web.pages.compare.state import ALIGNMENTS, SMOOTHERS, VIEWS, CompareState
from web.pages.compare.values import fields_but, parallel_context, scatter_context
from web.pages.run_files.text_diff import TextDiff, compare_texts


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A text of both runs."""

    name: str
    title: str
    diff: TextDiff
    lacking: str  # the name of the run that has no such text, or ""


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The status of the reference's findings in a run, and the run's time breakdown."""

    run: ComparedRun
    gone: int
    new: int
    smaller: int
    larger: int
    same: int
    ledger: LedgerView | None


def _charts(comparison: Comparison) -> dict[str, Any]:
    state = comparison.state
    charts = listed_charts(comparison)
    return charts | {
        "known": _dimensions(comparison),
        "own_dimensions": " ".join(OWN_DIMENSIONS),
        "first_figures": first_figures(comparison, charts["sections"]),
        "address_without_text": state.having(text="", regex=False),
        "hidden_fields": fields_but(comparison, *FIELDS),
        "axes": axis_choices(state, charts["epoch"]),
        "smoothers": SMOOTHERS.items(),
    }


def _dimensions(comparison: Comparison) -> list[str]:
    """Return the paths to divide runs by, where completion is not available.

    That is for visitors by share link and across projects: completion covers one
    project.
    """
    actor = comparison.actor
    has_completion = actor.grant is None and not comparison.is_across
    if has_completion or not actor.sees(Part.CONFIG):
        return []
    runs = [run.id for run in comparison.runs]
    return dimensions_of(runs, seen_by(actor)).names


def _table(comparison: Comparison) -> dict[str, Any]:
    state = comparison.state
    return {
        "table_url": f"{_address(comparison, 'compare-table')}?{state.address}",
        # The script puts a path at its end.
        "chart_url": f"{_address(comparison, 'compare')}?"
        + state.having(tab="charts", text=""),
        "table_runs": [
            {
                "name": each.run.name,
                "project": each.project,
                "colour": each.colour,
                "round": each.round,
                "reference": each.is_reference,
                "url": reverse("run", args=[each.run.id]),
            }
            for each in comparison.shown
        ],
        "address_toggled": state.having(everything=not state.everything),
    }


def _source(comparison: Comparison) -> dict[str, Any]:
    left, right = _pair(comparison)
    state = comparison.state
    stages = stages_of([left.run.id, right.run.id])
    stage = chosen_stage(stages, state.stage)
    parts = [
        ShownPart(
            part.name,
            part.title,
            compare_texts(part.left or "", part.right or ""),
            lacking=left.name
            if part.left is None
            else right.name
            if part.right is None
            else "",
        )
        for part in source_parts(left.run, right.run, stage)
    ]
    return {
        "left": left,
        "right": right,
        "stage": stage,
        "stages": sorted(stages),
        "parts": parts,
        "differing": sum(not part.diff.is_same for part in parts),
        "is_split": state.view == "split",
        "views": _choices(state, "view", VIEWS),
        "hidden_fields": fields_but(comparison, "left", "right", "stage"),
        "address_swapped": state.having(left=right.run.id, right=left.run.id),
    }


def _pair(comparison: Comparison) -> tuple[ComparedRun, ComparedRun]:
    """Return the two requested runs; by default the reference and the first other run."""
    by_id = {each.run.id: each for each in comparison.everyone}
    state = comparison.state
    reference = next(each for each in comparison.everyone if each.is_reference)
    left = by_id[state.left] if state.left else reference
    right = by_id[state.right] if state.right else None
    if right is None or right is left:
        others = [each for each in comparison.everyone if each is not left]
        right = next((each for each in others if not each.is_hidden), others[0])
    return left, right


def _hardware(comparison: Comparison) -> dict[str, Any]:
    state = comparison.state
    stages = stages_of([run.id for run in comparison.runs])
    stage = chosen_stage(stages, state.stage)
    drawn = state.of_only([run.id for run in comparison.runs])
    return {
        "stage": stage,
        "stages": sorted(stages),
        "alignments": _choices(state, "align", ALIGNMENTS),
        "needs_stage": state.align != "run" and len(stages) > 1,
        "groups": [
            (
                group.title,
                group.name == state.group,
                state.having(group=group.name),
            )
            for group in GROUPS
        ],
        "hidden_fields": fields_but(comparison, "stage"),
        "figure_query": drawn.having(stage=stage or ""),
    }


def _findings(comparison: Comparison) -> dict[str, Any]:
    actor = comparison.actor
    stored = diagnoses_of_runs([run.id for run in comparison.runs])
    diagnoses = [seen_diagnoses(actor, stored[run.id]) for run in comparison.runs]
    findings = compare_findings(diagnoses, comparison.reference_position)
    verdicts, spans = [], stage_spans([run.id for run in comparison.runs])
    for position, (each, found) in enumerate(
        zip(comparison.shown, diagnoses, strict=True)
    ):
        counts = count_changes(findings, position)
        ledgers, run = [diagnosis.ledger for diagnosis in found], each.run
        whole = Span(run.started_at, run.ended_at)
        ledger = run_ledger(
            ledgers,
            run.project,
            between=seconds_between(whole, spans[run.id], ledgers),
        )
        verdicts.append(
            RunVerdict(
                each,
                gone=counts[Became.FIXED],
                new=counts[Became.NEW],
                smaller=counts[Became.SMALLER],
                larger=counts[Became.LARGER],
                same=counts[Became.SAME],
                ledger=seen_ledger(actor, ledger),
            )
        )
    return {
        "findings": findings,
        "rows": [
            (row, list(zip(comparison.shown, row.cells, strict=True)))
            for row in findings
        ],
        "verdicts": verdicts,
        "has_ledgers": any(verdict.ledger for verdict in verdicts),
        "is_diagnosed": any(diagnoses),
        "undiagnosed": [
            name
            for name, found in zip(comparison.names, diagnoses, strict=True)
            if not found
        ],
    }


def _choices(
    state: CompareState, name: str, choices: dict[str, str]
) -> list[tuple[str, bool, str]]:
    now = getattr(state, name)
    return [
        (label, choice == now, state.having(**{name: choice}))
        for choice, label in choices.items()
    ]


def _address(comparison: Comparison, name: str) -> str:
    project = comparison.project
    return reverse(name, args=[project.workspace.slug, project.slug])


TAB_CONTEXTS = {
    "charts": _charts,
    "table": _table,
    "media": media_context,
    "source": _source,
    "parallel": parallel_context,
    "scatter": scatter_context,
    "importance": importance_context,
    "hardware": _hardware,
    "findings": _findings,
}

"""Ladders: created from runs by name, and returned with their measurements."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from ninja import Router

from tracker.access.objects import readable_ladder
from tracker.access.projects import editable_project, readable_project
from tracker.actions.ladders import RungRequest, put_ladder
from tracker.api.answers import json_response, number, value
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.api.v1.ladder_schemas import LadderIn, LadderOut, LaddersOut
from tracker.diagnosis.analysis.quality import Level
from tracker.diagnosis.breakdown.step import StepBreakdown
from tracker.queries.ladders.finding_changes import FindingChanges, RungFinding
from tracker.queries.ladders.ladders import (
    LadderSummary,
    LadderView,
    ladder_summaries,
    read_ladder,
)
from tracker.queries.ladders.steps import RungView, ValueChange
from tracker.queries.ladders.verdicts import Change

router = Router(tags=["ladders"], auth=ReaderAuth())

# Outgoing JSON.
Json = dict[str, Any]


@router.get("/projects/{slug:workspace}/{slug:project}/ladders", response=LaddersOut)
def read_ladders(request: ApiRequest, workspace: str, project: str) -> HttpResponse:
    """The project's ladders, newest first."""
    found = readable_project(request.auth, workspace, project)
    return json_response(
        {"ladders": [_summary(ladder) for ladder in ladder_summaries(found.id)]}
    )


@router.post(
    "/projects/{slug:workspace}/{slug:project}/ladders",
    response=LadderOut,
    auth=WriterAuth(),
)
def write_ladder(
    request: ApiRequest, workspace: str, project: str, body: LadderIn
) -> HttpResponse:
    """Create the ladder of that name, or replace its steps."""
    found = editable_project(request.auth, workspace, project, to="change ladders")
    rungs = [RungRequest(rung.run, rung.note) for rung in body.rungs]
    ladder = put_ladder(found, body.name, rungs)
    return json_response(_ladder(read_ladder(ladder)))


@router.get("/ladders/{uuid:ladder_id}", response=LadderOut)
def read_one_ladder(
    request: ApiRequest,
    ladder_id: UUID,
    stage: str | None = None,
    quality: str | None = None,
) -> HttpResponse:
    """One ladder; stage and quality metric are chosen automatically unless named."""
    ladder = readable_ladder(request.auth, ladder_id)
    return json_response(_ladder(read_ladder(ladder, stage=stage, quality=quality)))


def _summary(ladder: LadderSummary) -> Json:
    return {
        "id": ladder.id,
        "name": ladder.name,
        "created_at": ladder.created_at,
        "rungs": [{"label": each.label, "state": each.state} for each in ladder.rungs],
    }


def _ladder(ladder: LadderView) -> Json:
    return {
        "id": ladder.id,
        "name": ladder.name,
        "stage": ladder.stage,
        "quality_path": ladder.quality_path,
        "summary": ladder.climb.sentence if ladder.climb else None,
        "left": ladder.left
        and {
            "likely_share": number(ladder.left.share),
            "titles": list(ladder.left.titles),
            "advises_stop": ladder.left.advises_stop,
            "unanswered": ladder.left.unanswered,
        },
        "rungs": [_rung(rung) for rung in ladder.rungs],
    }


def _rung(rung: RungView) -> Json:
    predicted = rung.predicted
    return {
        "position": rung.position,
        "run_id": rung.run_id,
        "run": rung.run_name,
        "state": rung.state,
        "label": rung.label,
        "note": rung.note,
        "total_seconds": rung.total_seconds,
        "stages": [
            {"name": stage.name, "state": stage.state, "seconds": stage.seconds}
            for stage in rung.stages
        ],
        "changed_params": [_value_change(change) for change in rung.params],
        "changed_machine": [_value_change(change) for change in rung.machine],
        "step": _step(rung.breakdown),
        "against_previous": _change(rung.against_previous),
        "against_baseline": _change(rung.against_baseline),
        "why_no_change": rung.why_no_change,
        "gpu_count": rung.gpu_count,
        "quality": value(rung.quality.value) if rung.quality else None,
        "is_diagnosed": rung.is_diagnosed,
        "findings": _findings(rung.findings),
        "predicted": predicted
        and {
            "rule": predicted.rule,
            "title": predicted.title,
            "bound": number(predicted.bound),
            "likely": number(predicted.likely),
            "is_fixed": predicted.is_fixed,
        },
        "outcome": rung.outcome and str(rung.outcome),
        "learned": rung.learned
        and {
            "path": rung.learned.path,
            "at_equal_examples": _level(rung.learned.at_equal_examples),
            "at_equal_time": _level(rung.learned.at_equal_time),
        },
        "is_faster_but_worse": rung.is_faster_but_worse,
    }


def _level(level: Level | None) -> Json | None:
    if level is None:
        return None
    return {
        "at": number(level.at),
        "before": number(level.before),
        "after": number(level.after),
        "noise": number(level.noise),
        "is_worse": level.is_worse,
    }


def _step(step: StepBreakdown | None) -> Json | None:
    if step is None:
        return None
    return {
        "step_count": step.step_count,
        "is_steady": step.is_steady,
        "median_seconds": step.median_step_seconds,
        "mean_seconds": step.mean_step_seconds,
        "parts": [{"name": part.name, "seconds": part.seconds} for part in step.parts],
        "steps_per_second": step.steps_per_second,
        "examples_per_step": step.examples_per_step,
        "examples_per_second": step.examples_per_second,
        "cpu_cores": step.cpu_cores,
        "cpu_percent": step.cpu_percent,
        "gpu_percent": step.gpu_percent,
    }


def _change(change: Change | None) -> Json | None:
    if change is None:
        return None
    return {
        "ratio": change.ratio,
        "low": change.low,
        "high": change.high,
        "verdict": str(change.verdict),
        "materiality": str(change.materiality),
        "is_rough": change.is_rough,
        "text": change.sentence,
    }


def _value_change(change: ValueChange) -> Json:
    return {
        "path": change.path,
        "before": value(change.before),
        "after": value(change.after),
    }


def _findings(changes: FindingChanges) -> Json:
    return {
        "gone": _finding_list(changes.gone),
        "new": _finding_list(changes.new),
        "kept": _finding_list(changes.kept),
        "found": _finding_list(changes.found),
        "unjudged": _finding_list(changes.unjudged),
    }


def _finding_list(findings: tuple[RungFinding, ...]) -> list[Json]:
    return [
        {
            "stage": finding.stage,
            "rule": finding.rule,
            "title": finding.title,
            "severity": finding.severity,
        }
        for finding in findings
    ]

"""A run's first page: what is wrong with it and what to try, then what it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tracker.diagnosis.finding import Severity
from tracker.diagnosis.judgement import Label
from tracker.disclosure import seen_diagnoses, seen_values
from tracker.queries.breakdown import stage_breakdown
from tracker.queries.diagnoses import FindingView, StageDiagnosis, diagnoses_of
from tracker.queries.key_values import KeyValues, key_values
from tracker.queries.ledgers import run_ledger
from tracker.queries.namespaces import PARAMS
from tracker.queries.rules_version import rules_version
from tracker.queries.run import StageRow
from web.session import PageRequest, signed_in
from web.step_figures import StepFigures
from web.views.run_frame import run_frame

TRAINING = "train"


@dataclass(frozen=True, slots=True)
class StageSection:
    """A stage with what was measured of its steps, and what the rules said about it.

    None: nothing yet.
    """

    stage: StageRow
    diagnosis: StageDiagnosis | None
    steps: StepFigures | None = None

    @property
    def is_well(self) -> bool:
        """Whether rules judged and none is at all sure of a fault."""
        found = self.diagnosis
        faults = [f for f in self.sure if f.severity != Severity.NOTICE]
        return found is not None and bool(found.healthy) and not faults

    @property
    def sure(self) -> list[FindingView]:
        """What is worth reading at once."""
        return together([f for f in self._kept if is_sure(f)])

    @property
    def possible(self) -> list[FindingView]:
        """What few windows show, or what only follows from something else."""
        return together([f for f in self._kept if not is_sure(f)])

    @property
    def dismissed(self) -> list[FindingView]:
        found = self.diagnosis.findings if self.diagnosis else []
        return [finding for finding in found if finding.dismissal]

    @property
    def _kept(self) -> list[FindingView]:
        found = self.diagnosis.findings if self.diagnosis else []
        return [finding for finding in found if not finding.dismissal]

    @property
    def is_unjudged(self) -> bool:
        found = self.diagnosis
        return found is not None and not found.healthy and not found.findings


def is_sure(finding: FindingView) -> bool:
    """Whether it, or what it explains, is more than possible."""
    labels = {finding.label, *(symptom.label for symptom in finding.all_symptoms)}
    return labels != {Label.POSSIBLE}


def together(findings: Sequence[FindingView]) -> list[FindingView]:
    """Let the first finding of each rule speak for those about other GPUs."""
    by_rule: dict[str, list[FindingView]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    return [
        replace(first, also_on=tuple(other.scope for other in others))
        for first, *others in by_rule.values()
    ]


@require_safe
@signed_in
def overview(request: PageRequest, run_id: UUID) -> HttpResponse:
    frame = run_frame(request, run_id, "overview")
    run = frame["run"]
    diagnoses = seen_diagnoses(request.actor, diagnoses_of(run))
    version = rules_version(run.project)
    context = {
        **frame,
        "sections": [
            replace(section, steps=_steps(run, section))
            for section in sections(frame["overview"].stages, diagnoses)
        ],
        "is_outdated": any(
            each.is_final and each.rules_version != version for each in diagnoses
        ),
        "ledger": run_ledger((each.ledger for each in diagnoses), run.project),
        **_values(seen_values(request.actor, key_values(run))),
    }
    template = "run/overview_body.html" if request.htmx else "run/overview.html"
    return render(request, template, context)


@require_safe
@signed_in
def header(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Return the header alone, for pages of a live run to keep it true."""
    return render(request, "run/header.html", run_frame(request, run_id, ""))


def sections(
    stages: Sequence[StageRow], diagnoses: Sequence[StageDiagnosis]
) -> list[StageSection]:
    """Pair stages with diagnoses; training first, because GPUs wait there longest."""
    by_stage = {diagnosis.stage: diagnosis for diagnosis in diagnoses}
    found = [StageSection(stage, by_stage.get(stage.name)) for stage in stages]
    return sorted(found, key=_rank)


# Any: a row of the runs table; pages do not import tables.
def _steps(run: Any, section: StageSection) -> StepFigures | None:
    """Read steps only of stages that are known to have some."""
    if section.diagnosis is None or not section.diagnosis.step_count:
        return None
    return StepFigures(stage_breakdown(run, section.stage.name))


def _rank(section: StageSection) -> int:
    if section.stage.name == TRAINING:
        return 0
    if section.diagnosis and section.diagnosis.findings:
        return 1
    return 2 if section.diagnosis else 3


def _values(values: KeyValues) -> dict[str, object]:
    return {
        "metrics": values.metrics,
        "more_metrics": values.metric_count - len(values.metrics),
        "params": [(row.path.removeprefix(PARAMS), row) for row in values.params],
        "more_params": values.param_count - len(values.params),
    }

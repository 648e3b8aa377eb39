"""The findings of a run by stage, with their evidence."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from ninja import Router, Schema

from tracker.access.runs import readable_run
from tracker.api.answers import json_response, number
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.v1.ledgers import (
    LedgerOut,
    PricedLedgerOut,
    plain_ledger,
    priced_ledger,
)
from tracker.diagnosis.engine.finding import Evidence, Gain
from tracker.queries.diagnoses.diagnoses import (
    FindingView,
    RuleLabel,
    StageDiagnosis,
    UnansweredRule,
    diagnoses_of,
)
from tracker.queries.diagnoses.rules_version import rules_version
from tracker.queries.diagnoses.time_breakdowns import run_ledger
from tracker.queries.ladders.savings import Worth, worth_of

router = Router(tags=["runs"], auth=ReaderAuth())


class RuleOut(Schema):
    rule: str
    title: str


class UnansweredOut(RuleOut):
    """A rule without enough data to judge.

    `supplied_by` has the line of code, the command or the advice for each of `lacks`.
    """

    lacks: list[str]
    supplied_by: list[str]


class NotApplicableOut(RuleOut):
    """A rule for another kind of stage; `needs` is the missing precondition."""

    needs: str


class EvidenceOut(Schema):
    """`side` is the side of the limit that supports the finding, "above" or "below";
    null: the limit is only a reference. An open finding clears at `release`; null: at
    the limit.
    """

    signal: str
    statistic: str
    value: float | str
    unit: str
    limit: float | str | None
    side: str | None
    release: float | str | None


class RecommendationOut(Schema):
    text: str
    current: str
    suggested: str
    code: str


class SavedOut(Schema):
    """Expected savings per 1000 steps and in the run's GPU time so far.

    Null if unknown; money is null without a price of the project.
    """

    seconds_of_1000_steps: float | str | None
    gpu_seconds: float | str | None
    money: float | str | None
    currency: str


class GainOut(Schema):
    """Throughput factors: 1.5 is 50 % faster."""

    bound: float | str
    likely: float | str
    basis: str
    next_limit: str
    saves: SavedOut | None


class FindingOut(RuleOut):
    """`symptoms` are findings that this one explains.

    `comes_after` is the rule whose finding must be fixed before a fix of this one
    helps; null: none.
    """

    scope: str
    summary: str
    severity: str
    confidence: float
    is_primary: bool
    comes_after: str | None
    since: datetime
    changed_at: datetime
    cleared_at: datetime | None
    dismissed_reason: str | None
    evidence: list[EvidenceOut]
    recommendations: list[RecommendationOut]
    disproof: str
    gain: GainOut | None
    symptoms: list[FindingOut]


class StageDiagnosisOut(Schema):
    stage: str
    state: str
    diagnosed_at: datetime
    is_final: bool
    step_count: int
    findings: list[FindingOut]
    cleared: list[FindingOut]
    healthy: list[RuleOut]
    unanswered: list[UnansweredOut]
    not_applicable: list[NotApplicableOut]
    failed: list[RuleOut]
    ledger: LedgerOut | None
    rules_version: str


class DiagnosisOut(Schema):
    """`rules_version` is the current one; a stage diagnosed earlier has its own.

    `ledger` adds up the stages that held GPUs, or all stages if none did.
    """

    stages: list[StageDiagnosisOut]
    ledger: PricedLedgerOut | None
    rules_version: str


@router.get("/runs/{uuid:run_id}/diagnosis", response=DiagnosisOut)
def read_diagnosis(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """The latest diagnosis of each stage; stages without one are omitted."""
    run = readable_run(request.auth, run_id)
    diagnoses = diagnoses_of(run)
    ledger = run_ledger((each.ledger for each in diagnoses), run.project)
    return json_response(
        {
            "stages": [_stage(each, run.project) for each in diagnoses],
            "ledger": priced_ledger(ledger),
            "rules_version": rules_version(run.project),
        }
    )


# Any: a row of the projects table, which endpoints do not import.
def _stage(diagnosis: StageDiagnosis, project: Any) -> dict[str, object]:
    def worth(gain: Gain | None) -> Worth | None:
        return worth_of(
            gain,
            diagnosis.ledger,
            diagnosis.steps_per_second,
            project.gpu_hour_price,
            project.currency,
        )

    return {
        "stage": diagnosis.stage,
        "state": diagnosis.state,
        "diagnosed_at": diagnosis.diagnosed_at,
        "is_final": diagnosis.is_final,
        "step_count": diagnosis.step_count,
        "findings": [_finding(each, worth) for each in diagnosis.findings],
        "cleared": [_finding(each, worth) for each in diagnosis.cleared],
        "healthy": [_label(rule) for rule in diagnosis.healthy],
        "unanswered": [_unanswered(rule) for rule in diagnosis.unanswered],
        "not_applicable": [
            {**_label(rule), "needs": rule.needs} for rule in diagnosis.not_applicable
        ],
        "failed": [_label(rule) for rule in diagnosis.failed],
        "ledger": plain_ledger(diagnosis.ledger),
        "rules_version": diagnosis.rules_version,
    }


def _finding(
    finding: FindingView, worth: Callable[[Gain | None], Worth | None]
) -> dict[str, object]:
    return {
        "rule": finding.rule,
        "title": finding.title,
        "scope": finding.scope,
        "summary": finding.summary,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "is_primary": finding.is_primary,
        "comes_after": finding.comes_after.name if finding.comes_after else None,
        "since": finding.since,
        "changed_at": finding.changed_at,
        "cleared_at": finding.cleared_at,
        "dismissed_reason": finding.dismissal.reason if finding.dismissal else None,
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
        "recommendations": [
            {
                "text": recommendation.text,
                "current": recommendation.current,
                "suggested": recommendation.suggested,
                "code": recommendation.code,
            }
            for recommendation in finding.recommendations
        ],
        "disproof": finding.disproof,
        "gain": _gain(finding.gain, worth(finding.gain)),
        "symptoms": [_finding(symptom, worth) for symptom in finding.symptoms],
    }


def _evidence(evidence: Evidence) -> dict[str, object]:
    return {
        "signal": evidence.signal,
        "statistic": evidence.statistic,
        "value": number(evidence.value),
        "unit": evidence.unit,
        "limit": number(evidence.limit),
        "side": evidence.side,
        "release": number(evidence.release),
    }


def _gain(gain: Gain | None, saved: Worth | None) -> dict[str, object] | None:
    if gain is None:
        return None
    return {
        "bound": number(gain.bound),
        "likely": number(gain.likely),
        "basis": gain.basis,
        "next_limit": gain.next_limit,
        "saves": _saved(saved),
    }


def _saved(worth: Worth | None) -> dict[str, object] | None:
    if worth is None:
        return None
    return {
        "seconds_of_1000_steps": number(worth.seconds),
        "gpu_seconds": number(worth.gpu_seconds),
        "money": number(worth.money),
        "currency": worth.currency,
    }


def _label(rule: RuleLabel) -> dict[str, object]:
    return {"rule": rule.name, "title": rule.title}


def _unanswered(rule: UnansweredRule) -> dict[str, object]:
    missing = [lack.signal or lack.description for lack in rule.lacks]
    supplied_by = [lack.supply for lack in rule.lacks]
    return {
        "rule": rule.name,
        "title": rule.title,
        "lacks": missing,
        "supplied_by": supplied_by,
    }

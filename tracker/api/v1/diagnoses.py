"""What is wrong with a run, by stage, with the evidence."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.http import HttpResponse
from ninja import Router, Schema

from tracker.access import readable_run
from tracker.api.answers import json_response, number
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.diagnosis.finding import Evidence, Gain
from tracker.queries.diagnoses import (
    FindingView,
    RuleLabel,
    StageDiagnosis,
    UnansweredRule,
    diagnoses_of,
)

router = Router(tags=["runs"], auth=ReaderAuth())


class RuleOut(Schema):
    rule: str
    title: str


class UnansweredOut(RuleOut):
    """A rule that could not judge: neither healthy nor ill."""

    lacks: list[str]


class EvidenceOut(Schema):
    signal: str
    statistic: str
    value: float | str
    unit: str
    limit: float | str | None


class RecommendationOut(Schema):
    text: str
    current: str
    suggested: str
    code: str


class GainOut(Schema):
    """Factors of throughput: 1.5 is half as fast again."""

    bound: float | str
    likely: float | str
    basis: str
    next_limit: str


class FindingOut(RuleOut):
    """`symptoms` are findings that this one explains."""

    scope: str
    summary: str
    severity: str
    confidence: float
    is_primary: bool
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
    not_applicable: list[RuleOut]
    failed: list[RuleOut]


class DiagnosisOut(Schema):
    stages: list[StageDiagnosisOut]


@router.get("/runs/{uuid:run_id}/diagnosis", response=DiagnosisOut)
def read_diagnosis(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """The newest diagnosis of each stage; one that was never diagnosed is absent."""
    run = readable_run(request.auth, run_id)
    return json_response({"stages": [_stage(stage) for stage in diagnoses_of(run)]})


def _stage(diagnosis: StageDiagnosis) -> dict[str, object]:
    return {
        "stage": diagnosis.stage,
        "state": diagnosis.state,
        "diagnosed_at": diagnosis.diagnosed_at,
        "is_final": diagnosis.is_final,
        "step_count": diagnosis.step_count,
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "cleared": [_finding(finding) for finding in diagnosis.cleared],
        "healthy": [_label(rule) for rule in diagnosis.healthy],
        "unanswered": [_unanswered(rule) for rule in diagnosis.unanswered],
        "not_applicable": [_label(rule) for rule in diagnosis.not_applicable],
        "failed": [_label(rule) for rule in diagnosis.failed],
    }


def _finding(finding: FindingView) -> dict[str, object]:
    return {
        "rule": finding.rule,
        "title": finding.title,
        "scope": finding.scope,
        "summary": finding.summary,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "is_primary": finding.is_primary,
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
        "gain": _gain(finding.gain),
        "symptoms": [_finding(symptom) for symptom in finding.symptoms],
    }


def _evidence(evidence: Evidence) -> dict[str, object]:
    return {
        "signal": evidence.signal,
        "statistic": evidence.statistic,
        "value": number(evidence.value),
        "unit": evidence.unit,
        "limit": number(evidence.limit),
    }


def _gain(gain: Gain | None) -> dict[str, object] | None:
    if gain is None:
        return None
    return {
        "bound": number(gain.bound),
        "likely": number(gain.likely),
        "basis": gain.basis,
        "next_limit": gain.next_limit,
    }


def _label(rule: RuleLabel) -> dict[str, object]:
    return {"rule": rule.name, "title": rule.title}


def _unanswered(rule: UnansweredRule) -> dict[str, object]:
    lacks = [lack.signal or lack.description for lack in rule.lacks]
    return {"rule": rule.name, "title": rule.title, "lacks": lacks}

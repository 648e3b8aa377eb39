"""Diagnoses as values, for tests that compare them without a database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tracker.diagnosis.engine.finding import Gain
from tracker.diagnosis.engine.judgement import Label
from tracker.diagnosis.engine.measurements import Window
from tracker.queries.diagnoses.diagnoses import (
    Factors,
    FindingView,
    RuleLabel,
    StageDiagnosis,
    UnansweredRule,
)

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def finding(rule: str, **fields: Any) -> FindingView:
    return FindingView(
        **{
            "id": 1,
            "rule": rule,
            "scope": "",
            "title": rule.replace("-", " ").capitalize(),
            "summary": "Something is wrong.",
            "severity": "warning",
            "confidence": 0.8,
            "label": Label.CONFIRMED,
            "factors": Factors(1.0, 1.0, 1.0, 0.8),
            "evidence": (),
            "recommendations": (),
            "disproof": "",
            "gain": Gain(2.0, 1.5, "measured"),
            "is_open": True,
            "is_primary": False,
            "explained_by": "",
            "comes_after": None,
            "since": NOW,
            "since_step": None,
            "window": Window(0, 1),
            "first_step": None,
            "last_step": None,
            "changed_at": NOW,
            "cleared_at": None,
            "history": [],
            "symptoms": [],
            **fields,
        }
    )


def diagnosis(
    *findings: FindingView,
    stage: str = "train",
    healthy: tuple[str, ...] = (),
    unanswered: tuple[str, ...] = (),
) -> StageDiagnosis:
    return StageDiagnosis(
        stage=stage,
        state="finished",
        diagnosed_at=NOW,
        is_final=True,
        window=Window(0, 1),
        step_count=100,
        findings=list(findings),
        cleared=[],
        healthy=[RuleLabel(rule, rule) for rule in healthy],
        unanswered=[UnansweredRule(rule, rule, []) for rule in unanswered],
        not_applicable=[],
        failed=[],
    )

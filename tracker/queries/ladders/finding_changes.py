"""Findings that are gone or new compared with the previous run of a ladder (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracker.queries.diagnoses.diagnoses import StageDiagnosis, every_finding


@dataclass(frozen=True, slots=True)
class RungFinding:
    stage: str
    rule: str
    title: str
    severity: str
    is_primary: bool


@dataclass(frozen=True, slots=True)
class FindingChanges:
    """Findings compared with the previous run.

    A rule that did not answer makes no finding new or gone: `found` were not checked before,
    `unjudged` could not be checked again.
    """

    gone: tuple[RungFinding, ...] = ()
    new: tuple[RungFinding, ...] = ()
    kept: tuple[RungFinding, ...] = ()
    found: tuple[RungFinding, ...] = ()
    unjudged: tuple[RungFinding, ...] = ()


def finding_changes(
    before: Sequence[StageDiagnosis] | None, after: Sequence[StageDiagnosis]
) -> FindingChanges:
    """Compare findings by stage and rule; `before` is None for the baseline."""
    had = {} if before is None else _open_findings(before)
    has = _open_findings(after)
    was_healthy = set() if before is None else _healthy(before)
    is_healthy = _healthy(after)
    return FindingChanges(
        gone=tuple(had[key] for key in had if key not in has and key in is_healthy),
        new=tuple(has[key] for key in has if key in was_healthy and key not in had),
        kept=tuple(has[key] for key in has if key in had),
        found=tuple(has[k] for k in has if k not in had and k not in was_healthy),
        unjudged=tuple(
            had[key] for key in had if key not in has and key not in is_healthy
        ),
    )


def _open_findings(
    diagnoses: Sequence[StageDiagnosis],
) -> dict[tuple[str, str], RungFinding]:
    found: dict[tuple[str, str], RungFinding] = {}
    for diagnosis in diagnoses:
        for finding in every_finding(diagnosis.findings):
            key = (diagnosis.stage, finding.rule)
            found.setdefault(
                key,
                RungFinding(
                    stage=diagnosis.stage,
                    rule=finding.rule,
                    title=finding.title,
                    severity=finding.severity,
                    is_primary=finding.is_primary,
                ),
            )
    return found


def _healthy(diagnoses: Sequence[StageDiagnosis]) -> set[tuple[str, str]]:
    return {
        (diagnosis.stage, rule.name)
        for diagnosis in diagnoses
        for rule in diagnosis.healthy
    }

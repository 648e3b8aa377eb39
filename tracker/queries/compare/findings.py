"""Compares the diagnoses of several runs (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tracker.diagnosis.engine.finding import Evidence
from tracker.queries.diagnoses.diagnoses import (
    FindingView,
    StageDiagnosis,
    every_finding,
)

Key = tuple[str, str]
# Digits with which pages show the values of findings.
SIGNIFICANT_DIGITS = 2
SHARE = "share"


# Rules whose finding is a goal: only the GPU limits the run.
GOOD_STATES = ("gpu-is-the-limit", "gpu-memory-bandwidth-is-the-limit")


class Answer(StrEnum):
    """The answer of a rule for a stage of a run."""

    FINDING = "finding"
    HEALTHY = "healthy"
    UNANSWERED = "unanswered"  # signals were missing, or the rule failed
    NOT_APPLICABLE = "not applicable"
    NOT_ASKED = "not diagnosed"  # no such stage, or not diagnosed yet


class Became(StrEnum):
    """The change of a finding against the reference run."""

    FIXED = "fixed"  # the reference has it; here it was judged and not found
    LOST = "lost"  # the same for a finding that describes a good state
    REACHED = "reached"
    NEW = "new"
    SMALLER = "smaller"  # both have it, and here its value is closer to the limit
    LARGER = "larger"
    SAME = "unchanged"
    UNKNOWN = ""  # one of the two was not judged, or neither has it


@dataclass(frozen=True, slots=True)
class FindingCell:
    """`measured` is the evidence that a row's findings share; None without any."""

    answer: Answer
    finding: FindingView | None
    became: Became = Became.UNKNOWN
    measured: Evidence | None = None

    @property
    def differs(self) -> bool:
        return self.became in (Became.FIXED, Became.NEW, Became.LOST, Became.REACHED)


@dataclass(frozen=True, slots=True)
class FindingRow:
    stage: str
    rule: str
    title: str
    cells: list[FindingCell]


def compare_findings(
    runs: Sequence[Sequence[StageDiagnosis]], reference: int
) -> list[FindingRow]:
    """Return a row for each rule with a finding in any run, the worst first."""
    answers = [_answers(diagnoses) for diagnoses in runs]
    found: dict[Key, list[FindingView]] = {}
    for answered in answers:
        for key, (_, finding) in answered.items():
            if finding is not None:
                found.setdefault(key, []).append(finding)

    rows = [
        _row(key, [answered.get(key) for answered in answers], reference)
        for key in found
    ]
    rank = {key: _rank(findings) for key, findings in found.items()}
    return sorted(rows, key=lambda row: rank[row.stage, row.rule], reverse=True)


def count_changes(rows: Sequence[FindingRow], run: int) -> dict[Became, int]:
    """Count the changes of findings in the run at this position."""
    counts = dict.fromkeys(set(Became) - {Became.UNKNOWN}, 0)
    for row in rows:
        if row.cells[run].became in counts:
            counts[row.cells[run].became] += 1
    return counts


FindingAnswer = tuple[Answer, FindingView | None]


def _answers(diagnoses: Sequence[StageDiagnosis]) -> dict[Key, FindingAnswer]:
    answers: dict[Key, FindingAnswer] = {}
    for diagnosis in diagnoses:
        stage = diagnosis.stage
        for answer, rules in (
            (Answer.NOT_APPLICABLE, diagnosis.not_applicable),
            (Answer.UNANSWERED, diagnosis.unanswered),
            (Answer.UNANSWERED, diagnosis.failed),
            (Answer.HEALTHY, diagnosis.healthy),
        ):
            answers |= {(stage, rule.name): (answer, None) for rule in rules}
        # Findings are ordered by weight; the worst one of a rule counts.
        for finding in reversed(list(every_finding(diagnosis.findings))):
            answers[stage, finding.rule] = (Answer.FINDING, finding)
    return answers


def _row(
    key: Key, answers: Sequence[FindingAnswer | None], reference: int
) -> FindingRow:
    stage, rule = key
    cells = [answer or (Answer.NOT_ASKED, None) for answer in answers]
    theirs, reference_finding = cells[reference]
    title = next(finding.title for _, finding in cells if finding is not None)
    return FindingRow(
        stage,
        rule,
        title,
        [
            FindingCell(
                answer,
                finding,
                Became.UNKNOWN
                if position == reference
                else _of_rule(
                    rule, _became(theirs, answer, reference_finding, finding)
                ),
                _measured(finding, reference_finding),
            )
            for position, (answer, finding) in enumerate(cells)
        ],
    )


def _of_rule(rule: str, became: Became) -> Became:
    if rule not in GOOD_STATES:
        return became
    return {Became.FIXED: Became.LOST, Became.NEW: Became.REACHED}.get(became, became)


def _became(
    reference: Answer,
    here: Answer,
    theirs: FindingView | None,
    ours: FindingView | None,
) -> Became:
    if theirs is not None and ours is not None:
        return _size(_measured(theirs, theirs), _measured(ours, theirs))
    return {
        (Answer.FINDING, Answer.HEALTHY): Became.FIXED,
        (Answer.HEALTHY, Answer.FINDING): Became.NEW,
    }.get((reference, here), Became.UNKNOWN)


def _measured(
    finding: FindingView | None, theirs: FindingView | None
) -> Evidence | None:
    """Return the evidence that represents the size of a finding, by that of another one.

    It is a share that crossed its limit, or else the first evidence that did.
    """
    if finding is None or theirs is None:
        return None
    crossed = [each for each in theirs.evidence if each.limit is not None]
    crossed.sort(key=lambda each: each.unit != SHARE)
    keys = [(each.signal, each.statistic, each.unit) for each in crossed[:1]]
    return next(
        (
            each
            for each in finding.evidence
            if each.limit is not None
            and (each.signal, each.statistic, each.unit) in keys
        ),
        None,
    )


def _size(theirs: Evidence | None, ours: Evidence | None) -> Became:
    """Compare how far both exceed their limits; equal rounded values are the same."""
    if theirs is None or ours is None or _rounded(theirs) == _rounded(ours):
        return Became.SAME
    return Became.SMALLER if _beyond(ours) < _beyond(theirs) else Became.LARGER


def _beyond(evidence: Evidence) -> float:
    return abs(evidence.value - (evidence.limit or 0.0))


def _rounded(evidence: Evidence) -> str:
    return f"{evidence.value:.{SIGNIFICANT_DIGITS}g}"


def _rank(findings: Sequence[FindingView]) -> tuple[bool, float]:
    return (
        any(finding.is_primary for finding in findings),
        max(finding.confidence for finding in findings),
    )

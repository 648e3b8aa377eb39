"""The diagnoses of a run, prepared for display."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
from django.db.models import F

from tracker.diagnosis.breakdown.categories import Ledger
from tracker.diagnosis.engine.causes import SEVERITIES, weight
from tracker.diagnosis.engine.finding import (
    NOT_APPLICABLE,
    Evidence,
    Gain,
    Recommendation,
    Severity,
)
from tracker.diagnosis.engine.judgement import Judgement, Label, label_of
from tracker.diagnosis.engine.measurements import Window
from tracker.diagnosis.engine.supply import Supply, supply_of
from tracker.diagnosis.input.activities import CODE_PROFILE
from tracker.diagnosis.rules import RULES
from tracker.diagnosis.signals import SIGNALS
from tracker.models import Diagnosis, Finding, Run
from tracker.queries.diagnoses.time_breakdowns import ledger_from
from tracker.queries.runs.columns import each_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ROUNDING = 1e-6
TITLES = {rule.name: rule.title for rule in RULES}


@dataclass(frozen=True, slots=True)
class RuleLabel:
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class RuleElsewhere(RuleLabel):
    """A rule that does not apply to this stage; `needs` is the missing condition."""

    needs: str


@dataclass(frozen=True, slots=True)
class Lack:
    """A missing signal, or another missing input in `description`.

    `code` is the line or command that supplies it, or `advice` is a sentence.
    """

    signal: str
    description: str
    code: str
    advice: str = ""

    @property
    def supply(self) -> str:
        return self.code or self.advice


@dataclass(frozen=True, slots=True)
class UnansweredRule:
    name: str
    title: str
    lacks: list[Lack]

    @property
    def needs(self) -> str:
        """Return all missing inputs as a part of a sentence."""
        return "; ".join(self.each_need)

    @property
    def each_need(self) -> list[str]:
        return [_within_sentence(lack.description) for lack in self.lacks]


@dataclass(frozen=True, slots=True)
class Factors:
    """The factors of the confidence; short runs are capped below "confirmed"."""

    quality: float
    persistence: float
    margin: float
    corroboration: float

    @property
    def product(self) -> float:
        return self.quality * self.persistence * self.margin * self.corroboration


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    at: datetime
    what: str  # opened, changed or cleared
    severity: str
    label: Label
    is_primary: bool


@dataclass(frozen=True, slots=True)
class Dismissal:
    """Who dismissed a finding, and why."""

    at: datetime
    by: str  # "" if the account is deleted
    reason: str


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding with all of its details, and its symptoms nested."""

    id: int
    rule: str
    scope: str  # "" for the whole stage, or "gpu/0"
    title: str
    summary: str
    severity: str
    confidence: float
    label: Label
    factors: Factors
    evidence: tuple[Evidence, ...]
    recommendations: tuple[Recommendation, ...]
    disproof: str
    gain: Gain | None
    is_open: bool
    is_primary: bool
    explained_by: str
    # The finding that has to be fixed first; None if there is none.
    comes_after: RuleLabel | None
    since: datetime
    since_step: float | None
    window: Window
    first_step: float | None
    last_step: float | None
    changed_at: datetime
    cleared_at: datetime | None
    history: list[HistoryEntry]
    symptoms: list[FindingView]
    dismissal: Dismissal | None = None
    # Other GPUs with the same finding.
    also_on: tuple[str, ...] = ()

    @property
    def is_held_back(self) -> bool:
        """Return whether the confidence is capped because little was judged."""
        return self.factors.product > self.confidence + ROUNDING

    @property
    def cites_profile(self) -> bool:
        """Return whether its evidence comes from the code profile."""
        return any(row.signal == CODE_PROFILE for row in self.evidence)

    @property
    def all_symptoms(self) -> list[FindingView]:
        """Return its direct and indirect symptoms."""
        return list(every_finding(self.symptoms))


@dataclass(frozen=True, slots=True)
class StageDiagnosis:
    """`findings` are open causes, the primary one first; `cleared` the newest first.

    `window` is the judged part of the stage; None if nothing was measured over time.
    """

    stage: str
    state: str
    diagnosed_at: datetime
    is_final: bool
    window: Window | None
    step_count: int
    findings: list[FindingView]
    cleared: list[FindingView]
    healthy: list[RuleLabel]
    unanswered: list[UnansweredRule]
    not_applicable: list[RuleElsewhere]
    failed: list[RuleLabel]
    ledger: Ledger | None = None
    steps_per_second: float | None = None
    examples_per_second: float | None = None
    median_step_seconds: float | None = None
    data_wait_share: float | None = None
    rules_version: str = ""


@dataclass(frozen=True, slots=True)
class MainFinding:
    rule: str
    title: str
    stage: str
    severity: str
    label: Label

    @property
    def is_possible(self) -> bool:
        """Whether its evidence is weak; the run page lists it as possible, too."""
        return self.label is Label.POSSIBLE


def diagnoses_of(run: Run) -> list[StageDiagnosis]:
    """Return the diagnoses of a run's stages in the order the stages began."""
    return diagnoses_of_runs([run.id])[run.id]


def diagnoses_of_runs(run_ids: Collection[UUID]) -> dict[UUID, list[StageDiagnosis]]:
    """Return the diagnoses of each run's stages, with two statements in total."""
    found: dict[int, list[Finding]] = {}
    findings = Finding.objects.filter(run_id__in=run_ids).select_related("dismissed_by")
    for finding in findings.order_by("id"):
        found.setdefault(finding.stage_id, []).append(finding)

    stored = (
        Diagnosis.objects.filter(run_id__in=run_ids)
        .select_related("stage")
        .order_by(F("stage__started_at").asc(nulls_last=True), "stage_id")
    )
    diagnoses: dict[UUID, list[StageDiagnosis]] = {run_id: [] for run_id in run_ids}
    for diagnosis in stored:
        shown = _stage_diagnosis(diagnosis, found.get(diagnosis.stage_id, []))
        diagnoses[diagnosis.run_id].append(shown)
    return diagnoses


def every_finding(findings: Iterable[FindingView]) -> Iterator[FindingView]:
    """Yield findings, each before its direct and indirect symptoms."""
    for finding in findings:
        yield finding
        yield from every_finding(finding.symptoms)


def main_findings(run_ids: Collection[UUID]) -> dict[UUID, MainFinding]:
    """Return each run's worst primary finding; runs without one are absent.

    A possible finding is one only if all are.
    """
    rows = Finding.objects.filter(
        run_id__in=each_of(run_ids),
        is_open=True,
        is_primary=True,
        dismissed_at=None,
    ).values_list(
        *("run_id", "rule", "title", "stage__name", "severity", "confidence", "id"),
        named=True,
    )
    worst_last = sorted(
        rows,
        key=lambda row: (
            label_of(row.confidence) is not Label.POSSIBLE,
            SEVERITIES.index(Severity(row.severity)),
            row.confidence,
            row.id,
        ),
    )
    return {
        row.run_id: MainFinding(
            row.rule,
            row.title,
            row.stage__name,
            row.severity,
            label_of(row.confidence),
        )
        for row in worst_last
    }


def _stage_diagnosis(diagnosis: Diagnosis, findings: list[Finding]) -> StageDiagnosis:
    unanswered, not_applicable = _unanswered(diagnosis.unanswered)
    is_judged = diagnosis.window_start is not None and diagnosis.window_end is not None
    return StageDiagnosis(
        stage=diagnosis.stage.name,
        state=diagnosis.stage.state,
        diagnosed_at=diagnosis.diagnosed_at,
        is_final=diagnosis.is_final,
        window=(
            Window(diagnosis.window_start or 0, diagnosis.window_end or 0)
            if is_judged
            else None
        ),
        step_count=diagnosis.step_count,
        findings=_causes([f for f in findings if f.is_open]),
        cleared=_cleared([f for f in findings if not f.is_open]),
        healthy=_labels(diagnosis.healthy),
        unanswered=unanswered,
        not_applicable=not_applicable,
        failed=_labels(diagnosis.failed),
        ledger=ledger_from(diagnosis.ledger),
        steps_per_second=diagnosis.steps_per_second,
        examples_per_second=diagnosis.examples_per_second,
        median_step_seconds=diagnosis.median_step_seconds,
        data_wait_share=diagnosis.data_wait_share,
        rules_version=diagnosis.rules_version,
    )


def _causes(findings: list[Finding]) -> list[FindingView]:
    judged = [(_judgement(finding), finding) for finding in findings]
    judged.sort(key=lambda pair: (pair[1].is_primary, weight(pair[0])), reverse=True)

    shown: set[int] = set()

    def view(judgement: Judgement, finding: Finding) -> FindingView:
        shown.add(finding.pk)
        symptoms = [
            view(*other)
            for other in judged
            if other[1].pk not in shown and _is_symptom(other[1], finding)
        ]
        return _view(judgement, finding, symptoms)

    return [view(*pair) for pair in judged if not pair[1].explained_by]


def _is_symptom(finding: Finding, cause: Finding) -> bool:
    shares_scope = finding.scope == cause.scope or "" in (finding.scope, cause.scope)
    return finding.explained_by == cause.rule and shares_scope


def _cleared(findings: list[Finding]) -> list[FindingView]:
    findings.sort(key=lambda finding: finding.changed_at, reverse=True)
    return [_view(_judgement(finding), finding, []) for finding in findings]


def _judgement(finding: Finding) -> Judgement:
    return msgspec.convert(finding.body["judgement"], Judgement)


def _view(
    judgement: Judgement, finding: Finding, symptoms: list[FindingView]
) -> FindingView:
    judged = judgement.finding
    return FindingView(
        id=finding.pk,
        rule=finding.rule,
        scope=finding.scope,
        title=finding.title,
        summary=judged.summary,
        severity=finding.severity,
        confidence=finding.confidence,
        label=label_of(finding.confidence),
        factors=Factors(
            judged.quality, judgement.persistence, judged.margin, judged.corroboration
        ),
        evidence=judged.evidence,
        recommendations=judged.recommendations,
        disproof=judged.disproof,
        gain=judged.gain,
        is_open=finding.is_open,
        is_primary=finding.is_primary,
        explained_by=finding.explained_by,
        comes_after=(_label(judgement.comes_after) if judgement.comes_after else None),
        since=EPOCH + timedelta(microseconds=finding.body["since"]),
        since_step=finding.body["since_step"],
        window=judgement.window,
        first_step=judgement.first_step,
        last_step=judgement.last_step,
        changed_at=finding.changed_at,
        cleared_at=finding.cleared_at,
        history=[
            HistoryEntry(
                at=datetime.fromisoformat(entry["at"]),
                what=entry["what"],
                severity=entry["severity"],
                label=label_of(entry["confidence"]),
                is_primary=entry["is_primary"],
            )
            for entry in finding.history
        ],
        symptoms=symptoms,
        dismissal=_dismissal(finding),
    )


def _dismissal(finding: Finding) -> Dismissal | None:
    if finding.dismissed_at is None:
        return None
    by = finding.dismissed_by
    return Dismissal(
        finding.dismissed_at, by.get_username() if by else "", finding.dismissed_reason
    )


def _unanswered(
    unanswered: dict[str, list[str]],
) -> tuple[list[UnansweredRule], list[RuleElsewhere]]:
    """Separate rules with missing inputs from rules that do not apply to the stage."""
    missing = {
        rule: needs
        for rule, needs in unanswered.items()
        if not is_about_another_stage(needs)
    }
    rules = [
        UnansweredRule(name, TITLES.get(name, name), [_lack(lack) for lack in needs])
        for name, needs in missing.items()
    ]
    elsewhere = [
        RuleElsewhere(name, TITLES.get(name, name), "; ".join(needs))
        for name, needs in unanswered.items()
        if name not in missing
    ]
    return rules, elsewhere


def is_about_another_stage(missing: Collection[str]) -> bool:
    """Return whether a rule with these missing inputs does not apply to the stage."""
    return bool(missing) and NOT_APPLICABLE.issuperset(missing)


def _lack(name: str) -> Lack:
    signal = SIGNALS.get(name)
    supply = supply_of(name) or Supply()
    if signal is None:
        return Lack("", name, supply.code, supply.advice)
    return Lack(signal.name, signal.description, supply.code, supply.advice)


def _within_sentence(text: str) -> str:
    """Remove the capital and the final period; "GPU" and "CPU" stay unchanged."""
    text = text.rstrip(".")
    is_word = text[1:2].islower()
    return text[:1].lower() + text[1:] if is_word else text


def _labels(names: Iterable[str]) -> list[RuleLabel]:
    return [_label(name) for name in names]


def _label(name: str) -> RuleLabel:
    return RuleLabel(name, TITLES.get(name, name))

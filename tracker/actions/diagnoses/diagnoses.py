"""Runs all rules on the stages of a run, and stores their results."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from tracker.actions.alerts import raise_alerts
from tracker.actions.diagnoses.stage_figures import Figures, figures_of
from tracker.actions.runs.run_summaries import FINDINGS, LEDGERS, gather
from tracker.actions.runs.states import SILENCE, may_be_contradicted
from tracker.actions.work import request_work
from tracker.diagnosis.engine.diagnosis import Diagnosis as Outcome
from tracker.diagnosis.engine.diagnosis import Key, diagnose
from tracker.diagnosis.engine.judgement import Judgement, label_of
from tracker.diagnosis.engine.limits import rules_under
from tracker.models import Diagnosis, Finding, Run, Stage, State, Work, WorkKind
from tracker.queries.diagnoses.rule_settings import settings_of
from tracker.queries.diagnoses.rules_version import rules_version
from tracker.queries.diagnoses.signals import read_measurements
from tracker.queries.ladders.recoveries import recoveries

# Live runs diagnosed per pass; this many use a small part of a worker's CPU.
LIVE_AT_ONCE = 60

# Limits the history of a finding that opens and clears for days.
LONGEST_HISTORY = 100

FIELDS = [
    "is_open",
    "is_primary",
    "explained_by",
    "severity",
    "confidence",
    "title",
    "body",
    "opened_at",
    "changed_at",
    "cleared_at",
    "history",
]


def runs_to_diagnose() -> list[UUID]:
    """Return live runs, least recently diagnosed first.

    Limited in number: with very many live runs, each is diagnosed less often, instead
    of delaying compaction and pages.
    """
    # Failed diagnoses are retried by their work rows.
    failing = Work.objects.filter(kind=WorkKind.DIAGNOSE).exclude(last_error="")
    oldest_first = (
        Run.objects.filter(
            state=State.RUNNING, last_seen_at__gte=timezone.now() - SILENCE
        )
        .not_in_trash()
        .exclude(id__in=failing.values("run_id"))
        .annotate(diagnosed_at=Max("diagnoses__diagnosed_at"))
        .order_by(F("diagnosed_at").asc(nulls_first=True), "id")
    )
    return list(oldest_first.values_list("id", flat=True)[:LIVE_AT_ONCE])


def diagnose_run(run_id: UUID) -> None:
    """Diagnose each stage of a run; idempotent."""
    stages = Stage.objects.filter(run_id=run_id, run__trashed_at=None)
    for stage in stages.select_related("run__project").order_by("id"):
        diagnose_stage(stage)


def diagnose_stage(stage: Stage) -> None:
    has_ended = stage.state != State.RUNNING
    measurements = read_measurements(stage)
    outcome = diagnose(
        measurements,
        rules=rules_under(settings_of(stage.run.project)),
        open_findings=_open_findings(stage),
        has_ended=has_ended,
        recoveries=recoveries(but=stage.run_id, until=stage.ended_at),
    )
    figures = figures_of(stage, measurements, outcome.window)

    now = timezone.now()
    with transaction.atomic():
        # Two concurrent passes would open the same finding twice.
        locked = (
            Stage.objects.select_for_update(no_key=True).filter(pk=stage.pk).first()
        )
        if locked is None:
            return  # deleted concurrently
        if locked.state != stage.state:
            return  # the change requests another diagnosis
        is_certain = not may_be_contradicted(stage)
        is_final = has_ended and is_certain
        is_frozen = is_final and _has_predicted(stage, outcome)
        _store_outcome(stage, outcome, figures, now, is_final=is_final)
        _store_findings(stage, outcome.findings, now, keeps_gain=is_frozen)
        if is_certain:
            raise_alerts(stage, outcome.findings, now)
        else:
            seconds = SILENCE.total_seconds()
            request_work(stage.run_id, WorkKind.DIAGNOSE, delay_seconds=seconds)
        gather([stage.run_id], LEDGERS, FINDINGS)


def _open_findings(stage: Stage) -> set[Key]:
    found = Finding.objects.filter(stage=stage, is_open=True)
    return set(found.values_list("rule", "scope"))


def _has_predicted(stage: Stage, outcome: Outcome) -> bool:
    """Return whether the predictions of an ended stage were made from the same data.

    Newer rules judge again but do not predict again: the outcome may be known by now.
    """
    before = Diagnosis.objects.filter(stage=stage, is_final=True).first()
    if before is None:
        return False
    window = outcome.window
    ends = (window.start, window.end) if window else (None, None)
    has_other_rules = before.rules_version != rules_version(stage.run.project)
    return has_other_rules or (before.window_start, before.window_end) == ends


def _store_outcome(
    stage: Stage, outcome: Outcome, figures: Figures, now: datetime, *, is_final: bool
) -> None:
    window = outcome.window
    Diagnosis.objects.update_or_create(
        stage=stage,
        defaults={
            "run_id": stage.run_id,
            "diagnosed_at": now,
            "is_final": is_final,
            "window_start": window.start if window else None,
            "window_end": window.end if window else None,
            "step_count": outcome.steady.step_count if outcome.steady else 0,
            "healthy": list(outcome.healthy),
            "unanswered": {
                rule: list(missing) for rule, missing in outcome.unanswered.items()
            },
            "failed": list(outcome.failed),
            "rules_version": rules_version(stage.run.project),
            **figures,
        },
    )


def _store_findings(
    stage: Stage, judgements: Iterable[Judgement], now: datetime, *, keeps_gain: bool
) -> None:
    known = {
        (finding.rule, finding.scope): finding
        for finding in Finding.objects.filter(stage=stage)
    }
    for judgement in judgements:
        finding = known.pop((judgement.rule, judgement.scope), None)
        if finding is None:
            _open(Finding(run_id=stage.run_id, stage=stage), judgement, now).save()
        elif not finding.is_open:
            _open(finding, judgement, now).save(update_fields=FIELDS)
        elif _update(finding, judgement, now, keeps_gain=keeps_gain):
            finding.save(update_fields=FIELDS)

    for finding in known.values():
        if finding.is_open:
            _clear(finding, now).save(update_fields=FIELDS)


def _open(finding: Finding, judgement: Judgement, now: datetime) -> Finding:
    finding.rule, finding.scope = judgement.rule, judgement.scope
    finding.is_open, finding.cleared_at = True, None
    finding.opened_at = finding.changed_at = now
    _fill(finding, judgement)
    # Later passes judge later windows; this one has the start.
    finding.body["since"] = judgement.window.start
    finding.body["since_step"] = judgement.first_step
    _remember(finding, "opened", now)
    return finding


def _update(
    finding: Finding, judgement: Judgement, now: datetime, *, keeps_gain: bool
) -> bool:
    """Store the newest values; return whether any differ."""
    before = (_outline(finding), finding.confidence, finding.body)
    since = {key: finding.body.get(key) for key in ("since", "since_step")}
    gain = finding.body["judgement"]["finding"]["gain"]
    _fill(finding, judgement)
    finding.body |= since
    if keeps_gain and gain is not None:
        finding.body["judgement"]["finding"]["gain"] = gain

    # Values drift with every pass; the history records only visible changes.
    if _outline(finding) != before[0]:
        finding.changed_at = now
        _remember(finding, "changed", now)
    return before != (_outline(finding), finding.confidence, finding.body)


def _clear(finding: Finding, now: datetime) -> Finding:
    finding.is_open = finding.is_primary = False
    finding.explained_by = ""
    finding.cleared_at = finding.changed_at = now
    _remember(finding, "cleared", now)
    return finding


def _fill(finding: Finding, judgement: Judgement) -> None:
    finding.is_primary = judgement.is_primary
    finding.explained_by = judgement.explained_by
    finding.severity = judgement.finding.severity
    finding.confidence = judgement.confidence
    finding.title = judgement.title
    # Through JSON, so that it compares equal to the value from the database.
    finding.body = {"judgement": msgspec.json.decode(msgspec.json.encode(judgement))}


def _outline(finding: Finding) -> tuple[Any, ...]:
    return (
        finding.title,
        finding.is_primary,
        finding.explained_by,
        str(finding.severity),
        label_of(finding.confidence),
    )


def _remember(finding: Finding, what: str, now: datetime) -> None:
    entry = {
        "at": now.isoformat(),
        "what": what,
        "severity": str(finding.severity),
        # Not rounded: rounding could change its confidence label.
        "confidence": finding.confidence,
        "is_primary": finding.is_primary,
    }
    history = [*finding.history, entry]
    if len(history) > LONGEST_HISTORY:
        history = [history[0], *history[-LONGEST_HISTORY + 1 :]]
    finding.history = history

"""Checks metric rules of live runs; opens and ends incidents.

There is one incident per rule and run, whichever series match. It ends after the
condition has been false for a while, so that a metric at its limit does not notify
repeatedly.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from tracker.actions.alerts import NEWS, raise_alert
from tracker.actions.people.notifications import News, notify
from tracker.actions.runs.states import SILENCE
from tracker.alerts.metric_conditions import (
    MEANS,
    REST_MINUTES,
    Period,
    holds_now,
)
from tracker.alerts.metric_texts import describe, shown_value
from tracker.models import (
    Alert,
    MetricIncident,
    MetricRule,
    NotificationKind,
    Run,
    State,
)
from tracker.queries.series.metric_series import condition_of, newest_points, series_of

REST = timedelta(minutes=REST_MINUTES)
# Runs checked per pass, most recently active first.
MAX_RUNS = 500
SEVERITY = "warning"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def runs_to_check(now: datetime | None = None) -> list[UUID]:
    """Return running or just ended runs with active rules."""
    now = now or timezone.now()
    active = MetricRule.objects.filter(paused_at=None)
    runs = Run.objects.not_in_trash().filter(
        Q(project__in=active.filter(run=None).values("project"))
        | Q(id__in=active.filter(run__isnull=False).values("run")),
        Q(ended_at=None) | Q(ended_at__gt=now - NEWS),
        last_seen_at__gte=now - SILENCE,
    )
    newest = runs.order_by("-last_seen_at").values_list("id", flat=True)
    return list(newest[:MAX_RUNS])


def check_rules(run_id: UUID, now: datetime | None = None) -> None:
    """Check all rules of one run; idempotent."""
    now = now or timezone.now()
    run = Run.objects.not_in_trash().filter(id=run_id).select_related("project").first()
    if run is None:
        return
    rules = MetricRule.objects.filter(
        Q(run=None) | Q(run=run), project=run.project_id, paused_at=None
    )
    for rule in rules.order_by("id"):
        found = _find(run, rule, now)
        if found is None:
            _clear(run, rule, now)
        else:
            _open(run, rule, *found, now)


def end_incidents_of_ended_runs(now: datetime | None = None) -> None:
    """End open incidents of ended runs without a notification."""
    now = now or timezone.now()
    over = MetricIncident.objects.filter(ended_at=None).exclude(
        run__state=State.RUNNING
    )
    over.filter(run__last_seen_at__lt=now - SILENCE).update(ended_at=now)


def _find(run: Run, rule: MetricRule, now: datetime) -> tuple[str, Period] | None:
    """Return the first series in which the condition holds, and its period."""
    condition = condition_of(rule)
    is_gap = condition.name == "no-point"
    if is_gap and run.state != State.RUNNING:
        return None
    at = (now - EPOCH) // MICROSECOND
    series = series_of(run, rule.path)
    for path, points in newest_points(run, series, condition):
        period = holds_now(points, condition, at)
        if period is not None:
            return path, period
    if is_gap and not series and rule.run_id == run.id:
        # A rule for one run expects points from its start.
        begin = run.started_at or run.created_at
        if begin + timedelta(minutes=rule.duration) < now:
            start = (begin - EPOCH) // MICROSECOND
            return rule.path, Period(start, at, 0.0, float("nan"))
    return None


def _open(run: Run, rule: MetricRule, path: str, period: Period, now: datetime) -> None:
    incidents = MetricIncident.objects.filter(rule=rule, run=run, ended_at=None)
    if incidents.exists():
        incidents.exclude(clear_since=None).update(clear_since=None)
        return
    try:
        with transaction.atomic():
            incident = MetricIncident.objects.create(
                rule=rule, run=run, path=path, began_at=now
            )
            _announce(run, rule, incident, describe(rule), _summary(path, rule, period))
    except IntegrityError:
        return  # another worker opened it, or the rule was deleted


def _clear(run: Run, rule: MetricRule, now: datetime) -> None:
    incidents = MetricIncident.objects.filter(rule=rule, run=run, ended_at=None)
    incidents.filter(clear_since=None).update(clear_since=now)
    with transaction.atomic():
        due = incidents.filter(clear_since__lte=now - REST)
        for incident in due:
            if due.filter(id=incident.id).update(ended_at=F("clear_since")):
                title = f"Resolved: {describe(rule)}"
                lasted = incident.clear_since or now
                minutes = round((lasted - incident.began_at).total_seconds() / 60)
                summary = f"{incident.path} is back to normal after {minutes} min."
                _announce(run, rule, incident, title, summary, is_over=True)


def _announce(
    run: Run,
    rule: MetricRule,
    incident: MetricIncident,
    title: str,
    summary: str,
    *,
    is_over: bool = False,
) -> None:
    """Notify the rule's owner; for a shared rule also the followers and channels."""
    name = f"rule:{incident.id}:over" if is_over else f"rule:{incident.id}"
    if rule.is_shared:
        raise_alert(
            Alert(
                project=run.project,
                run=run,
                subject=name,
                severity=SEVERITY,
                title=title[:300],
                summary=summary,
            ),
            also=[rule.owner_id],
        )
        return
    notice = News(
        kind=NotificationKind.RULE,
        incident=name,
        title=title,
        summary=summary,
        address=f"/runs/{run.id}/charts",
        severity=SEVERITY,
    )
    notify([rule.owner_id], notice, project=run.project, run=run)


def _summary(path: str, rule: MetricRule, period: Period) -> str:
    if rule.condition == "no-point":
        last = EPOCH + period.first_time * MICROSECOND
        return f"{path} has no new points; the next was due by {last:%H:%M} UTC."
    value = shown_value(period.value)
    if rule.condition in MEANS:
        return f"The mean of {path} is {value} at step {period.step:,.10g}."
    return f"{path} is {value} at step {period.step:,.10g}."

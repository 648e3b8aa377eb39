"""The metric rules of a project, and when a rule would have fired in past runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db.models import Count, Max, Q

from tracker.actor import Actor
from tracker.alerts.metric_conditions import periods
from tracker.models import Attribute, MetricIncident, MetricRule, Project, Run
from tracker.queries.series.metric_series import condition_of, points_of, series_of

# A test looks for series in this many of the newest runs, and tests at most this many.
RUNS_LOOKED_AT, RUNS_TESTED = 50, 10
SERIES_TESTED = 8
# Longer series would delay the page too much.
MAX_POINTS = 2_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RuleRow:
    id: int
    path: str
    condition: str
    limit: float | None
    duration: float
    unit: str
    run_name: str  # "": all runs
    owner: str
    is_own: bool
    is_shared: bool
    is_paused: bool
    incident_count: int
    last_at: datetime | None
    # The runs in which the condition is currently met.
    firing: list[tuple[UUID, str]]


@dataclass(frozen=True, slots=True)
class Firing:
    """When a rule would have fired in a past run, and for how long."""

    path: str
    at: datetime
    step: float
    minutes: float


@dataclass(frozen=True, slots=True)
class TestedRun:
    run_id: UUID
    name: str
    series_count: int
    # None if the series are too long to test.
    firings: list[Firing] | None


def rules_of(project: Project, actor: Actor) -> list[RuleRow]:
    """Return the actor's own rules and the shared ones, the newest first."""
    seen = Q(is_shared=True) | Q(owner_id=actor.user_id)
    rules = MetricRule.objects.filter(seen, project=project)
    rules = rules.select_related("owner", "run").annotate(
        incident_count=Count("incidents"), last_at=Max("incidents__began_at")
    )
    firing: dict[int, list[tuple[UUID, str]]] = {}
    open_incidents = MetricIncident.objects.filter(
        rule__project=project, ended_at=None, run__trashed_at=None
    )
    for incident in open_incidents.select_related("run").order_by("-id"):
        of_rule = firing.setdefault(incident.rule_id, [])
        of_rule.append((incident.run_id, incident.run.name))
    return [
        RuleRow(
            id=rule.id,
            path=rule.path,
            condition=rule.condition,
            limit=rule.limit,
            duration=rule.duration,
            unit=rule.unit,
            run_name=rule.run.name if rule.run else "",
            owner=rule.owner.display_name,
            is_own=rule.owner_id == actor.user_id,
            is_shared=rule.is_shared,
            is_paused=rule.paused_at is not None,
            incident_count=rule.incident_count,
            last_at=rule.last_at,
            firing=firing.get(rule.id, []),
        )
        for rule in rules.order_by("-id")
    ]


def tested_on_past_runs(rule: MetricRule) -> list[TestedRun]:
    """Return the newest runs with such a series, and when the rule would have fired."""
    runs = Run.objects.filter(project=rule.project_id).not_in_trash()
    if rule.run_id is not None:
        runs = runs.filter(id=rule.run_id)
    newest = runs.order_by("-created_at", "-id")[:RUNS_LOOKED_AT]
    tested = []
    for run in newest:
        series = series_of(run, rule.path)
        if series:
            tested.append(_tested(run, series, rule))
        if len(tested) >= RUNS_TESTED:
            break
    return tested


def _tested(run: Run, series: list[Attribute], rule: MetricRule) -> TestedRun:
    some = series[:SERIES_TESTED]
    is_long = sum(row.count for row in some) > MAX_POINTS
    firings = None
    if not is_long:
        firings = sorted(_firings(run, some, rule), key=lambda firing: firing.at)
    return TestedRun(
        run_id=run.id, name=run.name, series_count=len(series), firings=firings
    )


def _firings(run: Run, series: list[Attribute], rule: MetricRule) -> Iterator[Firing]:
    for row in series:
        points = points_of(run, row.path)
        for period in periods(points, condition_of(rule)):
            yield Firing(
                path=row.path,
                at=EPOCH + timedelta(microseconds=period.first_time),
                step=period.step,
                minutes=(period.last_time - period.first_time) / 60_000_000,
            )

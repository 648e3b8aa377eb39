"""The home page: running runs, recent runs and open alerts.

Covers all projects of an actor, with a number of statements independent of their number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    Max,
    OuterRef,
    Q,
    Subquery,
    Value,
)
from django.db.models.functions import Concat

from tracker.actor import Actor
from tracker.models import Alert, Attribute, Finding, Kind, Project, Run, Stage, State
from tracker.queries.diagnoses.diagnoses import MainFinding, main_findings
from tracker.queries.run.namespaces import MONITORING, STEP_SECONDS, monitoring_path
from tracker.queries.run.run import silent_for
from tracker.queries.runs.columns import run_seconds
from tracker.queries.runs.verdicts import Verdict, verdicts

LIVE_SHOWN = 20
RECENT_SHOWN = 10
ALERTS_SHOWN = 6
# Older alerts are listed on the pages of their projects.
ALERTS_FOR = timedelta(days=7)
LATE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class LiveRun:
    """`step` is the highest logged step; None if unknown."""

    id: UUID
    name: str
    project_name: str
    stages: tuple[str, ...]
    step: float | None
    running_for: float | None  # seconds in which stages ran, without pauses
    silent_for: timedelta | None  # None if it responds
    main_finding: MainFinding | None


@dataclass(frozen=True, slots=True)
class LiveRuns:
    count: int
    shown: list[LiveRun]


@dataclass(frozen=True, slots=True)
class RecentRun:
    id: UUID
    name: str
    state: str
    project_name: str
    last_known: datetime
    took: float | None
    failure: str  # the error or traceback of its first failed stage; "" without one
    main_finding: MainFinding | None
    verdict: Verdict | None  # None if there is a main finding

    @property
    def has_error(self) -> bool:
        """Return whether the reason of its end is known."""
        return bool(self.failure) or self.state == State.CRASHED


@dataclass(frozen=True, slots=True)
class OpenAlert:
    run_id: UUID
    run_name: str
    project_name: str
    stage: str
    severity: str
    title: str
    raised_at: datetime
    is_live: bool  # its run is running


@dataclass(frozen=True, slots=True)
class OpenAlerts:
    shown: list[OpenAlert]
    has_more: bool

    @property
    def live(self) -> list[OpenAlert]:
        return [alert for alert in self.shown if alert.is_live]

    @property
    def past(self) -> list[OpenAlert]:
        return [alert for alert in self.shown if not alert.is_live]


def home_news(actor: Actor, *, now: datetime) -> tuple[object, ...]:
    """Return values that change whenever recent runs, alerts or counts may have changed.

    While a run is running, they can change at any time. Otherwise they change with a new run or
    alert; actions of users and relative times may be up to five minutes late.
    """
    running = Run.objects.readable_by(actor).not_in_trash().filter(state=State.RUNNING)
    if running.exists():
        return (now,)
    # An index finds the newest run of each project.
    newest = Run.objects.filter(project=OuterRef("pk")).order_by("-created_at")
    ended = newest.values("ended_at")[:1]
    projects = Project.objects.readable_by(actor).annotate(
        last=Subquery(newest.values("created_at")[:1]), ended=Subquery(ended)
    )
    alerts = Alert.objects.filter(project__in=Project.objects.readable_by(actor))
    return (
        *projects.aggregate(Count("id"), Max("last"), Max("ended")).values(),
        alerts.aggregate(newest=Max("raised_at"))["newest"],
        int(now.timestamp() // LATE_SECONDS),
    )


def live_runs(actor: Actor, *, now: datetime) -> LiveRuns:
    """Return running runs, the last started first."""
    running = Run.objects.readable_by(actor).not_in_trash().filter(state=State.RUNNING)
    runs = list(
        running.select_related("project").order_by(
            F("started_at").desc(nulls_last=True), "id"
        )[:LIVE_SHOWN]
    )
    ids = [run.id for run in runs]
    stages, findings = _running_stages(ids), main_findings(ids)
    steps = _steps(ids, stages)
    shown = [
        LiveRun(
            id=run.id,
            name=run.name,
            project_name=run.project.name,
            stages=tuple(stages.get(run.id, ())),
            step=steps.get(run.id),
            running_for=run_seconds(run, now),
            silent_for=silent_for(run, now=now),
            main_finding=findings.get(run.id),
        )
        for run in runs
    ]
    return LiveRuns(count=running.count(), shown=shown)


def recent_runs(actor: Actor) -> list[RecentRun]:
    """Return the newest runs that have ended."""
    ended = Run.objects.not_in_trash().exclude(state=State.RUNNING)
    # The newest runs overall are at least as new as the newest of any one project, which an
    # index finds; this avoids sorting all runs.
    of_project = ended.filter(project=OuterRef("pk")).order_by("-created_at")
    last = of_project.values("created_at")[RECENT_SHOWN - 1 : RECENT_SHOWN]
    projects = Project.objects.readable_by(actor).annotate(last=Subquery(last))
    since = projects.aggregate(since=Max("last"))["since"]

    runs = ended.readable_by(actor).select_related("project")
    if since is not None:
        runs = runs.filter(created_at__gte=since)
    newest = list(runs.order_by("-created_at", "id")[:RECENT_SHOWN])
    findings = main_findings([run.id for run in newest])
    without = verdicts([run.id for run in newest if run.id not in findings])
    failures = _failures([run.id for run in newest if run.state == State.FAILED])
    return [
        RecentRun(
            id=run.id,
            name=run.name,
            state=run.state,
            project_name=run.project.name,
            last_known=run.ended_at or run.last_seen_at,
            took=run_seconds(run),
            failure=failures.get(run.id, ""),
            main_finding=findings.get(run.id),
            verdict=without.get(run.id),
        )
        for run in newest
    ]


def open_alerts(actor: Actor, *, now: datetime) -> OpenAlerts:
    """Return recent alerts whose finding is neither dismissed nor gone.

    Alerts of ended runs come last.
    """
    over = Finding.objects.annotate(subject=Concat("rule", Value(" "), "scope")).filter(
        Q(is_open=False) | Q(dismissed_at__isnull=False),
        Q(subject=OuterRef("subject")) | Q(scope="", rule=OuterRef("subject")),
        run_id=OuterRef("run_id"),
        stage__name=OuterRef("stage"),
    )
    is_live = ExpressionWrapper(Q(run__state=State.RUNNING), BooleanField())
    alerts = (
        Alert.objects.filter(
            ~Exists(over),
            project__in=Project.objects.readable_by(actor),
            run__trashed_at=None,
            raised_at__gte=now - ALERTS_FOR,
        )
        .select_related("run", "project")
        .annotate(is_live=is_live)
        .order_by("-is_live", "-raised_at", "id")
    )
    found = [
        OpenAlert(
            run_id=alert.run_id,
            run_name=alert.run.name,
            project_name=alert.project.name,
            stage=alert.stage,
            severity=alert.severity,
            title=alert.title,
            raised_at=alert.raised_at,
            is_live=alert.run.state == State.RUNNING,
        )
        for alert in alerts[: ALERTS_SHOWN + 1]
    ]
    return OpenAlerts(found[:ALERTS_SHOWN], has_more=len(found) > ALERTS_SHOWN)


def _failures(run_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return each run's first failure, in one query."""
    stages = Stage.objects.filter(run_id__in=run_ids).exclude(failure="")
    last_first = stages.order_by(F("ended_at").desc(nulls_first=True), "-id")
    return dict(last_first.values_list("run_id", "failure"))


def _running_stages(run_ids: Collection[UUID]) -> dict[UUID, list[str]]:
    rows = Stage.objects.filter(run_id__in=run_ids, state=State.RUNNING)
    stages: dict[UUID, list[str]] = {}
    for run_id, name in rows.order_by("started_at", "id").values_list("run_id", "name"):
        stages.setdefault(run_id, []).append(name)
    return stages


def _steps(
    run_ids: Collection[UUID], stages: dict[UUID, list[str]]
) -> dict[UUID, float]:
    """Return each run's latest step, from its timed loop or else from its logged series."""
    names = {name for found in stages.values() for name in found}
    timed = _highest(
        Q(path__in=[monitoring_path(name, STEP_SECONDS) for name in names]), run_ids
    )
    others = [run_id for run_id in run_ids if run_id not in timed]
    # For these runs, all logged series have to be read.
    logged = Q(kind=Kind.FLOAT_SERIES) & ~Q(path__startswith=MONITORING)
    return {**_highest(logged, others), **timed}


def _highest(which: Q, run_ids: Iterable[UUID]) -> dict[UUID, float]:
    rows = (
        Attribute.objects.filter(which, run_id__in=run_ids, last_step__isnull=False)
        .order_by()
        .values("run_id")
        .annotate(step=Max("last_step"))
    )
    return dict(rows.values_list("run_id", "step"))

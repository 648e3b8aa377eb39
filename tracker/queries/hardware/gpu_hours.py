"""GPU time of many runs: by period, member, machine, GPU type and project.

A run counts in the period in which it started. Runs without a GPU are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, Subquery, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Concat, TruncDay, TruncWeek

from tracker.actor import Actor
from tracker.models import Attribute, Project, Spool
from tracker.queries.diagnoses.diagnoses import main_findings
from tracker.queries.diagnoses.time_breakdowns import (
    LedgerView,
    gpu_ledgers,
    ledger_of,
    summed,
    sums_by_use,
    view_of,
)
from tracker.queries.run.namespaces import MONITORING

MAX_RUNS = 20
MAX_GROUPS = 100
MAX_PROJECTS = 12
MAX_PERIODS = 60
DAYS_BY_WEEK = 31  # longer ranges are shown by week
GPU_NAME = "/facts/gpu/0/name"


class Group(StrEnum):
    MEMBER = "member"
    MACHINE = "machine"
    GPU = "gpu"


@dataclass(frozen=True, slots=True)
class GroupHours:
    """GPU time of one member, machine or GPU type; the name is empty if unknown."""

    name: str
    run_count: int
    ledger: LedgerView


@dataclass(frozen=True, slots=True)
class RunHours:
    """`finding` is the title of the run's main finding; empty without a likely one."""

    run_id: UUID
    name: str
    ledger: LedgerView
    finding: str


@dataclass(frozen=True, slots=True)
class ProjectHours:
    name: str
    slug: str
    workspace_slug: str
    ledger: LedgerView


@dataclass(frozen=True, slots=True)
class PeriodHours:
    """GPU time of the runs that started in a day or week, from `start` on (UTC)."""

    start: date
    ledger: LedgerView | None


@dataclass(frozen=True, slots=True)
class Trend:
    """Consecutive days, or weeks from Monday on; the newest last."""

    is_weekly: bool
    periods: list[PeriodHours]


def total_hours(
    project: Project, *, since: datetime | None = None
) -> LedgerView | None:
    """Return the time breakdown of all GPU time; None without any."""
    return view_of(ledger_of(_of(project, since).aggregate(**sums_by_use())), project)


def hours_by(
    project: Project, group: Group, *, since: datetime | None = None
) -> list[GroupHours]:
    """Return the GPU time of each group, most first, at most 100 groups."""
    rows = summed(
        _of(project, since).values(
            group_name=Coalesce(_NAMES[group](), Value(""), output_field=TextField())
        ),
        runs=Count("run", distinct=True),
    )
    return [
        GroupHours(row["group_name"], row["runs"], view)
        for row in rows.order_by("-total", "group_name")[:MAX_GROUPS]
        if (view := view_of(ledger_of(row), project)) is not None
    ]


def most_wasted(project: Project, *, since: datetime | None = None) -> list[RunHours]:
    """Return the 20 runs with the most wasted GPU time, with their main findings."""
    rows = list(
        summed(_of(project, since).values("run_id", name=F("run__name"))).order_by(
            "-wasted", "run_id"
        )[:MAX_RUNS]
    )
    findings = main_findings([row["run_id"] for row in rows])
    return [
        RunHours(
            row["run_id"],
            row["name"],
            view,
            found.title if found and not found.is_possible else "",
        )
        for row in rows
        if (view := view_of(ledger_of(row), project)) is not None
        for found in [findings.get(row["run_id"])]
    ]


def trend_of(
    project: Project, *, since: datetime | None = None, now: datetime
) -> Trend:
    """Return GPU time by day up to a month, by week beyond; at most 60 periods.

    No periods without any GPU time.
    """
    is_weekly = since is None or now - since > timedelta(days=DAYS_BY_WEEK)
    truncated = (TruncWeek if is_weekly else TruncDay)("run__started_at", tzinfo=UTC)
    rows = summed(
        _of(project, since).filter(run__started_at__lte=now).values(period=truncated)
    )
    ledgers = {
        row["period"].date(): view_of(ledger_of(row), project)
        for row in rows
        if row["period"]
    }
    if not ledgers:
        return Trend(is_weekly, [])
    first = min(ledgers) if since is None else since.date()
    starts = _starts(first, now.date(), is_weekly=is_weekly)
    return Trend(
        is_weekly, [PeriodHours(start, ledgers.get(start)) for start in starts]
    )


def hours_of_projects(actor: Actor, *, since: datetime) -> list[ProjectHours]:
    """Return the GPU time of each readable project, most first, at most 12 projects."""
    kept = gpu_ledgers(Q(run__project__in=Project.objects.readable_by(actor)), since)
    rows = summed(kept.values("run__project_id")).order_by("-total")[:MAX_PROJECTS]
    sums = {row["run__project_id"]: row for row in rows}
    projects = Project.objects.select_related("workspace").in_bulk(list(sums))
    return [
        ProjectHours(project.name, project.slug, project.workspace.slug, view)
        for project_id, row in sums.items()
        if (project := projects.get(project_id)) is not None
        and (view := view_of(ledger_of(row), project)) is not None
    ]


# Any: querysets of diagnoses, which mypy cannot follow through annotations.
def _of(project: Project, since: datetime | None) -> Any:
    return gpu_ledgers(Q(run__project=project), since)


def _starts(first: date, last: date, *, is_weekly: bool) -> list[date]:
    """Return the starts of the periods from `first` to `last`, the newest 60."""
    step = timedelta(days=7 if is_weekly else 1)
    start = last - timedelta(days=last.weekday()) if is_weekly else last
    starts: list[date] = []
    while start > first - step and len(starts) < MAX_PERIODS:
        starts.append(start)
        start -= step
    return starts[::-1]


def _machine() -> Combinable:
    """Return the host of a stage's first process."""
    spools = Spool.objects.filter(stage_id=OuterRef("stage_id"), is_helper=False)
    return Subquery(spools.order_by("rank", "started_at").values("host")[:1])


def _gpu_name() -> Combinable:
    """Return the name of a stage's first GPU."""
    path = Concat(
        Value(MONITORING),
        OuterRef("stage__name"),
        Value(GPU_NAME),
        output_field=TextField(),
    )
    names = Attribute.objects.filter(run_id=OuterRef("run_id"), path=path)
    return Subquery(names.values("text")[:1])


_NAMES: Mapping[Group, Callable[[], Combinable]] = {
    Group.MEMBER: lambda: F("run__made_by__username"),
    Group.MACHINE: _machine,
    Group.GPU: _gpu_name,
}

"""One run for its pages: its stages, their processes, its tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from django.db.models import Q
from django.utils import timezone

from tracker.active_time import active_seconds
from tracker.models import Attribute, Kind, Reopening, Run, Spool, Stage, State
from tracker.queries.hardware.means import (
    CPU_CORES,
    EFFECTIVE_CORES,
    OF_CPUS,
    OF_FIRST_RANK,
    OF_GPUS,
)
from tracker.queries.run.attributes import (
    AttributeRow,
    attribute_values,
    beginning_with,
    list_attributes,
)
from tracker.queries.run.namespaces import MONITORING, PROFILE, TAGS_PATH
from tracker.queries.runs.columns import run_seconds, run_wall_seconds

# The description of a run, set by its scripts or on its page.
DESCRIPTION_PATH = "description"
# The agent sends a heartbeat every few seconds.
SILENT_AFTER = timedelta(seconds=30)
# A script that joins a run usually starts soon after the previous one ends.
JOINED_WITHIN = timedelta(minutes=10)
# A preempted job can wait for hours on a busy cluster before it resumes.
REQUEUED_WITHIN = timedelta(days=1)
# Not shown: other ranks, all GPUs except the first, and long texts: the descriptions of
# samples, and the profile.
UNSHOWN = (
    Q(path__endswith="/facts/readings")
    | Q(path__endswith="/facts/readings_of_process")
    | Q(path__endswith=PROFILE)
    | (Q(path__contains="/facts/gpu/") & ~Q(path__contains="/facts/gpu/0/"))
)
# Report of `seamark watch` about the end of a program.
WATCHED = "/watched"
MACHINES = (
    Q(path__contains="/facts/") & ~UNSHOWN | OF_CPUS | Q(path__endswith=WATCHED)
) & OF_FIRST_RANK

# Path, sum, number of finite samples, number of samples.
GpuReading: TypeAlias = tuple[str, float, int, int]


@dataclass(frozen=True, slots=True)
class ReopeningRow:
    """A process that joined the run after it had finished; names are "" if unknown."""

    joined_at: datetime
    user: str
    token: str
    stage: str
    rank: int
    host: str
    may_change: bool  # False if it may only add new data
    is_new_stage: bool


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """One logging process; `last_known` is its end, or the time of its last data.

    A helper was started by another process of the run, which may have terminated it.
    """

    rank: int
    host: str
    process_id: int
    is_helper: bool
    state: str
    failure: str
    started_at: datetime
    ended_at: datetime | None
    last_known: datetime
    agent_version: str
    dropped_points: int
    refused: Mapping[str, int]
    reopening: ReopeningRow | None = None


@dataclass(frozen=True, slots=True)
class StageRow:
    """`gpu_percent` and `cpu_percent` are means over the stage; None if not measured."""

    name: str
    state: str
    failure: str
    started_at: datetime | None
    last_known: datetime | None
    processes: tuple[ProcessRow, ...]
    gpu_percent: float | None
    cpu_percent: float | None
    # How a program under `seamark watch` ended; "" for other stages.
    watched: str = ""

    @property
    def is_live(self) -> bool:
        return self.state == State.RUNNING

    @property
    def duration(self) -> float | None:
        """Return the seconds in which the stage ran, without pauses."""
        ran = [(process.started_at, process.last_known) for process in self.processes]
        return active_seconds(ran) if ran else None


@dataclass(frozen=True, slots=True)
class RunOverview:
    name: str
    state: str
    started_at: datetime | None
    ended_at: datetime | None
    last_known: datetime | None
    last_seen_at: datetime
    duration: float | None  # seconds in which stages ran, without pauses
    wall_time: float | None  # seconds from start to end
    may_go_on: bool  # pages should poll for changes
    may_resume: bool  # pages should poll occasionally
    silent_for: timedelta | None  # None if not running, or responding
    tags: tuple[str, ...]
    description: str
    stages: tuple[StageRow, ...]
    # Facts about the machines, and their utilization.
    facts: Mapping[str, AttributeRow] = field(repr=False)

    @property
    def is_live(self) -> bool:
        return self.state == State.RUNNING

    @property
    def reopenings(self) -> tuple[ReopeningRow, ...]:
        """Return the processes that joined after the run had finished, the latest first."""
        found = (each.reopening for stage in self.stages for each in stage.processes)
        rows = [row for row in found if row is not None]
        return tuple(sorted(rows, key=lambda row: row.joined_at, reverse=True))

    @property
    def is_reopened(self) -> bool:
        """Return whether a process joined a stage that had finished."""
        return any(not row.is_new_stage for row in self.reopenings)


def is_live(run: Run) -> bool:
    return run.state == State.RUNNING


def may_go_on(run: Run, *, now: datetime | None = None) -> bool:
    """Return whether a run is running, or ended so recently that a stage may join."""
    if is_live(run) or run.ended_at is None:
        return is_live(run)
    return (now or timezone.now()) - run.ended_at < JOINED_WITHIN


def may_resume(run: Run, *, now: datetime | None = None) -> bool:
    """Return whether a run was preempted and may still resume."""
    if run.state != State.PREEMPTED or run.ended_at is None:
        return False
    return (now or timezone.now()) - run.ended_at < REQUEUED_WITHIN


def silent_for(run: Run, *, now: datetime | None = None) -> timedelta | None:
    """Return the time since the last data of a running run; None if it is recent."""
    silence = (now or timezone.now()) - run.last_seen_at
    return silence if is_live(run) and silence > SILENT_AFTER else None


def run_overview(run: Run, *, now: datetime | None = None) -> RunOverview:
    """Read the header, the stages and their metrics in five statements."""
    now = now or timezone.now()
    # Filtered, because there can be very many facts, of each GPU of each rank.
    facts = list_attributes(run, prefix=MONITORING, where=MACHINES)
    readings = {row.path: row for row in facts}
    texts = attribute_values([run.id], [TAGS_PATH, DESCRIPTION_PATH])[run.id]
    return RunOverview(
        name=run.name,
        state=run.state,
        started_at=run.started_at,
        ended_at=run.ended_at,
        last_known=now if is_live(run) else run.ended_at or run.last_seen_at,
        last_seen_at=run.last_seen_at,
        duration=run_seconds(run, now),
        wall_time=run_wall_seconds(run, now),
        may_go_on=may_go_on(run, now=now),
        may_resume=may_resume(run, now=now),
        silent_for=silent_for(run, now=now),
        tags=_tags(texts.get(TAGS_PATH)),
        description=_text(texts.get(DESCRIPTION_PATH)),
        stages=tuple(_stages(run, readings, _gpu_readings(run), now)),
        facts=readings,
    )


def has_readings(run: Run) -> bool:
    """Return whether any metric was sampled over time."""
    readings = Attribute.objects.filter(
        beginning_with(MONITORING), run_id=run.id, kind=Kind.FLOAT_SERIES, count__gt=0
    )
    return readings.exists()


def _tags(row: AttributeRow | None) -> tuple[str, ...]:
    return tuple(row.value) if row and isinstance(row.value, list) else ()


def _text(row: AttributeRow | None) -> str:
    """Return a text; the path may hold a value of another kind."""
    if row is None or row.kind != Kind.STRING:
        return ""
    return row.value if isinstance(row.value, str) else ""


def _stages(
    run: Run,
    readings: Mapping[str, AttributeRow],
    gpus: Sequence[GpuReading],
    now: datetime,
) -> list[StageRow]:
    spools: dict[int, list[Spool]] = {}
    rows_of_run = Spool.objects.filter(run_id=run.id).select_related(
        "stage", "reopening__user", "reopening__token"
    )
    for spool in rows_of_run.order_by("rank", "started_at"):
        spools.setdefault(spool.stage_id, []).append(spool)

    rows = []
    for stage in Stage.objects.filter(run_id=run.id):
        processes = tuple(_process(spool, now) for spool in spools.get(stage.id, []))
        ends = [process.last_known for process in processes]
        is_running = stage.state == State.RUNNING
        last_known = now if is_running else stage.ended_at or max(ends, default=None)
        rows.append(
            StageRow(
                name=stage.name,
                state=stage.state,
                failure=stage.failure,
                started_at=stage.started_at,
                last_known=last_known,
                processes=processes,
                gpu_percent=_gpu_percent(stage.name, gpus),
                cpu_percent=_cpu_percent(stage.name, readings),
                watched=_text(readings.get(f"{MONITORING}{stage.name}{WATCHED}")),
            )
        )
    return sorted(rows, key=lambda row: (row.started_at or now, row.name))


def _process(spool: Spool, now: datetime) -> ProcessRow:
    is_running = spool.state == State.RUNNING
    return ProcessRow(
        rank=spool.rank,
        host=spool.host,
        process_id=spool.process_id,
        is_helper=spool.is_helper,
        state=spool.state,
        failure=spool.failure,
        started_at=spool.started_at,
        ended_at=spool.ended_at,
        last_known=now if is_running else spool.ended_at or spool.last_seen_at,
        agent_version=spool.agent_version,
        dropped_points=spool.dropped_points,
        refused=dict(spool.refused),
        reopening=_reopening(spool),
    )


def _reopening(spool: Spool) -> ReopeningRow | None:
    found: Reopening | None = getattr(spool, "reopening", None)
    if found is None:
        return None
    return ReopeningRow(
        joined_at=found.joined_at,
        user=found.user.get_username() if found.user else "",
        token=str(found.token) if found.token else "",
        stage=spool.stage.name,
        rank=spool.rank,
        host=spool.host,
        may_change=found.may_change,
        is_new_stage=found.is_new_stage,
    )


def _gpu_readings(run: Run) -> list[GpuReading]:
    """Read the utilization summary of each GPU of each rank; there can be thousands."""
    rows = Attribute.objects.filter(
        beginning_with(MONITORING), OF_GPUS, run_id=run.id, finite_count__gt=0
    )
    return list(rows.values_list("path", "total", "finite_count", "count"))


def _gpu_percent(stage: str, gpus: Sequence[GpuReading]) -> float | None:
    """Return the mean over the stage's GPUs and ranks, weighted by their samples."""
    inside = [gpu for gpu in gpus if gpu[0].startswith(f"{MONITORING}{stage}/")]
    count = sum(count for *_, count in inside)
    if not count:
        return None
    return sum(total / finite * count for _, total, finite, count in inside) / count


def _cpu_percent(stage: str, readings: Mapping[str, AttributeRow]) -> float | None:
    """Return the job's CPU use as a percentage of the cores it may use."""
    used = readings.get(f"{MONITORING}{stage}{CPU_CORES}")
    cores = readings.get(f"{MONITORING}{stage}{EFFECTIVE_CORES}")
    if used is None or used.mean is None or cores is None:
        return None
    if not isinstance(cores.value, int | float) or cores.value <= 0:
        return None
    return 100 * used.mean / cores.value

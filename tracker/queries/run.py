"""One run as its pages tell it: its stages, the processes of each, its tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.utils import timezone

from tracker.models import Run, Spool, Stage, State
from tracker.queries.attributes import AttributeRow, list_attributes
from tracker.queries.run_filter import TAGS_PATH

MONITORING = "monitoring/"
# The agent says every few seconds that it lives.
SILENT_AFTER = timedelta(seconds=30)
# A script that joins a run comes soon after the one before it has ended.
JOINED_WITHIN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """One process that logged; `last_known` is its end, or when it was last heard of."""

    rank: int
    host: str
    process_id: int
    state: str
    failure: str
    started_at: datetime
    ended_at: datetime | None
    last_known: datetime
    agent_version: str
    dropped_points: int
    refused: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StageRow:
    """`gpu_percent` and `cpu_percent` are means over the stage; None: not measured."""

    name: str
    state: str
    failure: str
    started_at: datetime | None
    last_known: datetime | None
    processes: tuple[ProcessRow, ...]
    gpu_percent: float | None
    cpu_percent: float | None

    @property
    def is_live(self) -> bool:
        return self.state == State.RUNNING

    @property
    def duration(self) -> timedelta | None:
        if self.started_at is None or self.last_known is None:
            return None
        return max(self.last_known - self.started_at, timedelta(0))


@dataclass(frozen=True, slots=True)
class RunOverview:
    name: str
    state: str
    started_at: datetime | None
    last_known: datetime | None
    last_seen_at: datetime
    may_go_on: bool  # it is worth looking again
    silent_for: timedelta | None  # None: not running, or heard of lately
    tags: tuple[str, ...]
    stages: tuple[StageRow, ...]
    facts: Mapping[str, AttributeRow] = field(repr=False)

    @property
    def is_live(self) -> bool:
        return self.state == State.RUNNING

    @property
    def duration(self) -> timedelta | None:
        if self.started_at is None or self.last_known is None:
            return None
        return max(self.last_known - self.started_at, timedelta(0))


def is_live(run: Run) -> bool:
    return run.state == State.RUNNING


def may_go_on(run: Run, *, now: datetime | None = None) -> bool:
    """Tell runs that are running, or ended so lately that a stage may still join."""
    if is_live(run) or run.ended_at is None:
        return is_live(run)
    return (now or timezone.now()) - run.ended_at < JOINED_WITHIN


def run_overview(run: Run, *, now: datetime | None = None) -> RunOverview:
    """Read everything the header, the stages and their figure say, in four statements."""
    now = now or timezone.now()
    readings = {row.path: row for row in list_attributes(run, prefix=MONITORING)}
    tags = list_attributes(run, prefix=TAGS_PATH)
    silence = now - run.last_seen_at
    return RunOverview(
        name=run.name,
        state=run.state,
        started_at=run.started_at,
        last_known=now if is_live(run) else run.ended_at or run.last_seen_at,
        last_seen_at=run.last_seen_at,
        may_go_on=may_go_on(run, now=now),
        silent_for=silence if is_live(run) and silence > SILENT_AFTER else None,
        tags=_tags(tags),
        stages=tuple(_stages(run, readings, now)),
        facts=readings,
    )


def _tags(rows: list[AttributeRow]) -> tuple[str, ...]:
    for row in rows:
        if row.path == TAGS_PATH and isinstance(row.value, list):
            return tuple(row.value)
    return ()


def _stages(
    run: Run, readings: Mapping[str, AttributeRow], now: datetime
) -> list[StageRow]:
    spools: dict[int, list[Spool]] = {}
    for spool in Spool.objects.filter(run_id=run.id).order_by("rank", "started_at"):
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
                gpu_percent=_gpu_percent(stage.name, readings),
                cpu_percent=_cpu_percent(stage.name, readings),
            )
        )
    return sorted(rows, key=lambda row: (row.started_at or now, row.name))


def _process(spool: Spool, now: datetime) -> ProcessRow:
    is_running = spool.state == State.RUNNING
    return ProcessRow(
        rank=spool.rank,
        host=spool.host,
        process_id=spool.process_id,
        state=spool.state,
        failure=spool.failure,
        started_at=spool.started_at,
        ended_at=spool.ended_at,
        last_known=now if is_running else spool.ended_at or spool.last_seen_at,
        agent_version=spool.agent_version,
        dropped_points=spool.dropped_points,
        refused=dict(spool.refused),
    )


def _gpu_percent(stage: str, readings: Mapping[str, AttributeRow]) -> float | None:
    """Return the mean over the stage's GPUs and ranks, weighted by their readings."""
    gpus = [
        row
        for path, row in readings.items()
        if path.startswith(f"{MONITORING}{stage}/")
        and "/gpu/" in path
        and path.endswith("/utilization_percent")
        and row.mean is not None
    ]
    count = sum(row.count for row in gpus)
    if not count:
        return None
    return sum((row.mean or 0.0) * row.count for row in gpus) / count


def _cpu_percent(stage: str, readings: Mapping[str, AttributeRow]) -> float | None:
    """Return what the job used of the cores it may use."""
    used = readings.get(f"{MONITORING}{stage}/job/cpu_cores")
    cores = readings.get(f"{MONITORING}{stage}/facts/effective_cores")
    if used is None or used.mean is None or cores is None:
        return None
    if not isinstance(cores.value, int | float) or cores.value <= 0:
        return None
    return 100 * used.mean / cores.value

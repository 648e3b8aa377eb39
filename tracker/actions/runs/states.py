"""Derives the states of stages and runs from those of their processes.

It runs whenever a process starts or ends, under a lock, and a run may have thousands:
data loaders start new ones in every epoch. So the database aggregates them, and only
failures are read one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Min
from django.utils import timezone

from tracker.actions.work import request_work
from tracker.active_time import active_seconds
from tracker.models import Diagnosis, Run, Spool, Stage, State, WorkKind
from tracker.server.statements import every_row

# A process without messages for this long counts as crashed; a process reported as gone
# has the same time to send again.
SILENCE = timedelta(seconds=90)

# The first of these states that any part has is the state of the whole. Preempting one
# rank preempts all, and ranks that do not handle the signal just vanish.
PRECEDENCE = (
    State.RUNNING,
    State.FAILED,
    State.PREEMPTED,
    State.CRASHED,
    State.FINISHED,
)
# End states after which another process of the same rank may take over.
BROKEN = (State.FAILED, State.CRASHED, State.PREEMPTED)

RUN_FIELDS = ("state", "started_at", "ended_at", "active_seconds", "active_since")

# A process that broke before its rank was restarted, for example after a preemption, is
# replaced. With a clock that is ahead, the last process itself starts after it was last
# heard of.
_REPLACED = f"""
state IN ({", ".join(f"'{state.value}'" for state in BROKEN)})
  AND ended_at IS NOT NULL AND last_start > ended_at AND last_start > started_at
"""
_PROCESSES = """
SELECT id, stage_id, state, is_helper, started_at, ended_at, last_seen_at,
  MAX(started_at) OVER (PARTITION BY stage_id, rank) AS last_start
FROM tracker_spool WHERE run_id IN ({runs})
"""
# The parent of a helper sees how it ends, and kills it when it is done.
_TERMINATED = f"is_helper AND state = '{State.CRASHED.value}'"
SELECT_DECIDING = f"""
SELECT DISTINCT stage_id, state FROM ({_PROCESSES}) AS process
WHERE NOT ({_REPLACED}) AND NOT ({_TERMINATED})
"""
# The failure of the first failed process that decides about each stage.
SELECT_FAILURES = f"""
SELECT stage_id, failure FROM tracker_spool WHERE id IN (
  SELECT id FROM (
    SELECT id, ROW_NUMBER() OVER (
      PARTITION BY stage_id ORDER BY COALESCE(ended_at, last_seen_at), id
    ) AS place
    FROM ({_PROCESSES}) AS process
    WHERE state = '{State.FAILED.value}' AND NOT ({_REPLACED})
  ) AS failed
  WHERE place = 1
)
"""
# Ended processes that extend the time in which any has run; workers that live within
# their parent's time are filtered out by the database.
SELECT_INTERVALS = f"""
SELECT started_at, ended_at FROM (
  SELECT started_at, ended_at, MAX(ended_at) OVER (
    ORDER BY started_at, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS reached
  FROM tracker_spool
  WHERE run_id IN ({{runs}}) AND state <> '{State.RUNNING.value}' AND ended_at > started_at
) AS process
WHERE reached IS NULL OR ended_at > reached
"""


@dataclass(frozen=True, slots=True)
class Parts:
    """Processes or stages of one state, with the first start and the last end."""

    state: str
    started_at: datetime | None
    ended_at: datetime | None


def settle_states(run_id: UUID) -> None:
    """Update the states and times of a run and its stages from its processes."""
    with transaction.atomic():
        # Two concurrent calls would each miss the other's changes. Not the key: batches
        # that refer to the run must not wait.
        run = Run.objects.select_for_update(no_key=True).filter(id=run_id).first()
        if run is None:
            return
        stages = list(run.stages.all())
        processes = _processes(run_id)
        deciding = _deciding(run_id, processes)
        failures = _failures(run_id, deciding)
        for stage in stages:
            if states := deciding.get(stage.pk):
                failure = failures.get(stage.pk, "")
                _settle_stage(stage, processes[stage.pk], states, failure)
        parts = [Parts(s.state, s.started_at, s.ended_at) for s in stages]
        states = {stage.state for stage in stages}
        changed = _settle(run, parts, states)
        if _settle_active_time(run, processes) or changed:
            run.save(update_fields=RUN_FIELDS)


def mark_silent(
    now: datetime | None = None, *, watching_since: datetime | None = None
) -> list[UUID]:
    """Mark silent processes as crashed; return their runs.

    While no worker ran, the server may have been down as well, so a process counts as
    silent only after a worker has run for that long.
    """
    limit = (now or timezone.now()) - SILENCE
    if watching_since is not None and watching_since > limit:
        return []
    silent = Spool.objects.filter(state=State.RUNNING, last_seen_at__lt=limit)
    run_ids = sorted(set(silent.values_list("run_id", flat=True)))
    for run_id in run_ids:
        with transaction.atomic():
            for spool in silent.filter(run_id=run_id).order_by("id"):
                # Checked again, as the process may have sent since.
                silent.filter(id=spool.id).update(
                    state=State.CRASHED, ended_at=spool.last_seen_at
                )
            settle_states(run_id)
            request_work(run_id, WorkKind.COMPACT)
    return run_ids


def may_be_contradicted(stage: Stage) -> bool:
    """Return whether a process reported as gone may still prove that it is alive."""
    if stage.state == State.RUNNING:
        return False
    reported_after = timezone.now() - SILENCE
    return Spool.objects.filter(
        stage=stage,
        state=State.CRASHED,
        is_helper=False,
        said_gone_at__gt=reported_after,
    ).exists()


def has_unjudged_stage(run_id: UUID) -> bool:
    """Return whether a stage has ended since its last diagnosis."""
    ended = Stage.objects.filter(run_id=run_id).exclude(state=State.RUNNING)
    return ended.exclude(diagnosis__is_final=True).exists()


def _processes(run_id: UUID) -> dict[int, list[Parts]]:
    """Return each stage's processes, grouped by state."""
    rows = (
        Spool.objects.filter(run_id=run_id)
        .values("stage_id", "state")
        .annotate(first=Min("started_at"), last=Max("ended_at"))
        .order_by()
    )
    found: dict[int, list[Parts]] = defaultdict(list)
    for row in rows:
        parts = Parts(row["state"], row["first"], row["last"])
        found[row["stage_id"]].append(parts)
    return found


def _deciding(
    run_id: UUID, processes: Mapping[int, Sequence[Parts]]
) -> dict[int, set[str]]:
    """Return the states of the processes that decide about each stage.

    Replaced processes and silent helpers do not count if there are others.
    """
    states = {
        stage_id: {part.state for part in parts}
        for stage_id, parts in processes.items()
    }
    if not any(map(_may_be_replaced, states.values())):
        return states
    deciding: dict[int, set[str]] = defaultdict(set)
    for stage_id, state in every_row(SELECT_DECIDING, [], run_ids={run_id}):
        deciding[stage_id].add(state)
    return states | deciding


def _may_be_replaced(states: set[str]) -> bool:
    """Return whether replaced processes matter: running outweighs all but failures."""
    if State.RUNNING in states:
        return State.FAILED in states
    return not states.isdisjoint(BROKEN)


def _failures(run_id: UUID, deciding: Mapping[int, Collection[str]]) -> dict[int, str]:
    if not any(State.FAILED in states for states in deciding.values()):
        return {}
    return dict(every_row(SELECT_FAILURES, [], run_ids={run_id}))


def _settle_stage(
    stage: Stage, parts: Sequence[Parts], deciding: Collection[str], failure: str
) -> None:
    has_run = stage.state == State.RUNNING
    changed = _settle(stage, parts, deciding)
    if changed or stage.failure != failure:
        stage.failure = failure
        stage.save(update_fields=["state", "started_at", "ended_at", "failure"])
    if stage.state == State.RUNNING and not has_run:
        # The diagnosis made when it seemed to have ended is not final.
        Diagnosis.objects.filter(stage=stage, is_final=True).update(is_final=False)


# Any: the driver's time; a text for a computed table of SQLite.
def _time_of(value: Any) -> datetime:
    time = datetime.fromisoformat(value) if isinstance(value, str) else value
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _settle_active_time(run: Run, processes: Mapping[int, Sequence[Parts]]) -> bool:
    """Add up the time in which at least one process ran; return whether it changed."""
    if run.started_at is None:
        return False
    running = [
        part.started_at
        for parts in processes.values()
        for part in parts
        if part.state == State.RUNNING and part.started_at is not None
    ]
    since = min(running, default=None)
    before = run.active_seconds, run.active_since
    rows = every_row(SELECT_INTERVALS, [], run_ids={run.id})
    run.active_seconds = active_seconds(
        [(_time_of(start), _time_of(end)) for start, end in rows], until=since
    )
    run.active_since = since
    return before != (run.active_seconds, run.active_since)


def _settle(
    whole: Run | Stage, parts: Sequence[Parts], deciding: Collection[str]
) -> bool:
    """Derive the whole's times from all parts, and its state from the deciding ones.

    Return whether anything changed.
    """
    if not deciding:
        return False
    state = next(state for state in PRECEDENCE if state in deciding)
    starts = [part.started_at for part in parts if part.started_at is not None]
    ends = [part.ended_at for part in parts if part.ended_at is not None]
    started_at = min(starts, default=None)
    ended_at = None if state == State.RUNNING else max(ends, default=None)
    if started_at is not None and ended_at is not None:
        # Its machine's clock may have been set back.
        ended_at = max(started_at, ended_at)

    changed = (whole.state, whole.started_at, whole.ended_at) != (
        state,
        started_at,
        ended_at,
    )
    whole.state, whole.started_at, whole.ended_at = state, started_at, ended_at
    return changed

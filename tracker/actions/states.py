"""Rolls the states of processes up to their stages and runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import prefetch_related_objects
from django.utils import timezone

from tracker.actions.work import request_work
from tracker.models import Run, Spool, Stage, State, WorkKind

# A process that says nothing for so long counts as crashed.
SILENCE = timedelta(seconds=90)

# The first of these that any part is in is the state of the whole. Who tells one rank
# to end tells all, and those that do not handle it are gone without a word.
PRECEDENCE = (
    State.RUNNING,
    State.FAILED,
    State.PREEMPTED,
    State.CRASHED,
    State.FINISHED,
)
# How a process ends that was not done: another one of its rank takes its place.
BROKEN = (State.FAILED, State.CRASHED, State.PREEMPTED)


def settle_states(run_id: UUID) -> None:
    """Make the states and times of a run and its stages follow from its processes."""
    with transaction.atomic():
        # Two that settle at once would each miss what the other has changed.
        # Not the key: batches that refer to the run must not wait.
        run = Run.objects.select_for_update(no_key=True).filter(id=run_id).first()
        if run is None:
            return
        prefetch_related_objects([run], "stages__spools")
        stages = list(run.stages.all())
        for stage in stages:
            _settle_stage(stage)
        if _settle(run, stages, stages):
            run.save(update_fields=["state", "started_at", "ended_at"])


def mark_silent(
    now: datetime | None = None, *, watching_since: datetime | None = None
) -> list[UUID]:
    """Mark processes that fell silent as crashed; return the runs they belong to.

    While nobody watched, perhaps nobody listened either; so nobody counts as silent
    before having been watched for as long.
    """
    limit = (now or timezone.now()) - SILENCE
    if watching_since is not None and watching_since > limit:
        return []
    silent = Spool.objects.filter(state=State.RUNNING, last_seen_at__lt=limit)
    run_ids = sorted(set(silent.values_list("run_id", flat=True)))
    for run_id in run_ids:
        with transaction.atomic():
            for spool in silent.filter(run_id=run_id).order_by("id"):
                # Asked again, as the process may have spoken since.
                silent.filter(id=spool.id).update(
                    state=State.CRASHED, ended_at=spool.last_seen_at
                )
            settle_states(run_id)
            request_work(run_id, WorkKind.COMPACT)
    return run_ids


def has_unjudged_stage(run_id: UUID) -> bool:
    """Tell whether a stage has ended since it was last diagnosed."""
    ended = Stage.objects.filter(run_id=run_id).exclude(state=State.RUNNING)
    return ended.exclude(diagnosis__is_final=True).exists()


def _settle_stage(stage: Stage) -> None:
    spools = list(stage.spools.all())
    if not spools:
        return
    deciding = _not_replaced(spools)
    failed = [spool for spool in deciding if spool.state == State.FAILED]
    failed.sort(key=lambda spool: spool.ended_at or spool.last_seen_at)
    failure = failed[0].failure if failed else ""
    changed = _settle(stage, spools, deciding)
    if changed or stage.failure != failure:
        stage.failure = failure
        stage.save(update_fields=["state", "started_at", "ended_at", "failure"])


def _not_replaced(spools: Sequence[Spool]) -> list[Spool]:
    """Leave out what broke before its rank was started again, as after a preemption."""
    last_starts: dict[int, datetime] = {}
    for spool in spools:
        last = last_starts.setdefault(spool.rank, spool.started_at)
        last_starts[spool.rank] = max(last, spool.started_at)
    return [
        spool for spool in spools if not _is_replaced(spool, last_starts[spool.rank])
    ]


def _is_replaced(spool: Spool, last_start: datetime) -> bool:
    if spool.state not in BROKEN or spool.ended_at is None:
        return False
    # By a clock that is ahead, the last one itself starts after it was last heard of.
    return last_start > max(spool.ended_at, spool.started_at)


def _settle(
    whole: Run | Stage,
    parts: Sequence[Stage] | Sequence[Spool],
    deciding: Sequence[Stage] | Sequence[Spool],
) -> bool:
    """Derive the whole's times from all parts, and its state from those that decide.

    Return whether anything changed.
    """
    if not parts:
        return False
    states = {part.state for part in deciding}
    state = next(state for state in PRECEDENCE if state in states)
    starts = [part.started_at for part in parts if part.started_at is not None]
    ends = [part.ended_at for part in parts if part.ended_at is not None]
    started_at = min(starts, default=None)
    ended_at = None if state == State.RUNNING else max(ends, default=None)
    if started_at is not None and ended_at is not None:
        # The clock of its machine may have been set back.
        ended_at = max(started_at, ended_at)

    changed = (whole.state, whole.started_at, whole.ended_at) != (
        state,
        started_at,
        ended_at,
    )
    whole.state, whole.started_at, whole.ended_at = state, started_at, ended_at
    return changed

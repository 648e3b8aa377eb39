"""Chooses the run that a process joins by the name it gives, and forks it if requested.

Processes that run at the same time, other stages and resumed jobs join the newest run of
the name. A script that starts again after its stage has ended begins a run of its own,
`name-2`: its points belong to another attempt.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import count
from uuid import UUID

from django.db.models import F, Q
from django.db.models.functions import Coalesce

from tracker.actions.runs.forks import fork_run
from tracker.errors import NotFound
from tracker.ingest.batch import Batch
from tracker.ingest.limits import LIMITS
from tracker.ingest.messages import Open
from tracker.ingest.refusal import Refusal
from tracker.models import Project, Run, Spool, State


def run_for(
    project: Project, opening: Open, user_id: int, *, began_at: datetime
) -> Run:
    """Return the run that the process logs to; create it if needed.

    Raises NotFound if the run is in the trash while its processes go on.
    """
    launches = Run.objects.filter(project=project).launched_as(opening.run)
    newest = launches.last()
    if newest is None:
        return _made(project, opening.run, "", user_id)
    if _starts_again(newest, opening, began_at):
        name = _next_name(newest, opening.run, launches.count() + 1)
        return _made(project, name, opening.run, user_id)
    if newest.trashed_at is not None:
        raise NotFound("run")
    return newest


def _starts_again(run: Run, opening: Open, began_at: datetime) -> bool:
    """Return whether processes of this stage and rank have all ended before."""
    # A preempted job is started again to continue.
    if opening.resume or opening.helper or run.state == State.PREEMPTED:
        return False
    spools = Spool.objects.filter(
        run=run,
        stage__name=opening.stage or "main",
        rank=opening.rank,
        is_helper=False,
    ).annotate(end=Coalesce(F("ended_at"), F("last_seen_at")))
    is_over = ~Q(state__in=(State.RUNNING, State.PREEMPTED)) & Q(end__lt=began_at)
    return spools.exists() and not spools.exclude(is_over).exists()


def _next_name(newest: Run, name: str, first: int) -> str:
    """Return the first free name from a number on.

    Processes that start at once get the same: the run that another one just created,
    after the newest was read, is not in the way.
    """
    for number in count(first):
        ending = f"-{number}"
        candidate = f"{name[: LIMITS.run_characters - len(ending)]}{ending}"
        others = Run.objects.filter(project_id=newest.project_id, name=candidate)
        if not others.exclude(
            launch_name=name, created_at__gt=newest.created_at
        ).exists():
            return candidate
    raise AssertionError  # count() does not end


def _made(project: Project, name: str, launch_name: str, user_id: int) -> Run:
    made = Run(project=project, name=name, launch_name=launch_name, made_by_id=user_id)
    Run.objects.bulk_create([made], ignore_conflicts=True)
    return Run.objects.get(project=project, name=name)


def note_fork(run_id: UUID, batch: Batch) -> Batch:
    """Fork the run if its opening requests it; report why it cannot be forked."""
    opening = batch.opening
    if opening is None or opening.fork_from is None:
        return batch
    run = Run.objects.get(id=run_id)
    reason = fork_run(run, opening.fork_from, opening.fork_step)
    if reason is None:
        return batch
    refusal = Refusal(1, 0, "invalid_fork", reason)
    return replace(batch, refusals=(*batch.refusals, refusal))

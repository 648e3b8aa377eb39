"""Queues background work, assigns it to one worker at a time, and records the outcome.

Every change is one conditional update, and only the first request for a run's work
takes two statements, so no lock is held for long and any number of workers may compete.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce, Least
from django.utils import timezone

from tracker.models import Run, Work, WorkKind

# How long a killed worker's work waits. Longer work may run twice at the same time,
# which is safe.
LEASE = timedelta(seconds=60)

FIRST_RETRY_SECONDS = 2.0
LONGEST_RETRY_SECONDS = 600.0

ERROR_LENGTH = 2_000
# Runs per query.
RUNS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Claim:
    """One worker's lease on a piece of work."""

    work_id: int
    run_id: UUID
    kind: WorkKind
    attempts: int
    # Distinguishes this claim from a later one by another worker.
    leased_until: datetime


def request_work(run_id: UUID, kind: WorkKind, *, delay_seconds: float = 0) -> None:
    """Schedule the work after the delay, or earlier if requested earlier.

    Does nothing for a deleted run.
    """
    if _set_due(run_id, kind, delay_seconds):
        return
    with transaction.atomic():
        # The lock prevents its deletion until this is committed.
        runs = Run.objects.select_for_update(no_key=True).filter(id=run_id)
        if runs.first() is None:
            return
        work = Work(run_id=run_id, kind=kind)
        Work.objects.bulk_create([work], ignore_conflicts=True)
        _set_due(run_id, kind, delay_seconds)


def request_works(
    run_ids: Iterable[UUID], kind: WorkKind, *, delay_seconds: float = 0
) -> None:
    """Schedule the work for many runs, most of which already have a work row.

    Waiting work is not updated: it starts after this request anyway.
    """
    due_at = timezone.now() + timedelta(seconds=delay_seconds)
    ids = list(run_ids)
    for start in range(0, len(ids), RUNS_AT_ONCE):
        some = ids[start : start + RUNS_AT_ONCE]
        waiting = Work.objects.filter(
            Q(due_at__lte=due_at) | Q(due_at__isnull=False) & ~Q(last_error=""),
            run_id__in=some,
            kind=kind,
        )
        for run_id in sorted({*some} - {*waiting.values_list("run_id", flat=True)}):
            request_work(run_id, kind, delay_seconds=delay_seconds)


def _set_due(run_id: UUID, kind: WorkKind, delay_seconds: float) -> int:
    due_at = Value(timezone.now() + timedelta(seconds=delay_seconds))
    # Failed work keeps its retry time: a live run requests it every second, and would
    # retry as often.
    waits_for_retry = When(
        ~Q(last_error="") & Q(due_at__isnull=False), then=F("due_at")
    )
    earliest = Least(Coalesce(F("due_at"), due_at), due_at)
    return Work.objects.filter(run_id=run_id, kind=kind).update(
        due_at=Case(waits_for_retry, default=earliest)
    )


def due_work_ids(limit: int) -> list[int]:
    """Return due and abandoned work, oldest first."""
    due = Work.objects.filter(_is_free(timezone.now())).order_by("due_at", "id")
    return list(due.values_list("id", flat=True)[:limit])


def _is_free(now: datetime) -> Q:
    abandoned = Q(leased_until__lt=now)
    return abandoned | Q(leased_until=None, due_at__lte=now)


def claim_work(work_id: int) -> Claim | None:
    """Claim the work; return None if it is not due or another worker has it."""
    now = timezone.now()
    leased_until = now + LEASE
    claimed = Work.objects.filter(_is_free(now), id=work_id).update(
        leased_until=leased_until, due_at=None, attempts=F("attempts") + 1
    )
    if not claimed:
        return None  # claimed by another worker, or the message was duplicated

    work = Work.objects.filter(id=work_id, leased_until=leased_until).first()
    if work is None:
        return None  # the run was deleted
    return Claim(
        work_id=work.id,
        run_id=work.run_id,
        kind=WorkKind(work.kind),
        attempts=work.attempts,
        leased_until=leased_until,
    )


def finish_work(claim: Claim) -> None:
    """Mark the work as done; requests made meanwhile stay due."""
    Work.objects.filter(id=claim.work_id, leased_until=claim.leased_until).update(
        leased_until=None, attempts=0, last_error=""
    )


def fail_work(claim: Claim, error: Exception) -> None:
    """Record the error, and schedule a retry with increasing delay."""
    seconds = FIRST_RETRY_SECONDS * 2.0 ** min(claim.attempts - 1, 20)
    delay = timedelta(seconds=min(seconds, LONGEST_RETRY_SECONDS))
    # PostgreSQL rejects NUL in text, and a message may quote untrusted names.
    message = f"{type(error).__name__}: {error}".replace(
        "\0", "\N{REPLACEMENT CHARACTER}"
    )
    Work.objects.filter(id=claim.work_id, leased_until=claim.leased_until).update(
        leased_until=None,
        due_at=timezone.now() + delay,
        last_error=message.encode(errors="replace").decode()[:ERROR_LENGTH],
    )

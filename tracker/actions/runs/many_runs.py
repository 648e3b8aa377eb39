"""Changes all runs that match a query, a thousand at a time.

Each thousand is its own transaction, so that a change to all runs of a large project
does not block ingestion.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import DatabaseError, transaction
from django.utils import timezone

from tracker.errors import InvalidInput, Unavailable
from tracker.models import BulkChange

RUNS_AT_ONCE = 1_000
MAX_RUNS = 100_000
# The client then continues with the rest: proxies time out after about a minute, and a
# change whose response is lost cannot be undone.
LASTS_SECONDS = 20.0
# How long a change is recorded; pages offer to undo it for a moment.
REMEMBERED = timedelta(days=1)

Change = Callable[[Sequence[UUID]], list[UUID]]


@dataclass(frozen=True, slots=True)
class Done:
    """`changed` can be undone; `refusal` is the reason why other runs stayed, or empty.

    `rest` was not reached in time.
    """

    changed: list[UUID]
    refusal: str
    rest: list[UUID]


def change_all(run_ids: Sequence[UUID], change: Change) -> Done:
    """Change runs; a rejected run does not stop the others.

    If nothing changed, the first error is raised. If the database fails after some runs
    have changed, the rest stay unchanged, so that the change can be undone.
    """
    changed: list[UUID] = []
    rest = list(run_ids)
    refused: InvalidInput | None = None
    deadline = time.monotonic() + LASTS_SECONDS
    while rest and time.monotonic() < deadline:
        some, rest = rest[:RUNS_AT_ONCE], rest[RUNS_AT_ONCE:]
        try:
            changed += change(some)
        except InvalidInput as error:
            refused = refused or error
        except DatabaseError:
            if not changed:
                raise
            return Done(changed, str(Unavailable()), [])
    if refused is not None and not changed:
        raise refused
    return Done(changed, str(refused or ""), rest)


def remembered(project_id: int, name: UUID, change: Change) -> Change:
    """Return a change that also records its runs under this name."""

    def change_and_record(run_ids: Sequence[UUID]) -> list[UUID]:
        with transaction.atomic():
            changed = change(run_ids)
            ids = [str(run_id) for run_id in changed]
            BulkChange.objects.create(project_id=project_id, name=name, run_ids=ids)
        return changed

    return change_and_record


def end_change(project_id: int, name: UUID) -> None:
    """Mark the change with this name as complete."""
    BulkChange.objects.create(project_id=project_id, name=name, is_last=True)


def forget_changes(now: datetime | None = None) -> None:
    """Delete records past their undo period."""
    limit = (now or timezone.now()) - REMEMBERED
    BulkChange.objects.filter(made_at__lt=limit).delete()

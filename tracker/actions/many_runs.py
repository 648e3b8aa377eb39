"""Changes as many runs as a question finds, a thousand at a time.

Each thousand is a transaction of its own: a change to all runs of a large project must
not keep what runs log from being stored meanwhile.
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
# Then whoever asked does the rest: what stands before a server waits a minute at most,
# and an answer that is lost cannot be undone.
LASTS_SECONDS = 20.0
# Pages offer to undo a change for a moment after it.
REMEMBERED = timedelta(days=1)

Change = Callable[[Sequence[UUID]], list[UUID]]


@dataclass(frozen=True, slots=True)
class Done:
    """`changed` can be undone; `refusal` says why others stayed, or is empty.

    For `rest` there was no time.
    """

    changed: list[UUID]
    refusal: str
    rest: list[UUID]


def change_all(run_ids: Sequence[UUID], change: Change) -> Done:
    """Change runs; what is refused for some of them keeps no others from changing.

    If nothing changed, the first refusal is raised. When the database gives up after
    some have changed, the rest stay as they are, so that these can be undone.
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
    """Have each change kept under this name, together with what it changes."""

    def change_and_remember(run_ids: Sequence[UUID]) -> list[UUID]:
        with transaction.atomic():
            changed = change(run_ids)
            ids = [str(run_id) for run_id in changed]
            BulkChange.objects.create(project_id=project_id, name=name, run_ids=ids)
        return changed

    return change_and_remember


def end_change(project_id: int, name: UUID) -> None:
    """Say that nothing more will be changed under this name."""
    BulkChange.objects.create(project_id=project_id, name=name, is_last=True)


def forget_changes(now: datetime | None = None) -> None:
    """Delete what nobody will undo any more."""
    limit = (now or timezone.now()) - REMEMBERED
    BulkChange.objects.filter(made_at__lt=limit).delete()

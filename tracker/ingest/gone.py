"""Marks processes as crashed when the deliverer of their spool reports them gone."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from tracker.actor import Actor
from tracker.errors import NotFound, OutOfOrder
from tracker.ingest.commits import committed
from tracker.ingest.opening import from_microseconds
from tracker.ingest.spools import lock_spool
from tracker.ingest.write import Receipt, request_what_follows, writable_workspace
from tracker.models import Spool, State


def note_gone(actor: Actor, spool_id: UUID, *, after: int, time: int) -> Receipt:
    """Mark the process as crashed at `time`, unless it sent more than frame `after`.

    The report may come from a copy of the spool while the process lives elsewhere: its
    next message makes it running again. Raises OutOfOrder if frames are missing, and
    NotFound if the spool or its run is.
    """
    return committed(lambda: _note(actor, spool_id, after, time))


def _note(actor: Actor, spool_id: UUID, after: int, time: int) -> Receipt:
    spool = lock_spool(actor, spool_id)
    if spool is None:
        writable_workspace(actor)
        # Deleted or foreign; a report must not create the run.
        raise NotFound("spool")
    if spool.is_in_trash:
        raise NotFound("run")
    if after > spool.last_number:
        raise OutOfOrder(spool.last_number + 1)
    if after == spool.last_number and spool.state in (State.RUNNING, State.CRASHED):
        heard_at = Spool.objects.values_list("last_seen_at", flat=True).get(id=spool.id)
        # A copied file may be newer than the process that wrote it.
        ended_at = min(from_microseconds(time), heard_at)
        fields: dict[str, Any] = {"state": State.CRASHED, "ended_at": ended_at}
        # The report may be repeated.
        changed = Spool.objects.filter(id=spool.id).exclude(**fields)
        if spool.state == State.RUNNING:
            fields["said_gone_at"] = timezone.now()
        if changed.update(**fields):
            request_what_follows(spool.id, spool.run_id)
    return Receipt(spool.last_number)

"""Stores a batch in one transaction: as a whole or not at all, and once.

A batch touches rows in one order: spool, attributes, journal, run, work.
Everybody who writes to more than one of them keeps to it, so that nobody waits for
somebody who waits for them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import numpy as np
from django.db import transaction
from django.utils import timezone

from tracker.actions.states import settle_states
from tracker.actions.work import request_work
from tracker.actor import Actor
from tracker.errors import NotAllowed, NotFound, OutOfOrder
from tracker.ingest.attributes import (
    first_kinds,
    known_attributes,
    register_paths,
    write_values,
)
from tracker.ingest.batch import Batch, Refusal, read_batch
from tracker.ingest.messages import AddPoints, Close, Drop
from tracker.ingest.opening import from_microseconds, open_spool
from tracker.ingest.pipeline import Known, judge, refuse_other_kinds
from tracker.models import (
    Attribute,
    JournalEntry,
    Role,
    Run,
    Spool,
    State,
    WorkKind,
    Workspace,
)
from tracker.series.journal import encode
from tracker.series.points import Points

LISTED_REFUSALS = 20
FAILURE_CHARACTERS = 65_536
# Compaction waits this long, so that one pass takes several batches.
COMPACTION_DELAY_SECONDS = 1.0
# A run's last sign of life is written this often; its processes share the row.
RUN_SEEN_RESOLUTION = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Receipt:
    """Every frame up to `stored` is stored; the first few refusals, and how many."""

    stored: int
    refused: tuple[Refusal, ...] = ()
    refused_count: int = 0


def store_batch(actor: Actor, spool_id: UUID, body: bytes) -> Receipt:
    batch = read_batch(body)
    with transaction.atomic():
        workspace = _writable_workspace(actor)
        spool = _locked_spool(workspace, spool_id)
        is_new = spool is None
        if spool is None:
            spool = _opened_spool(workspace, spool_id, batch)
        if spool.run.trashed_at is not None:
            raise NotFound("run")

        batch, series = _accepted(spool, batch)
        batch = write_values(spool.run_id, batch)
        point_count = _write_journal(spool, batch, series)
        is_changed = _note_state(spool, batch) or is_new
        _note_progress(spool, batch)
        _request_what_follows(spool, is_changed=is_changed, has_points=point_count > 0)
    return Receipt(
        spool.last_number, batch.refusals[:LISTED_REFUSALS], len(batch.refusals)
    )


def _writable_workspace(actor: Actor) -> Workspace:
    if actor.workspace_id is None or not actor.may_ingest:
        raise NotAllowed("write runs")
    workspace = Workspace.objects.filter(
        id=actor.workspace_id,
        member__user_id=actor.user_id,
        member__role__in=[Role.OWNER, Role.EDITOR],
    ).first()
    if workspace is None:
        raise NotAllowed("write runs")
    return workspace


def _locked_spool(workspace: Workspace, spool_id: UUID) -> Spool | None:
    return (
        # Not the key: rows that refer to the spool need not wait.
        Spool.objects.select_for_update(of=("self",), no_key=True)
        .select_related("run")
        .filter(id=spool_id, run__project__workspace=workspace)
        .first()
    )


def _opened_spool(workspace: Workspace, spool_id: UUID, batch: Batch) -> Spool:
    if batch.opening is None:
        raise OutOfOrder(1)
    open_spool(workspace, spool_id, batch.opening)
    spool = _locked_spool(workspace, spool_id)
    if spool is None:
        raise NotFound("spool")  # another workspace has that id
    return spool


def _accepted(spool: Spool, batch: Batch) -> tuple[Batch, dict[str, int]]:
    """Return what is accepted of the batch, and the ids of its paths."""
    kinds = first_kinds(batch)
    known = known_attributes(spool.run_id, kinds)
    is_any_new = len(known) < len(kinds)
    batch = judge(
        batch,
        Known(
            spool.last_number,
            {path: attribute.kind for path, attribute in known.items()},
            # Counting is dear for a run with very many; so only when it matters.
            Attribute.objects.filter(run_id=spool.run_id).count() if is_any_new else 0,
        ),
    )

    new = {path: k for path, k in first_kinds(batch).items() if path not in known}
    if new:
        register_paths(spool.run_id, new)
        # Read back for their ids, and as another batch may have been faster.
        known |= known_attributes(spool.run_id, new)
        now_known = {path: attribute.kind for path, attribute in known.items()}
        batch = refuse_other_kinds(batch, Known(spool.last_number, now_known, 0))
    return batch, {path: attribute.id for path, attribute in known.items()}


def _write_journal(spool: Spool, batch: Batch, series: dict[str, int]) -> int:
    parts: dict[str, list[AddPoints]] = {}
    for message in batch.messages:
        if isinstance(message.content, AddPoints) and message.content.count:
            parts.setdefault(message.content.path, []).append(message.content)
    if not parts:
        return 0

    points = {series[path]: _joined(some) for path, some in parts.items()}
    count = sum(len(some) for some in points.values())
    JournalEntry.objects.create(
        run_id=spool.run_id,
        spool=spool,
        first_number=batch.first,
        last_number=batch.last,
        point_count=count,
        data=encode(points),
    )
    return count


def _joined(parts: list[AddPoints]) -> Points:
    return Points(
        np.frombuffer(b"".join(part.steps for part in parts), "<f8"),
        np.frombuffer(b"".join(part.times for part in parts), "<i8"),
        np.frombuffer(b"".join(part.values for part in parts), "<f8"),
    )


def _note_state(spool: Spool, batch: Batch) -> bool:
    """Change the spool's state and end as the batch says; return whether they changed."""
    before = spool.state, spool.ended_at
    # A repeated batch says nothing new; an empty one says that the process lives.
    is_repeated = batch.is_heartbeat and batch.last > 0
    if spool.state == State.CRASHED and not is_repeated:
        # It was only silent for long.
        spool.state, spool.ended_at = State.RUNNING, None
    for message in batch.messages:
        if isinstance(message.content, Close):
            spool.state = message.content.state
            spool.ended_at = from_microseconds(message.content.time)
            spool.failure = _storable(message.content.failure)
    return (spool.state, spool.ended_at) != before


def _storable(failure: str) -> str:
    # Kept rather than refused: without it nobody would know why the run failed.
    return failure.replace("\0", "\N{REPLACEMENT CHARACTER}")[:FAILURE_CHARACTERS]


def _note_progress(spool: Spool, batch: Batch) -> None:
    now = timezone.now()
    if not batch.is_heartbeat:
        spool.last_number = batch.last
    spool.last_seen_at = now
    spool.refused = dict(
        Counter(spool.refused) + Counter(refusal.code for refusal in batch.refusals)
    )
    spool.dropped_points += sum(
        message.content.points
        for message in batch.messages
        if isinstance(message.content, Drop)
    )
    spool.save(
        update_fields=[
            "last_number",
            "last_seen_at",
            "refused",
            "dropped_points",
            "state",
            "failure",
            "ended_at",
        ]
    )
    Run.objects.filter(
        id=spool.run_id, last_seen_at__lt=now - RUN_SEEN_RESOLUTION
    ).update(last_seen_at=now)


def _request_what_follows(spool: Spool, *, is_changed: bool, has_points: bool) -> None:
    # In the same transaction: once the batch is acknowledged, the work is asked for.
    # No message is sent from here; the timetable finds the rows, broker or not.
    if is_changed:
        settle_states(spool.run_id)
    has_ended = is_changed and spool.state != State.RUNNING
    if has_points or has_ended:
        delay = 0.0 if has_ended else COMPACTION_DELAY_SECONDS
        request_work(spool.run_id, WorkKind.COMPACT, delay_seconds=delay)
    if has_ended:
        request_work(spool.run_id, WorkKind.DIAGNOSE)

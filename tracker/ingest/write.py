"""Stores a batch in one transaction, completely and exactly once.

The lock order is: spool, attributes, files, records, journal, run, work, run summary.
All code that writes to several of these tables follows it, to prevent deadlocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.utils import timezone

from tracker.actions.runs.run_summaries import HARDWARE, STAGES, TAGS, Source, gather
from tracker.actions.runs.states import settle_states
from tracker.actions.work import request_work
from tracker.actor import Actor
from tracker.errors import NotAllowed, NotFound, OutOfOrder
from tracker.ingest.attributes import (
    KnownAttribute,
    known_attributes,
    refuse_changes,
    register_paths,
    single_kinds,
    write_values,
)
from tracker.ingest.batch import Batch, read_batch
from tracker.ingest.commits import committed
from tracker.ingest.entries import (
    Paths,
    SeriesIds,
    entry_of,
    paths_of_points,
    records_of,
)
from tracker.ingest.files import write_series_files
from tracker.ingest.launches import note_fork
from tracker.ingest.messages import ChangeTags, Close, Drop, SetValue
from tracker.ingest.opening import from_microseconds, open_spool
from tracker.ingest.parameters import new_parameters
from tracker.ingest.paths import known_series, remember_series
from tracker.ingest.pipeline import (
    Known,
    judge,
    refuse_other_kinds,
    remembered_checksums,
)
from tracker.ingest.plain import remember_position, store_plainly
from tracker.ingest.refusal import Refusal
from tracker.ingest.rewinds import write_rewinds
from tracker.ingest.spools import (
    LockedSpool,
    Position,
    add_entry,
    lock_spool,
    note_progress,
)
from tracker.models import Attribute, Run, Spool, State, WorkKind, Workspace
from tracker.queries.hardware.means import affects_means
from tracker.queries.run.namespaces import TAGS_PATH
from tracker.records.store import add_records
from tracker.series.points import Integers

LISTED_REFUSALS = 20
LISTED_PATH_CHARACTERS = 200
FAILURE_CHARACTERS = 65_536


@dataclass(frozen=True, slots=True)
class Receipt:
    """The last stored frame; the first rejected messages, and their number."""

    stored: int
    refused: tuple[Refusal, ...] = ()
    refused_count: int = 0
    # None for a plain batch: the first batch of a spool is never plain.
    run: UUID | None = None
    # In the answer to the first batch of rank 0: the run's name if it was numbered.
    numbered_name: str | None = None


def store_batch(
    actor: Actor,
    spool_id: UUID,
    body: bytes,
    *,
    confirm: Callable[[], Actor] | None = None,
) -> Receipt:
    """Store a batch; raise a TrackerError if it is rejected as a whole.

    `confirm` checks a cached actor and raises if its token is no longer valid. A plain
    batch does this itself.
    """
    batch = read_batch(body)
    if store_plainly(actor, spool_id, batch):
        return Receipt(batch.last)
    if confirm is not None:
        actor = confirm()

    stored = committed(lambda: _store(actor, spool_id, batch))
    # Only committed data may be cached.
    for paths, ids in stored.series.items():
        remember_series(stored.position.run_id, paths, ids)
    remember_position(spool_id, stored.position)
    return Receipt(
        stored.position.last_number,
        tuple(map(_listed, stored.refusals[:LISTED_REFUSALS])),
        len(stored.refusals),
        stored.position.run_id,
        stored.numbered_name,
    )


@dataclass(frozen=True, slots=True)
class _Stored:
    """The result of storing a batch."""

    position: Position
    series: SeriesIds
    refusals: tuple[Refusal, ...]
    numbered_name: str | None


def _store(actor: Actor, spool_id: UUID, batch: Batch) -> _Stored:
    spool = lock_spool(actor, spool_id)
    is_new = spool is None
    if spool is None:
        spool = _opened_spool(actor, spool_id, batch)
        batch = note_fork(spool.run_id, batch)
    if spool.is_in_trash:
        raise NotFound("run")

    batch, checksums, series, known = _accepted(spool, batch)
    batch = write_values(spool, batch, known)
    write_series_files(spool, batch)
    ids = {path: each.id for path, each in known.items()}
    is_ripe = add_records(spool.run_id, records_of(batch, ids), spool.id)
    now = timezone.now()
    entry = entry_of(batch, series)
    if entry is not None:
        add_entry(spool.run_id, spool.id, entry, now)
    batch = write_rewinds(spool.run_id, batch, now)
    last_number = spool.last_number if batch.is_heartbeat else batch.last
    note_progress(spool, last_number, checksums, now)
    has_changed = _note_what_is_rare(spool, batch, now)
    if is_ripe:
        request_work(spool.run_id, WorkKind.COMPACT)
    if has_changed or is_new:
        request_what_follows(spool.id, spool.run_id)
    if sources := _changed_sources(batch, is_new=is_new):
        gather([spool.run_id], *sources)
    return _Stored(
        Position(spool.run_id, last_number, checksums),
        series,
        batch.refusals,
        _numbered_name(spool.run_id, batch) if is_new else None,
    )


def _numbered_name(run_id: UUID, batch: Batch) -> str | None:
    if batch.opening is None or batch.opening.rank or batch.opening.helper:
        return None
    # Children are numbered like their parent, which reports it once.
    numbered = Run.objects.filter(id=run_id, parent=None).exclude(launch_name="")
    return numbered.values_list("name", flat=True).first()


def _changed_sources(batch: Batch, *, is_new: bool) -> set[Source]:
    """Return the parts of the run summary to update, which is rare."""
    sources = {STAGES} if is_new else set()
    for message in batch.messages:
        match message.content:
            case SetValue(path=path) if affects_means(path):
                sources.add(HARDWARE)
            case SetValue(path=path) if path == TAGS_PATH:
                sources.add(TAGS)
            case ChangeTags():
                sources.add(TAGS)
    return sources


def _listed(refusal: Refusal) -> Refusal:
    return replace(refusal, path=refusal.path[:LISTED_PATH_CHARACTERS])


def _opened_spool(actor: Actor, spool_id: UUID, batch: Batch) -> LockedSpool:
    workspace = writable_workspace(actor)
    if batch.opening is None:
        raise OutOfOrder(1)
    open_spool(workspace, spool_id, batch.opening, actor=actor)
    spool = lock_spool(actor, spool_id)
    if spool is None:
        raise NotFound("spool")  # another workspace has that id
    return spool


def writable_workspace(actor: Actor) -> Workspace:
    """Return the workspace to which the actor may log, possibly to some projects only."""
    if actor.workspace_id is None or not actor.may_ingest:
        raise NotAllowed("write runs")
    workspaces = Workspace.objects.of_user(actor.user_id)
    workspace = workspaces.filter(id=actor.workspace_id).first()
    if workspace is None:
        raise NotAllowed("write runs")
    return workspace


def _accepted(
    spool: LockedSpool, batch: Batch
) -> tuple[Batch, bytes, SeriesIds, Mapping[str, KnownAttribute]]:
    """Return the accepted batch, its checksums, its series ids, and the stored
    attributes of its other paths.
    """
    series = dict(_known_series(spool.run_id, batch))
    kinds = single_kinds(batch, beside=series)
    known = known_attributes(spool.run_id, kinds)
    before = Known(
        last_number=spool.last_number,
        kinds={path: attribute.kind for path, attribute in known.items()},
        # Counting is slow for runs with many attributes, so only if needed.
        attribute_count=(
            Attribute.objects.filter(run_id=spool.run_id).count()
            if len(known) < len(kinds)
            else 0
        ),
        checksums=spool.checksums,
        series=series,
    )
    # Before new paths are stored, so that a rejected value leaves none behind.
    batch = refuse_changes(spool, judge(batch, before))
    checksums = remembered_checksums(before.checksums, batch)

    accepted = single_kinds(batch, beside=series)
    new = {path: kind for path, kind in accepted.items() if path not in known}
    if new:
        parameters = new_parameters(spool.run_id, batch)
        register_paths(spool.run_id, spool.project_id, new, parameters=parameters)
        # Read back for their ids, and because a concurrent batch may have inserted
        # them.
        known |= known_attributes(spool.run_id, new)
        now_known = {path: attribute.kind for path, attribute in known.items()}
        batch = refuse_other_kinds(
            batch, Known(spool.last_number, now_known, 0, series=series)
        )
    for paths in paths_of_points(batch):
        if paths not in series:
            series[paths] = np.array([known[path].id for path in paths], np.int64)
    return batch, checksums, series, known


def _known_series(run_id: UUID, batch: Batch) -> Iterator[tuple[Paths, Integers]]:
    for paths in paths_of_points(batch):
        ids = known_series(run_id, paths)
        if ids is not None:
            yield paths, ids


def _note_what_is_rare(spool: LockedSpool, batch: Batch, now: datetime) -> bool:
    """Record states, rejections and drops; return whether the spool's state changed."""
    changes = _new_state(spool, batch)
    has_changed = bool(changes)
    dropped = [m.content.points for m in batch.messages if isinstance(m.content, Drop)]
    if batch.refusals or dropped:
        stored = Spool.objects.only("refused", "dropped_points").get(id=spool.id)
        codes = Counter(refusal.code for refusal in batch.refusals)
        changes["refused"] = dict(Counter(stored.refused) + codes)
        changes["dropped_points"] = stored.dropped_points + sum(dropped)
    if changes:
        Spool.objects.filter(id=spool.id).update(**changes)
    if spool.is_run_stale:
        Run.objects.filter(id=spool.run_id, last_seen_at__lt=now).update(
            last_seen_at=now
        )
    return has_changed


# Any: columns of all kinds.
def _new_state(spool: LockedSpool, batch: Batch) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    # A repeated batch has no news; an empty one is a heartbeat.
    is_repeated = batch.is_heartbeat and batch.last > 0
    if spool.state == State.CRASHED and not is_repeated:
        # The process was only silent.
        changes = {"state": State.RUNNING, "ended_at": None}
    for message in batch.messages:
        if isinstance(message.content, Close):
            changes = {
                "state": _state_of(message.content),
                "ended_at": from_microseconds(message.content.time),
                "failure": _storable(message.content.failure),
            }
    return changes


def _state_of(close: Close) -> State:
    return State.PREEMPTED if close.preempted else State(close.state)


def _storable(failure: str) -> str:
    # Truncated, not rejected, because it is the only record of the failure's cause.
    return failure.replace("\0", "\N{REPLACEMENT CHARACTER}")[:FAILURE_CHARACTERS]


def request_what_follows(spool_id: UUID, run_id: UUID) -> None:
    """Update all states that depend on a process, and request background work."""
    # In the same transaction, so that an acknowledged batch has its work requested. No
    # message is sent: the schedule finds the rows, even without a broker. While a
    # process lives, compaction is requested by the journal.
    settle_states(run_id)
    if Spool.objects.filter(id=spool_id).exclude(state=State.RUNNING).exists():
        request_work(run_id, WorkKind.COMPACT)
        request_work(run_id, WorkKind.DIAGNOSE)

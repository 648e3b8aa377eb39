"""The SQL statements that run for every batch.

Building them with the ORM takes longer than executing them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from tracker.actor import Actor
from tracker.ingest.commits import committed
from tracker.ingest.entries import Entry
from tracker.models import State
from tracker.models.project import ROLE_IN_PROJECT
from tracker.server.statements import (
    carry_out,
    changed_rows,
    database,
    key,
    key_read,
    moment,
    one_row,
)

# How often a run's last_seen_at is written; its processes share the row.
RUN_SEEN_RESOLUTION = timedelta(seconds=5)

# An archived project is read-only.
MAY_LOG = f"""
project.archived_at IS NULL AND {ROLE_IN_PROJECT} IN ('owner', 'admin', 'member')
"""
# A spool, if the actor may write to its project.
FIND = f"""
SELECT spool.run_id, run.project_id, spool.last_number, spool.recent_checksums,
  spool.state, spool.closed_attributes, run.trashed_at IS NOT NULL,
  run.last_seen_at < %s
FROM tracker_spool AS spool
JOIN tracker_run AS run ON run.id = spool.run_id
JOIN tracker_project AS project ON project.id = run.project_id
JOIN tracker_member AS member ON member.workspace_id = project.workspace_id
WHERE spool.id = %s AND project.workspace_id = %s AND member.user_id = %s
  AND {MAY_LOG}
"""
# Not the key: rows that refer to the spool need not wait. On SQLite, the transaction
# locks the whole database.
FIND_LOCKED = FIND + "FOR NO KEY UPDATE OF spool"

NEW_ENTRY = """
INSERT INTO tracker_journalentry (run_id, spool_id, first_number, last_number,
  point_count, received_at, data, is_damaged)
"""
ADD_ENTRY = NEW_ENTRY + "VALUES (%s, %s, %s, %s, %s, %s, %s, FALSE)"

NOTE_PROGRESS = """
UPDATE tracker_spool SET last_number = %s, recent_checksums = %s, last_seen_at = %s
WHERE id = %s
"""
# The same, if the spool is in the expected state.
NOTE_NEXT = (
    NOTE_PROGRESS
    + f"""
  AND last_number = %s AND recent_checksums = %s AND state = %s AND EXISTS (
    SELECT 1 FROM tracker_run AS run
    JOIN tracker_project AS project ON project.id = run.project_id
    JOIN tracker_member AS member ON member.workspace_id = project.workspace_id
    JOIN tracker_user AS person ON person.id = member.user_id
    JOIN tracker_token AS token ON token.member_id = member.id
    WHERE run.id = tracker_spool.run_id AND run.trashed_at IS NULL
      AND run.last_seen_at >= %s AND person.is_active AND {MAY_LOG}
      AND token.id = %s AND token.revoked_at IS NULL AND NOT token.is_limited
      AND (token.expires_at IS NULL OR token.expires_at > %s)
  )
"""
)
# Both in one statement, which only PostgreSQL supports.
ADD_NEXT = f"""
WITH spool AS ({NOTE_NEXT} RETURNING id) {NEW_ENTRY}
SELECT %s, spool.id, %s, %s, %s, %s, %s, FALSE FROM spool
"""


@dataclass(frozen=True, slots=True)
class Position:
    """The stored position of a spool."""

    run_id: UUID
    last_number: int
    checksums: bytes


@dataclass(frozen=True, slots=True)
class LockedSpool:
    """The state that affects a batch, unchanged until the transaction ends."""

    id: UUID
    run_id: UUID
    project_id: int
    last_number: int
    checksums: bytes
    state: str
    # Attributes up to this id are closed to the process; None: all are open.
    closed_attributes: int | None
    is_in_trash: bool
    # The run's last_seen_at is old enough to be updated.
    is_run_stale: bool


def lock_spool(actor: Actor, spool_id: UUID) -> LockedSpool | None:
    """Lock the spool; return None if the actor may not write to it."""
    row = one_row(
        FIND_LOCKED if database().features.has_select_for_update else FIND,
        [
            moment(timezone.now() - RUN_SEEN_RESOLUTION),
            key(spool_id),
            actor.workspace_id,
            actor.user_id,
        ],
    )
    if row is None:
        return None
    run_id, project_id, last_number, checksums, state, closed, in_trash, is_stale = row
    if actor.project_ids is not None and project_id not in actor.project_ids:
        return None
    return LockedSpool(
        id=spool_id,
        run_id=key_read(run_id),
        project_id=project_id,
        last_number=last_number,
        checksums=bytes(checksums),
        state=State(state),
        closed_attributes=closed,
        is_in_trash=bool(in_trash),
        is_run_stale=bool(is_stale),
    )


def add_entry(run_id: UUID, spool_id: UUID, entry: Entry, now: datetime) -> None:
    carry_out(
        ADD_ENTRY,
        [
            key(run_id),
            key(spool_id),
            entry.first,
            entry.last,
            entry.point_count,
            moment(now),
            entry.data,
        ],
    )


def note_progress(
    spool: LockedSpool, last: int, checksums: bytes, now: datetime
) -> None:
    carry_out(NOTE_PROGRESS, [last, checksums, moment(now), key(spool.id)])


def add_next(
    token_id: int, spool_id: UUID, before: Position, after: Position, entry: Entry
) -> bool:
    """Add the entry if the spool is at the expected position; return whether it was.

    It also fails if the run was trashed, the process was marked as crashed, the member
    may no longer write, or the token is no longer valid.
    """
    now = timezone.now()
    expected = [
        after.last_number,
        after.checksums,
        moment(now),
        key(spool_id),
        before.last_number,
        before.checksums,
        State.RUNNING.value,
        moment(now - RUN_SEEN_RESOLUTION),
        token_id,
        moment(now),
    ]
    if database().vendor == "postgresql":
        values = [entry.first, entry.last, entry.point_count, moment(now), entry.data]
        return changed_rows(ADD_NEXT, [*expected, key(before.run_id), *values]) == 1

    def record_and_add() -> bool:
        is_as_expected = changed_rows(NOTE_NEXT, expected) == 1
        if is_as_expected:
            add_entry(before.run_id, spool_id, entry, now)
        return is_as_expected

    return committed(record_and_add)

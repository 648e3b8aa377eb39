"""Background tasks: each takes ids and calls one action.

Messages only wake the worker. `send_due_work` sends a lost one again, and a duplicate
finds the work done.
"""

from __future__ import annotations

import logging
import random
import time
from datetime import datetime
from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import worker_ready
from django.utils import timezone

from tracker.actions.access import delete_expired_access
from tracker.actions.alerts import channels_to_send, send_to
from tracker.actions.compactions import request_compactions
from tracker.actions.deletions import purge_deleted
from tracker.actions.diagnoses.diagnoses import diagnose_run, runs_to_diagnose
from tracker.actions.files import SHARDS, collect, remove_strays
from tracker.actions.metric_incidents import (
    check_rules,
    end_incidents_of_ended_runs,
    runs_to_check,
)
from tracker.actions.people.audit import delete_old_entries
from tracker.actions.people.mail import delete_old_mails, send_mails
from tracker.actions.people.notification_mails import mail_notifications
from tracker.actions.people.notification_webhooks import post_to, users_to_post
from tracker.actions.people.notifications import delete_old_notifications
from tracker.actions.projects import purge_deleted_projects
from tracker.actions.report_comments import purge_comments
from tracker.actions.runs.annotations import purge_annotations
from tracker.actions.runs.forks import copy_series
from tracker.actions.runs.many_runs import forget_changes
from tracker.actions.runs.purging import purge_run
from tracker.actions.runs.run_comments import purge_run_comments
from tracker.actions.runs.states import has_unjudged_stage, mark_silent
from tracker.actions.runs.trash import (
    delete_expired,
    move_silent_to_trash,
    request_purges,
)
from tracker.actions.work import (
    claim_work,
    due_work_ids,
    fail_work,
    finish_work,
    request_work,
    request_works,
)
from tracker.embedded.sqlite.space import give_space_back
from tracker.models import WorkKind
from tracker.records.joining import MAX_REPLACED, join_records
from tracker.series.compaction import compact_run, needs_compaction

logger = logging.getLogger(__name__)

# Time limits of deleting and reclaiming space, well within a worker's lease.
PURGE_SECONDS = 20.0
SPACE_SECONDS = 20.0
COLLECT_SECONDS = 20.0
# Each interval scans one shard of the stored files.
STRAY_SECONDS = 600
# Delay of a fork whose source is a fork that is not copied yet.
SOURCE_SECONDS = 2.0

# Messages per interval, one per worker thread: each thread does due work for a while.
# Messages not taken before the next interval expire.
WAKE_UP_CALLS = 64
WAKE_UP_SECONDS = 2.0
AWAKE_SECONDS = 1.0
# How many due rows a thread considers, in random order because other threads consider
# the same ones.
LOOKED_AT = 32

_watching_since: datetime | None = None


@shared_task(acks_late=True)
def do_due_work() -> None:
    """Do due work, one row after the other, for a while."""
    until = time.monotonic() + AWAKE_SECONDS
    is_found = True
    while is_found:
        is_found = False
        due = due_work_ids(LOOKED_AT)
        random.shuffle(due)
        for work_id in due:
            if time.monotonic() >= until:
                return
            is_found |= do_work(work_id)


def do_work(work_id: int) -> bool:
    """Do the work of one row; return False if it is not due or already claimed."""
    claim = claim_work(work_id)
    if claim is None:
        return False
    try:
        if claim.kind == WorkKind.COMPACT:
            compact(claim.run_id)
        elif claim.kind == WorkKind.PURGE:
            purge(claim.run_id)
        else:
            diagnose_run(claim.run_id)
    except Exception as error:
        # The row stores the error, and the work is retried later.
        logger.exception("%s of run %s failed", claim.kind, claim.run_id)
        fail_work(claim, error)
    else:
        finish_work(claim)
    return True


@shared_task(acks_late=True)
def send_due_work() -> None:
    request_compactions()
    for _ in due_work_ids(WAKE_UP_CALLS):
        do_due_work.apply_async(expires=WAKE_UP_SECONDS)


@worker_ready.connect
def begin_to_watch(**_: Any) -> None:
    """Record the start of this worker: before it, the whole server may have been down."""
    global _watching_since  # noqa: PLW0603 - one worker per process
    _watching_since = timezone.now()


@shared_task(acks_late=True)
def mark_silent_processes() -> None:
    mark_silent(watching_since=_watching_since)


@shared_task(acks_late=True)
def request_live_diagnoses() -> None:
    request_works(runs_to_diagnose(), WorkKind.DIAGNOSE)


@shared_task(acks_late=True)
def send_alerts() -> None:
    for channel_id in channels_to_send():
        send_to_channel.apply_async((channel_id,), expires=WAKE_UP_SECONDS * 10)


@shared_task(acks_late=True)
def send_due_mails() -> None:
    send_mails()


@shared_task(acks_late=True)
def send_notifications() -> None:
    mail_notifications()
    for user_id in users_to_post():
        post_notifications.apply_async((user_id,), expires=WAKE_UP_SECONDS * 10)


@shared_task(acks_late=True)
def post_notifications(user_id: int) -> None:
    post_to(user_id)


@shared_task(acks_late=True)
def check_metric_rules() -> None:
    end_incidents_of_ended_runs()
    for run_id in runs_to_check():
        check_rules_of_run.apply_async((str(run_id),), expires=WAKE_UP_SECONDS * 10)


@shared_task(acks_late=True)
def check_rules_of_run(run_id: str) -> None:
    check_rules(UUID(run_id))


@shared_task(acks_late=True)
def send_to_channel(channel_id: int) -> None:
    send_to(channel_id)


@shared_task(acks_late=True)
def clear_away() -> None:
    """Trash, purge and delete expired objects."""
    move_silent_to_trash()
    delete_expired()
    purge_deleted()
    forget_changes()
    purge_annotations()
    purge_comments()
    purge_run_comments()
    delete_expired_access()
    delete_old_mails()
    delete_old_entries()
    delete_old_notifications()
    purge_deleted_projects()
    request_purges()
    give_space_back(SPACE_SECONDS)


@shared_task(acks_late=True)
def collect_files() -> None:
    """Delete file contents without references."""
    collect(seconds=COLLECT_SECONDS)
    remove_strays(int(time.time()) // STRAY_SECONDS % SHARDS)


def compact(run_id: UUID) -> None:
    """Compact, and request the final diagnosis if it waited for these points."""
    if not copy_series(run_id):
        request_work(run_id, WorkKind.COMPACT, delay_seconds=SOURCE_SECONDS)
    compact_run(run_id)
    joined = join_records(run_id)
    if needs_compaction(run_id) or joined >= MAX_REPLACED:
        request_work(run_id, WorkKind.COMPACT)
    elif has_unjudged_stage(run_id):
        request_work(run_id, WorkKind.DIAGNOSE)


def purge(run_id: UUID) -> None:
    """Purge for a limited time; reclaim space once the run is gone."""
    if purge_run(run_id, seconds=PURGE_SECONDS).is_done:
        give_space_back(SPACE_SECONDS)
    else:
        request_work(run_id, WorkKind.PURGE)

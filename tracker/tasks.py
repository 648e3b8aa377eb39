"""Background work: each task takes ids and calls one action.

Messages are wake-up calls. A lost one is sent again by `send_due_work`, and one
that comes twice finds the work done.
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
from tracker.actions.annotations import purge_annotations
from tracker.actions.compactions import request_compactions
from tracker.actions.deletions import purge_deleted
from tracker.actions.diagnoses import diagnose_run, runs_to_diagnose
from tracker.actions.files import SHARDS, collect, remove_strays
from tracker.actions.many_runs import forget_changes
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
from tracker.actions.purging import purge_run
from tracker.actions.report_comments import purge_comments
from tracker.actions.run_comments import purge_run_comments
from tracker.actions.states import has_unjudged_stage, mark_silent
from tracker.actions.trash import delete_expired, move_silent_to_trash, request_purges
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

# Deleting and giving space back go on for so long, well within a worker's lease.
PURGE_SECONDS = 20.0
SPACE_SECONDS = 20.0
COLLECT_SECONDS = 20.0
# A shard of the stored files is looked through in each.
STRAY_SECONDS = 600

# Wake-up calls at a time, a worker's thread each: whoever is awake does what is due for
# a while. Those nobody took by the time of the next are not needed.
WAKE_UP_CALLS = 64
WAKE_UP_SECONDS = 2.0
AWAKE_SECONDS = 1.0
# How much of what is due one looks at; in no order, as others look at the same.
LOOKED_AT = 32

_watching_since: datetime | None = None


@shared_task(acks_late=True)
def do_due_work() -> None:
    """Do what is due and free, one piece after the other, for a while."""
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
    """Do a piece of work, or return False if it is not due or somebody else has it."""
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
        # Whatever it was is noted in the row, and the work tried again later.
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
    """Note when this worker began: until then, the whole server may have been away."""
    global _watching_since  # noqa: PLW0603 - there is one worker in a process
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
    """Move to the trash, delete and give back whatever it is time for."""
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
    """Delete contents of files that nobody refers to any more."""
    collect(seconds=COLLECT_SECONDS)
    remove_strays(int(time.time()) // STRAY_SECONDS % SHARDS)


def compact(run_id: UUID) -> None:
    """Compact, and ask for the last diagnosis if that is what the points waited for."""
    compact_run(run_id)
    joined = join_records(run_id)
    if needs_compaction(run_id) or joined >= MAX_REPLACED:
        request_work(run_id, WorkKind.COMPACT)
    elif has_unjudged_stage(run_id):
        request_work(run_id, WorkKind.DIAGNOSE)


def purge(run_id: UUID) -> None:
    """Delete for a while; the space is given back once the run is gone."""
    if purge_run(run_id, seconds=PURGE_SECONDS).is_done:
        give_space_back(SPACE_SECONDS)
    else:
        request_work(run_id, WorkKind.PURGE)

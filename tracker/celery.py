"""The Celery application and its schedule.

Database rows hold the pending work; a message only triggers a check. A lost or
duplicate message therefore costs seconds and no work, on every broker.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_init
from django.conf import settings
from django.db import connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tracker.settings")

# How often the worker polls the queue folder: 0.1 s costs less than 1 % of a core, and
# the default of 1 s delays every task by seconds.
POLLING_SECONDS = 0.1
# How long a stopping worker may continue its running tasks.
SOFT_SHUTDOWN_SECONDS = 3.0

# The worker's nice value where CPUs are scarce: pages and agents wait for responses,
# compaction can be late. The worker keeps a quarter of a core that it shares with them.
# Containers share CPUs by their own weights. Not on SQLite, where a slow worker that
# holds the write lock blocks everything.
STANDS_BACK_BY = 5
# The nice value of the session, which Linux applies before those of processes.
SESSION = Path("/proc/self/autogroup")

SEND_DUE_WORK_SECONDS = 2.0
MARK_SILENT_SECONDS = 15.0
DIAGNOSE_LIVE_SECONDS = 15.0
SEND_ALERTS_SECONDS = 5.0
CHECK_RULES_SECONDS = 20.0
CLEAR_AWAY_SECONDS = 60.0
COLLECT_FILES_SECONDS = 600.0

# Rows have their own leases, so an unacknowledged message only has to be redelivered
# eventually. Without the two restore options, redelivery takes up to 100 s longer than
# the visibility timeout.
REDIS_OPTIONS = {
    "visibility_timeout": 120,
    "unacked_restore_interval": 10,
    "unacked_restore_throttle": 1,
    "socket_timeout": 10,
    "socket_keepalive": True,
}


def broker() -> dict[str, Any]:
    """Return the broker settings: Redis if configured, else a folder."""
    if settings.REDIS_URL:
        return {
            "broker_url": settings.REDIS_URL,
            "broker_transport_options": REDIS_OPTIONS,
        }

    queue = settings.DATA_FOLDER / "queue"
    (queue / "messages").mkdir(parents=True, exist_ok=True)
    (queue / "control").mkdir(exist_ok=True)
    return {
        "broker_url": "filesystem://localhost",
        "broker_transport": "tracker.embedded.queue:Transport",
        "broker_transport_options": {
            "data_folder_in": str(queue / "messages"),
            "data_folder_out": str(queue / "messages"),
            "control_folder": str(queue / "control"),
            "polling_interval": POLLING_SECONDS,
        },
    }


def every(seconds: float, task: str) -> dict[str, Any]:
    # Return a schedule entry whose message expires before the next one is sent.
    #
    # Otherwise messages pile up while the worker is down.
    return {"task": task, "schedule": seconds, "options": {"expires": seconds}}


app = Celery(
    "tracker",
    include=[
        "tracker.tasks",
        "tracker.server.heartbeats",
        "tracker.server.timetable",
    ],
)
app.conf.update(
    **broker(),
    broker_connection_retry_on_startup=True,
    accept_content=["json"],
    task_serializer="json",
    task_ignore_result=True,
    # Acknowledged late and not prefetched: the row's lease survives a killed worker.
    worker_prefetch_multiplier=1,
    worker_soft_shutdown_timeout=SOFT_SHUTDOWN_SECONDS,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    beat_schedule={
        "send due work": every(SEND_DUE_WORK_SECONDS, "tracker.tasks.send_due_work"),
        "mark silent processes": every(
            MARK_SILENT_SECONDS, "tracker.tasks.mark_silent_processes"
        ),
        "request live diagnoses": every(
            DIAGNOSE_LIVE_SECONDS, "tracker.tasks.request_live_diagnoses"
        ),
        "send alerts": every(SEND_ALERTS_SECONDS, "tracker.tasks.send_alerts"),
        "check metric rules": every(
            CHECK_RULES_SECONDS, "tracker.tasks.check_metric_rules"
        ),
        "send notifications": every(
            SEND_ALERTS_SECONDS, "tracker.tasks.send_notifications"
        ),
        "send due mails": every(SEND_ALERTS_SECONDS, "tracker.tasks.send_due_mails"),
        "clear away": every(CLEAR_AWAY_SECONDS, "tracker.tasks.clear_away"),
        "collect files": every(COLLECT_FILES_SECONDS, "tracker.tasks.collect_files"),
    },
)


def stand_back(**_: Any) -> None:
    if connection.vendor == "sqlite":
        return
    if hasattr(os, "nice"):
        os.nice(STANDS_BACK_BY)
    # Only for its own session: a shell's session contains other programs.
    if hasattr(os, "getsid") and os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):
            SESSION.write_text(f"{STANDS_BACK_BY}\n", "ascii")


def exit_on_signals(**_: Any) -> None:
    """End the scheduler at once on SIGTERM and SIGINT; it has nothing to save.

    Celery's handler closes the broker connection inside the signal handler and then
    raises SystemExit. A garbage collection can swallow that, and the scheduler never
    ends.
    """
    if threading.current_thread() is not threading.main_thread():
        return  # the worker's own handlers stay
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))


worker_init.connect(stand_back)
beat_init.connect(exit_on_signals)

"""Heartbeat threads of workers and schedulers."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import Any

from celery.signals import beat_init, worker_ready
from django.db import Error, connection

from tracker.actions.heartbeats import record_heartbeat
from tracker.models import ProcessRole

HEARTBEAT_SECONDS = 15.0


def start_worker_heartbeat(**_: Any) -> None:
    start(ProcessRole.WORKER)


def start_scheduler_heartbeat(**_: Any) -> None:
    start(ProcessRole.SCHEDULER)


def start(role: ProcessRole) -> None:
    threading.Thread(
        target=_report, args=(role,), name="heartbeat", daemon=True
    ).start()


def _report(role: ProcessRole) -> None:
    while True:
        # The next heartbeat retries; tasks log why the database is unavailable.
        with suppress(Error):
            record_heartbeat(role)
        # Closed between heartbeats: it would be one more connection per process.
        connection.close()
        time.sleep(HEARTBEAT_SECONDS)


worker_ready.connect(start_worker_heartbeat)
beat_init.connect(start_scheduler_heartbeat)

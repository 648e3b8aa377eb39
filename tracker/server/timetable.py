"""Runs Celery's timetable in a thread of the only worker.

Embedded mode has exactly one worker, which spares a process of 60 MB. Team mode has
any number of workers and one scheduler process.
"""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

from celery import Celery
from celery.beat import Service
from celery.signals import worker_ready
from django.conf import settings

logger = logging.getLogger(__name__)


def start_timetable(sender: Any, **_: Any) -> None:
    # Any: Celery ships no types.
    if not settings.REDIS_URL:
        threading.Thread(
            target=_run, args=(sender.app,), name="timetable", daemon=True
        ).start()


def _run(app: Celery) -> None:
    try:
        app.set_current()
        # In memory: a schedule of intervals has no state to persist.
        Service(app, scheduler_cls="celery.beat:Scheduler").start()
    except Exception:
        # Without its timetable a worker is useless: the supervisor starts another.
        logger.exception("the timetable ended")
        os._exit(1)


worker_ready.connect(start_timetable)

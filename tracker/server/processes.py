"""The programs an installation consists of, the same in both modes."""

from __future__ import annotations

import sys
from pathlib import Path

# Where they start: Python finds `tracker` and `web` there.
ROOT = Path(__file__).resolve().parents[2]
# A thread that waits for the database must not stop the others.
THREADS = 8
# Besides, for the contents of files, however slowly they come and go.
UPLOADS_AT_ONCE, DOWNLOADS_AT_ONCE = 3, 4
# And for bodies that come slowly.
SLOW_BATCHES_AT_ONCE, SLOW_FORMS_AT_ONCE, ABANDONED_AT_ONCE = 4, 2, 8
BLOCKING_THREADS = (
    THREADS
    + UPLOADS_AT_ONCE
    + DOWNLOADS_AT_ONCE
    + SLOW_BATCHES_AT_ONCE
    + SLOW_FORMS_AT_ONCE
    + ABANDONED_AT_ONCE
)
# PostgreSQL connections of a web process. A download may hold one until its end; a
# thread that waits for a body holds none.
DATABASE_CONNECTIONS = THREADS + DOWNLOADS_AT_ONCE
MIN_DATABASE_CONNECTIONS = DOWNLOADS_AT_ONCE + 1
WEB_PROCESSES = 2
# HTTP connections that each web process keeps; each agent has one, and each browser some.
MAX_CONNECTIONS = 4_096
# Threads keep their SQLite connections, so they are kept as long as granian allows.
IDLE_THREAD_SECONDS = 600
# How long requests that have begun may go on when the server stops.
DRAIN_SECONDS = 30
WORKER_THREADS = 2


def web(*, bind: str, port: int, workers: int = 1) -> list[str]:
    return [
        *(sys.executable, "-m", "granian", "tracker.embedded.web:application"),
        *("--interface", "wsgi", "--no-ws", "--log-level", "warning"),
        *("--host", bind, "--port", str(port), "--workers", str(workers)),
        # Both count connections: granian answers no more of them than the second says.
        *("--backlog", str(MAX_CONNECTIONS)),
        *("--backpressure", str(MAX_CONNECTIONS)),
        *("--blocking-threads", str(BLOCKING_THREADS)),
        *("--blocking-threads-idle-timeout", str(IDLE_THREAD_SECONDS)),
        *("--workers-kill-timeout", str(DRAIN_SECONDS)),
    ]


def worker() -> list[str]:
    return [
        *(
            sys.executable,
            "-m",
            "celery",
            "--quiet",
            "--app",
            "tracker.celery",
            "worker",
        ),
        *("--pool", "threads", "--concurrency", str(WORKER_THREADS)),
        # What workers tell each other costs messages and serves nobody here.
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        *("--loglevel", "WARNING"),
    ]


def scheduler() -> list[str]:
    return [
        *(sys.executable, "-m", "celery", "--quiet", "--app", "tracker.celery", "beat"),
        # In memory: a timetable of intervals has nothing to remember.
        *("--scheduler", "celery.beat:Scheduler", "--pidfile", ""),
        *("--loglevel", "WARNING"),
    ]


def forwarder() -> list[str]:
    """Deliver what local training processes wrote and could not send before they died."""
    return [sys.executable, "-m", "seamark", "sync", "--follow"]

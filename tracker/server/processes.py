"""The commands of an installation's processes, the same in both modes."""

from __future__ import annotations

import sys
from pathlib import Path

# Working directory from which Python imports `tracker` and `web`.
ROOT = Path(__file__).resolve().parents[2]
# A thread that waits for the database must not block the others.
THREADS = 8
# Additional threads for file transfers, which may be slow.
UPLOADS_AT_ONCE, DOWNLOADS_AT_ONCE = 3, 4
# Additional threads for slow request bodies.
SLOW_BATCHES_AT_ONCE, SLOW_FORMS_AT_ONCE, ABANDONED_AT_ONCE = 4, 2, 8
BLOCKING_THREADS = (
    THREADS
    + UPLOADS_AT_ONCE
    + DOWNLOADS_AT_ONCE
    + SLOW_BATCHES_AT_ONCE
    + SLOW_FORMS_AT_ONCE
    + ABANDONED_AT_ONCE
)
# PostgreSQL connections of a web process. A download may hold one until it ends; a
# thread that waits for a body holds none.
DATABASE_CONNECTIONS = THREADS + DOWNLOADS_AT_ONCE
MIN_DATABASE_CONNECTIONS = DOWNLOADS_AT_ONCE + 1
WEB_PROCESSES = 2
# HTTP connections per web process; each agent holds one, each browser several.
MAX_CONNECTIONS = 4_096
# Threads keep their SQLite connections, so they live as long as granian allows.
IDLE_THREAD_SECONDS = 600
# How long running requests may continue when the server stops.
DRAIN_SECONDS = 30
WORKER_THREADS = 2


def web(*, bind: str, port: int, workers: int = 1) -> list[str]:
    return [
        *(sys.executable, "-m", "granian", "tracker.embedded.web:application"),
        *("--interface", "wsgi", "--no-ws", "--log-level", "warning"),
        *("--host", bind, "--port", str(port), "--workers", str(workers)),
        # Both count connections; granian serves no more than the backpressure.
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
        # Workers do not need to know of each other, and these messages cost work.
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        *("--loglevel", "WARNING"),
    ]


def scheduler() -> list[str]:
    return [
        *(sys.executable, "-m", "celery", "--quiet", "--app", "tracker.celery", "beat"),
        # In memory: a schedule of intervals has no state to persist.
        *("--scheduler", "celery.beat:Scheduler", "--pidfile", ""),
        *("--loglevel", "WARNING"),
    ]


def forwarder() -> list[str]:
    """Upload the data of local training processes that ended before sending it."""
    return [sys.executable, "-m", "seamark", "sync", "--follow"]

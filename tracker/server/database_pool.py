"""Options of the pool of PostgreSQL connections that each process has."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from django.db import DEFAULT_DB_ALIAS, connections

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

# A busy server answers late rather than not at all.
WAIT_SECONDS = 30.0
# From its largest size to one connection.
SHRINK_SECONDS = 45.0


def pool_options(size: int) -> dict[str, Any]:
    return {
        "min_size": 1,
        "max_size": size,
        "timeout": WAIT_SECONDS,
        # The pool closes one unused connection in each such interval.
        "max_idle": SHRINK_SECONDS / size,
        "reconnect_timeout": 0,
        "reconnect_failed": fail_waiting_requests,
    }


def fail_waiting_requests(pool: ConnectionPool) -> None:
    """Answer requests at once where PostgreSQL is away; the next one tries again.

    A pool by itself lets them wait for a connection until they time out.
    """
    if pool.get_stats()["pool_size"] == 0:
        # Closing waits for the pool's own threads, and this is one of them.
        threading.Thread(target=_replace, args=(pool,), daemon=True).start()


def _replace(pool: ConnectionPool) -> None:
    pool.close()
    database = connections[DEFAULT_DB_ALIAS]
    if getattr(database, "pool", None) is pool:
        database.close_pool()  # type: ignore[attr-defined] # PostgreSQL's

"""Options of each process's PostgreSQL connection pool."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from django.db import DEFAULT_DB_ALIAS, connections

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

# A busy server responds late instead of failing.
WAIT_SECONDS = 30.0
# Time to shrink from the largest size to one connection.
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
    """Fail waiting requests at once while PostgreSQL is unreachable; the next one
    retries.

    The pool itself would let them wait until they time out.
    """
    if pool.get_stats()["pool_size"] == 0:
        # Closing joins the pool's threads, and this is one of them.
        threading.Thread(target=_replace, args=(pool,), daemon=True).start()


def _replace(pool: ConnectionPool) -> None:
    pool.close()
    database = connections[DEFAULT_DB_ALIAS]
    if getattr(database, "pool", None) is pool:
        database.close_pool()  # type: ignore[attr-defined] # PostgreSQL only

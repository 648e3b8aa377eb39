"""Requests fail at once while PostgreSQL is down, and wait while it is busy."""

from __future__ import annotations

import pytest
from psycopg_pool import ConnectionPool, PoolClosed

from tests.services import free_port
from tracker.server.database_pool import fail_waiting_requests, pool_options


def test_requests_do_not_wait_for_a_postgresql_that_is_away():
    address = f"host=127.0.0.1 port={free_port()} dbname=none"
    with ConnectionPool(address, **pool_options(2)) as pool, pytest.raises(PoolClosed):
        pool.getconn(timeout=120)


def test_requests_wait_while_other_connections_are_in_use():
    class BusyPool:
        is_closed = False

        def get_stats(self):
            return {"pool_size": 3}

        def close(self):
            self.is_closed = True

    pool = BusyPool()

    fail_waiting_requests(pool)

    assert not pool.is_closed

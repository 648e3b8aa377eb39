"""Many clients never exhaust PostgreSQL's connections and leave none open."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings

from benchmarks.kills import bodies
from benchmarks.kills.installation import Installation, Program
from benchmarks.kills.wire import Connection, NoAnswer
from tests.services import PostgreSQL, Valkey
from tracker.server import processes

ROLE = "app"
CONNECTIONS = processes.MIN_DATABASE_CONNECTIONS
WEB_SERVERS, PROCESSES_EACH = 2, 2
CLIENTS, SECONDS = 60, 5.0
# One for each web process, and those that the worker uses for its tasks.
MINIMUM = WEB_SERVERS * PROCESSES_EACH + processes.WORKER_THREADS + 1
IDLE_SECONDS = 60.0
# The web servers log one of these for each 503 because of a missing connection.
REFUSALS = (
    "too many clients",
    "remaining connection slots",
    "couldn't get a connection",
)
COUNT = "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = %s"


class DefaultPostgreSQL(PostgreSQL):
    max_connections = 100

    def create_database(self):
        """Return the address of a database whose owner is no superuser."""
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {ROLE} LOGIN")
            connection.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}")
        return self.url.replace("seamark@", f"{ROLE}@").replace("/postgres", f"/{ROLE}")

    @property
    def admin_url(self):
        return self.url.replace("postgres:", "postgresql:", 1)

    def count_connections(self):
        with psycopg.connect(self.admin_url) as connection:
            return connection.execute(COUNT, [ROLE]).fetchone()[0]


class WebServers(Installation):
    """Several `serve`, a worker and a scheduler."""

    def __init__(self, folder, *, database_url, redis_url):
        super().__init__(
            folder,
            database_url=database_url,
            redis_url=redis_url,
            web_servers=WEB_SERVERS,
        )
        self.environment["SEAMARK_WEB_PROCESSES"] = str(WEB_SERVERS * PROCESSES_EACH)
        self.environment["SEAMARK_DATABASE_CONNECTIONS"] = str(CONNECTIONS)
        serve = [sys.executable, "manage.py", "serve", f"--workers={PROCESSES_EACH}"]
        self.webs = [
            Program(
                f"serve-{port}",
                serve,
                {**self.environment, "SEAMARK_PORT": str(port)},
                folder / f"serve-{port}.log",
            )
            for port in self._ports
        ]
        self.programs = [*self.webs, self.worker, self.scheduler]


@pytest.fixture
def postgresql():
    with DefaultPostgreSQL() as server:
        yield server


@pytest.fixture
def servers(tmp_path, postgresql):
    url = postgresql.create_database()
    with (
        Valkey() as valkey,
        WebServers(tmp_path, database_url=url, redis_url=valkey.url) as servers,
    ):
        yield servers


def log_and_read(address, number, until):
    """Open runs and list them, over one connection."""
    connection = Connection()
    while time.monotonic() < until:
        body = bodies.body([bodies.opening(f"run {number}")], first=1)
        with suppress(NoAnswer):
            connection.send(address, uuid4(), body)
            connection.get(address, f"/projects/home/{bodies.PROJECT}/runs")
    connection.close()


@pytest.mark.processes
@pytest.mark.postgresql
@pytest.mark.timeout(600)
@pytest.mark.skipif(settings.IS_SQLITE, reason="about PostgreSQL")
def test_sixty_clients_share_a_small_pool_and_connections_close_afterwards(
    postgresql, servers
):
    until = time.monotonic() + SECONDS
    clients = [
        threading.Thread(
            target=log_and_read,
            args=(servers.addresses[number % WEB_SERVERS], number, until),
        )
        for number in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    counts = [postgresql.count_connections()]
    while any(client.is_alive() for client in clients):
        counts.append(postgresql.count_connections())
        time.sleep(0.2)

    deadline = time.monotonic() + IDLE_SECONDS
    while postgresql.count_connections() > MINIMUM and time.monotonic() < deadline:
        time.sleep(1)

    assert sum(map(servers.logged, REFUSALS)) == 0
    assert max(counts) <= CONNECTIONS * (WEB_SERVERS * PROCESSES_EACH + 1)
    assert postgresql.count_connections() <= MINIMUM

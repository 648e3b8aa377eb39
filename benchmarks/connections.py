"""Many clients with two web servers: does PostgreSQL run out of connections?

    .venv/bin/python -m benchmarks.connections
    .venv/bin/python -m benchmarks.connections --clients 60 --seconds 20

Four in five clients log a batch every few seconds, the others view pages. The database
has PostgreSQL's default of 100 connections and a role without superuser rights. Exits
with 1 if a request received 503 because of missing connections, or if connections stay
open.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import takewhile
from pathlib import Path

import psycopg

from benchmarks.faults.installation import Installation, Program
from benchmarks.load.bodies import Bodies
from benchmarks.load.clients import Client, Record, Token, Viewer, open_all
from benchmarks.load.flood import seen_runs
from benchmarks.load.pacing import Pace, cut_while_live
from benchmarks.load.tracker import MAKE_SECRETS, Secrets
from tests.services import PostgreSQL, Valkey
from tracker.server import processes

ROLE = "app"
TOKEN = "connections"
WEB_SERVERS, PROCESSES_EACH = 2, 2
LOGGING_SHARE = 0.8
EVERY_SECONDS, STEPS_A_SECOND, METRICS = 10.0, 5.0, 20
# One for each web process, and those that the worker uses for its tasks.
MINIMUM = WEB_SERVERS * PROCESSES_EACH + processes.WORKER_THREADS + 1
IDLE_SECONDS = 60.0
# The log of the web servers has one of these for each 503 that is about connections.
REFUSALS = (
    "too many clients",
    "remaining connection slots",
    "couldn't get a connection",
)
COUNT = "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = %s"


@dataclass(slots=True)
class Figures:
    statuses: Counter[int] = field(default_factory=Counter)
    most_connections: int = 0
    # When the clients are gone: at once, and a minute later.
    connections_after: int = 0
    connections_idle: int = 0
    refused_connections: int = 0

    @property
    def unavailable(self) -> int:
        return self.statuses[HTTPStatus.SERVICE_UNAVAILABLE]


class DefaultPostgreSQL(PostgreSQL):
    max_connections = 100

    def create_database(self) -> str:
        """Return the address of a database whose owner is no superuser."""
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {ROLE} LOGIN".encode())
            connection.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}".encode())
        return self.url.replace("seamark@", f"{ROLE}@").replace("/postgres", f"/{ROLE}")

    @property
    def admin_url(self) -> str:
        return self.url.replace("postgres:", "postgresql:", 1)

    def count_connections(self) -> int:
        with psycopg.connect(self.admin_url) as connection:
            row = connection.execute(COUNT, [ROLE]).fetchone()
        assert row is not None
        return int(row[0])


class WebServers(Installation):
    """Several `serve`, a worker and a scheduler."""

    def __init__(
        self, folder: Path, *, database_url: str, redis_url: str, connections: int
    ) -> None:
        super().__init__(
            folder,
            database_url=database_url,
            redis_url=redis_url,
            web_servers=WEB_SERVERS,
        )
        self.environment["SEAMARK_WEB_PROCESSES"] = str(WEB_SERVERS * PROCESSES_EACH)
        self.environment["SEAMARK_DATABASE_CONNECTIONS"] = str(connections)
        serve = [sys.executable, "manage.py", "serve", f"--workers={PROCESSES_EACH}"]
        self.ports = self._ports
        self.webs = [
            Program(
                f"serve-{port}",
                serve,
                {**self.environment, "SEAMARK_PORT": str(port)},
                folder / f"serve-{port}.log",
            )
            for port in self.ports
        ]
        self.programs = [*self.webs, self.worker, self.scheduler]

    def secrets(self) -> Secrets:
        return Secrets(**json.loads(self.python("-c", MAKE_SECRETS, TOKEN)))


@contextmanager
def running(connections: int) -> Iterator[tuple[DefaultPostgreSQL, WebServers]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        DefaultPostgreSQL() as database,
        Valkey() as valkey,
        WebServers(
            Path(folder),
            database_url=database.create_database(),
            redis_url=valkey.url,
            connections=connections,
        ) as servers,
    ):
        yield database, servers


def measure(*, clients: int, seconds: float, connections: int) -> Figures:
    with running(connections) as (database, servers):
        figures = asyncio.run(load(database, servers, clients=clients, seconds=seconds))
        figures.refused_connections = sum(map(servers.logged, REFUSALS))
        figures.connections_after = database.count_connections()
        deadline = time.monotonic() + IDLE_SECONDS
        while time.monotonic() < deadline:
            figures.connections_idle = database.count_connections()
            if figures.connections_idle <= MINIMUM:
                break
            time.sleep(1)
        return figures


async def load(
    database: DefaultPostgreSQL, servers: WebServers, *, clients: int, seconds: float
) -> Figures:
    secrets, record, figures = servers.secrets(), Record(), Figures()
    token = Token(TOKEN, secrets.tokens[TOKEN])
    bodies = Bodies(cut_while_live(STEPS_A_SECOND, EVERY_SECONDS), metrics=METRICS)
    logging = [
        Client(servers.ports[n % WEB_SERVERS], token, f"run {n:04}", bodies, record)
        for n in range(round(clients * LOGGING_SHARE))
    ]
    await open_all(logging, record)
    run_ids = await seen_runs(servers.ports[0], token.secret)
    viewers = [
        Viewer(servers.ports[n % WEB_SERVERS], secrets.cookie, run_ids)
        for n in range(clients - len(logging))
    ]
    over = asyncio.Event()
    began = time.monotonic()
    pace = Pace(len(logging), EVERY_SECONDS)
    async with asyncio.TaskGroup() as group:
        for number, client in enumerate(logging):
            due = pace.due(number, seconds=seconds)
            moments = (began + offset for offset in due)
            group.create_task(
                client.log(takewhile(lambda _: not over.is_set(), moments))
            )
        for number, viewer in enumerate(viewers):
            group.create_task(viewer.look(over, number))
        while time.monotonic() < began + seconds:
            count = await asyncio.to_thread(database.count_connections)
            figures.most_connections = max(figures.most_connections, count)
            await asyncio.sleep(0.5)
        over.set()
    for client in logging:
        client.close()
    for viewer in viewers:
        viewer.close()
    figures.statuses.update(exchange.status for exchange in record.exchanges)
    figures.statuses.update(view.status for viewer in viewers for view in viewer.views)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--connections", type=int, default=12, help="of each process")
    options = parser.parse_args()
    figures = measure(**vars(options))
    statuses = ", ".join(
        f"{count:,} × {status or 'no answer'}"
        for status, count in sorted(figures.statuses.items())
    )
    print(f"clients: {options.clients}, seconds: {options.seconds:.0f}")
    print(f"requests: {figures.statuses.total():,} ({statuses})")
    print(f"answered with 503: {figures.unavailable}")
    print(f"of these for want of a connection: {figures.refused_connections}")
    print(f"most connections at once: {figures.most_connections}")
    print(f"connections when the clients stopped: {figures.connections_after}")
    print(f"connections within a minute after: {figures.connections_idle}")
    sys.exit(figures.refused_connections > 0 or figures.connections_idle > MINIMUM)


if __name__ == "__main__":
    main()

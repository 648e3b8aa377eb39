"""The tracker under load: its real programs, several tokens and a signed-in user."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.case import POSTGRESQL, Database
from benchmarks.faults.installation import Installation
from tests.services import Valkey, free_port
from tracker.server import processes

MAKE_SECRETS = """
import json, sys
import django
django.setup()
from django.test import Client
from tracker.actions.access import found_installation, make_token
from tracker.actor import Scope
member = found_installation()
browser = Client()
browser.force_login(member.user)
print(json.dumps({
    "tokens": {name: make_token(member, name, Scope.MANAGE) for name in sys.argv[1:]},
    "cookies": {name: morsel.value for name, morsel in browser.cookies.items()},
}))
"""
# A single query, so that points moved by a worker are counted once.
COUNT_POINTS = """
import django
django.setup()
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute(
        "SELECT (SELECT COALESCE(SUM(point_count), 0) FROM tracker_journalentry)"
        " + (SELECT COALESCE(SUM(count), 0) FROM tracker_serieschunk)"
    )
    print(int(cursor.fetchone()[0]))
"""


@dataclass(frozen=True, slots=True)
class Secrets:
    """Credentials of clients, by the names of their tokens, and of a browser."""

    tokens: dict[str, str]
    cookies: dict[str, str]

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())


class Tracker(Installation):
    """A web server of so many processes, a worker and a scheduler."""

    def __init__(
        self, folder: Path, *, database_url: str, redis_url: str, web_processes: int
    ) -> None:
        super().__init__(
            folder, database_url=database_url, redis_url=redis_url, web_servers=0
        )
        self.port = free_port()
        self._ports = [self.port]
        self.web_processes = web_processes
        command = processes.web(bind="127.0.0.1", port=self.port, workers=web_processes)
        self.webs = [self._program("web", command)]
        self.programs = list(self.webs)

    def begin_to_work(self) -> None:
        """Start the worker and the scheduler, too."""
        if self.worker not in self.programs:
            self.programs += [self.worker, self.scheduler]
            self.keep_running()

    def stop_working(self) -> None:
        """Kill both: batches are accepted but not compacted."""
        for program in (self.worker, self.scheduler):
            program.kill()
        self.programs = list(self.webs)

    def secrets(self, *tokens: str) -> Secrets:
        return Secrets(**json.loads(self.python("-c", MAKE_SECRETS, *tokens)))

    def stored_points(self) -> int:
        return int(self.python("-c", COUNT_POINTS))


@contextmanager
def running(kind: str, folder: Path, *, web_processes: int) -> Iterator[Tracker]:
    """Start a tracker without its worker on a new database of either kind."""
    with ExitStack() as stack:
        database = stack.enter_context(Database(kind))
        is_team = kind == POSTGRESQL
        redis_url = stack.enter_context(Valkey()).url if is_team else ""
        yield stack.enter_context(
            Tracker(
                folder,
                database_url=database.url,
                redis_url=redis_url,
                web_processes=web_processes,
            )
        )

"""The real programs of an installation, each of which can be killed and started again."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import psutil
import psycopg

from benchmarks.kills.wire import Address, is_alive
from tests.services import free_port
from tracker.server import processes

# A watchdog, not a specification: the machine may be very busy.
WAIT_SECONDS = 600.0
LOOK_SECONDS = 0.02
MAKE_TOKEN = """
import django
django.setup()
from tracker.actions.access import found_installation, make_token
from tracker.actor import Scope
print(make_token(found_installation(), "faults", Scope.MANAGE))
"""
EXPIRE_LEASES = """
import django
django.setup()
from datetime import timedelta
from django.utils import timezone
from tracker.models import Work
before = timezone.now() - timedelta(seconds=5)
Work.objects.exclude(leased_until=None).update(leased_until=before)
"""

Result = TypeVar("Result")


class Stuck(Exception):
    """Something that must happen did not, until the watchdog barked."""


def eventually(
    find: Callable[[], Result], what: str, *, seconds: float = WAIT_SECONDS
) -> Result:
    """Return the first result that is true."""
    deadline = time.monotonic() + seconds
    while not (found := find()):
        if time.monotonic() > deadline:
            raise Stuck(f"not within {seconds:.0f} s: {what}")
        time.sleep(LOOK_SECONDS)
    return found


class Home:
    """A data folder, a database and the environment of the programs that use them."""

    def __init__(self, folder: Path, *, database_url: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.data = folder / "data"
        self.is_sqlite = not database_url
        self.addresses: list[Address] = []
        self._database_url = database_url
        # Without settings of the user and of the tests.
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("DJANGO_", "SEAMARK_", "XDG_"))
        }
        self.environment = {
            **kept,
            "HOME": str(folder),
            "DJANGO_SETTINGS_MODULE": "tracker.settings",
            "SEAMARK_DATA": str(self.data),
        }
        if database_url:
            self.environment["SEAMARK_DATABASE_URL"] = database_url

    def python(self, *arguments: str) -> str:
        """Run a short program; return the words of its output."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=processes.ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{arguments}: {done.stderr}")
        return done.stdout.strip()

    def expire_leases(self) -> None:
        """Let the minute pass for which work waits that a killed worker had taken."""
        self.python("-c", EXPIRE_LEASES)

    def count(self, table: str, where: str = "1 = 1") -> int:
        """Count rows of the database."""
        statement = f"SELECT COUNT(*) FROM {table} WHERE {where}"
        if self.is_sqlite:
            return int(str(self._ask_sqlite(statement)[0][0]))
        url = self._database_url.replace("postgres:", "postgresql:", 1)
        with psycopg.connect(url) as connection:
            row = connection.execute(statement.encode()).fetchone()
        assert row is not None
        return int(row[0])

    def integrity(self) -> str:
        """Return "ok", or the output of SQLite's integrity check."""
        return "; ".join(
            str(row[0]) for row in self._ask_sqlite("PRAGMA integrity_check")
        )

    def _ask_sqlite(self, statement: str) -> list[tuple[object, ...]]:
        path = f"file:{self.data / 'seamark.sqlite3'}?mode=ro"
        with closing(sqlite3.connect(path, uri=True, timeout=20)) as database:
            return database.execute(statement).fetchall()


class Program:
    """One program in its own process group."""

    def __init__(
        self, name: str, command: list[str], environment: Mapping[str, str], log: Path
    ) -> None:
        self.name = name
        self._command = command
        self._environment = environment
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        # From the main thread only: it ends when the thread that started it does.
        launch = [sys.executable, "-m", "tracker.embedded.launch", str(os.getpid())]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*launch, *self._command],
                cwd=processes.ROOT,
                env=dict(self._environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def members(self) -> list[psutil.Process]:
        """Return its process and those that this one started."""
        if self._process is None:
            return []
        with suppress(psutil.NoSuchProcess):
            first = psutil.Process(self._process.pid)
            return [first, *first.children(recursive=True)]
        return []

    def kill(self) -> None:
        """Kill the whole group and wait until the first of it is gone."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(WAIT_SECONDS)
            self._process = None


class Installation(Home):
    """Web servers, a worker and a scheduler; a context manager."""

    def __init__(
        self,
        folder: Path,
        *,
        database_url: str = "",
        redis_url: str = "",
        web_servers: int = 2,
    ) -> None:
        super().__init__(folder, database_url=database_url)
        if redis_url:
            self.environment["SEAMARK_REDIS_URL"] = redis_url
        self._ports = [free_port() for _ in range(web_servers)]
        self.webs = [
            self._program(f"web-{port}", processes.web(bind="127.0.0.1", port=port))
            for port in self._ports
        ]
        self.worker = self._program("worker", processes.worker())
        self.scheduler = self._program("scheduler", processes.scheduler())
        self.programs = [*self.webs, self.worker, self.scheduler]

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        self.python("manage.py", "prepare")
        token = self.python("-c", MAKE_TOKEN)
        self.addresses = [Address(port, token) for port in self._ports]
        self.keep_running()
        self.wait_until_it_answers()

    def keep_running(self) -> None:
        """Restart processes that end, like a supervisor."""
        for program in self.programs:
            if not program.is_running:
                program.kill()
                program.start()

    def wait_until_it_answers(self) -> None:
        for address in self.addresses:
            eventually(partial(is_alive, address), "a web server answers")

    def stop(self) -> None:
        for program in self.programs:
            program.kill()

    def logged(self, text: str) -> int:
        """Count how often the programs' logs hold the text."""
        logs = self.folder.glob("*.log")
        return sum(log.read_text(errors="replace").count(text) for log in logs)

    def _program(self, name: str, command: list[str]) -> Program:
        log = self.folder / f"{name}.log"
        return Program(name, command, self.environment, log)


class Tree(Home):
    """`manage.py up`: a supervisor and everything it starts, on SQLite."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._port = free_port()
        self.environment["SEAMARK_PORT"] = str(self._port)
        command = [sys.executable, "manage.py", "up"]
        self._program = Program("up", command, self.environment, folder / "up.log")

    def start(self) -> None:
        self._program.start()
        alive = Address(self._port, "")
        eventually(partial(is_alive, alive), "the tracker answers")
        if not self.addresses:
            self.addresses = [Address(self._port, self.python("-c", MAKE_TOKEN))]

    def kill(self) -> int:
        """Kill every process of it, the supervisor first; return how many there were."""
        members = self._program.members()
        # Stopped first, so that none starts another while the others are killed.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in members:
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(number)
        self._program.kill()
        _, alive = psutil.wait_procs(members, timeout=WAIT_SECONDS)
        if alive:
            raise Stuck(f"these outlived the tree: {alive}")
        return len(members)

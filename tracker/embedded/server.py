"""The whole server on one machine, as a context manager."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from tracker.embedded.child import PRIVATE, PrintLine, Program
from tracker.embedded.data_folder import DataFolder
from tracker.embedded.ports import refuse_used_port
from tracker.embedded.refusal import Refusal
from tracker.embedded.supervisor import Supervisor
from tracker.server import processes

# Start timeout on a busy machine; a web server in a crash loop fails earlier.
START_SECONDS = 300.0
REPORT_AFTER_SECONDS = 20.0
LOOK_SECONDS = 0.05
# For glibc: return large blocks at once. Otherwise each thread of a server keeps as
# much memory as its largest request has used.
RETURN_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1024 * 1024)}
ANY_ADDRESS = ("0.0.0.0", "::")


def print_nothing(_line: str) -> None:
    """Ignore messages about children."""


class EmbeddedServer:
    """Prepares the data folder, starts all processes, and stops them at the end.

    Django is not loaded here: all processes get their settings from environment
    variables.
    """

    def __init__(
        self,
        data_folder: Path,
        port: int,
        *,
        bind: str = "127.0.0.1",
        url: str | None = None,
        print_line: PrintLine = print_nothing,
    ) -> None:
        self.bind = bind
        self.port = port
        self.url = url or f"http://{self.local_address}:{port}"
        # Signs the owner in once, within the hour; set on entry.
        self.sign_in_link = ""
        self._folder = DataFolder(data_folder)
        self._print_line = print_line
        self._environment = {
            **RETURN_MEMORY,
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tracker.settings",
            "SEAMARK_DATA": str(data_folder),
            "SEAMARK_BIND": bind,
            "SEAMARK_PORT": str(port),
            "SEAMARK_URL": self.url,
        }
        logs = data_folder / "logs"
        self._logs = logs
        self._supervisor = Supervisor(
            self._programs(), log_folder=logs, print_line=print_line
        )

    @property
    def local_address(self) -> str:
        return "127.0.0.1" if self.bind in ANY_ADDRESS else self.bind

    def __enter__(self) -> Self:
        self._folder.acquire(self.url)
        try:
            refuse_used_port(self.bind, self.port)
            self._logs.mkdir(mode=0o700, exist_ok=True)
            *lines, self.sign_in_link = self._prepare().splitlines()
            for line in lines:
                self._print_line(line)
            self._supervisor.start()
            self._wait_until_it_answers()
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

    def stop(self) -> None:
        self._supervisor.stop()
        self._folder.release()

    def _programs(self) -> list[Program]:
        commands = {
            "web": processes.web(bind=self.bind, port=self.port),
            "worker": processes.worker(),
            "forwarder": processes.forwarder(),
        }
        return [
            Program(name, tuple(command), self._environment)
            for name, command in commands.items()
        ]

    def _prepare(self) -> str:
        """Prepare the database; return messages and, as the last line, a sign-in link."""
        result = subprocess.run(
            [sys.executable, "manage.py", "prepare", "--link"],
            cwd=processes.ROOT,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            umask=PRIVATE,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            log = self._logs / "prepare.log"
            log.write_text(result.stderr, encoding="utf-8")
            reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise Refusal(f"The server could not be prepared: {reason} (see {log})")
        return result.stdout

    def _wait_until_it_answers(self) -> None:
        began, is_reported = time.monotonic(), False
        log = self._logs / "web.log"
        while not self._is_responding():
            waited = time.monotonic() - began
            if self._supervisor.keeps_ending("web"):
                raise Refusal(f"The web server cannot start; see {log}.")
            if waited > START_SECONDS:
                raise Refusal(
                    f"The web server did not answer within {START_SECONDS:.0f} s; "
                    f"see {log}."
                )
            if waited > REPORT_AFTER_SECONDS and not is_reported:
                is_reported = True
                self._print_line(
                    "The web server is still starting; the machine is busy."
                )
            time.sleep(LOOK_SECONDS)

    def _is_responding(self) -> bool:
        connection = http.client.HTTPConnection(self.local_address, self.port, 5)
        try:
            connection.request("GET", "/livez")
            return (
                connection.getresponse().status < http.HTTPStatus.INTERNAL_SERVER_ERROR
            )
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

"""Interface of a tracker under test, and the servers it starts.

Runs in the peer's own environment, so it needs only the standard library.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Generic, TypeVar

from benchmarks.ingest.workload import Block
from tracker.embedded.parent import die_with

START_SECONDS = 120.0
STOP_SECONDS = 15.0
LOOK_SECONDS = 0.05
# A server that takes less than this share of a core has started.
QUIET_SHARE = 0.1
QUIET_SECONDS = 0.5
IDLE_SECONDS = 1.0

# Below a system's folder, which holds its logs as well.
DATA = "data"

Prepared = TypeVar("Prepared")


class System(ABC, Generic[Prepared]):
    """One tracker; it stores data in `data`, an existing folder.

    `address` is set by `start` and passed to the processes that log.
    """

    # Its version, and descriptions of its write and read paths.
    release: str
    writing: str
    reading: str

    def __init__(self, folder: Path, address: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.data = folder / DATA
        self.address = address if address is not None else {}

    # In the process that measures.

    def start(self) -> None:
        """Start the server; may be called again after `stop`."""

    def stop(self) -> None:
        """Stop the server; stored data stays."""

    def remove(self) -> None:
        """Stop also the database, which is not needed any more."""

    def count(self, run: str, names: Sequence[str]) -> int:
        """Read the run's metrics back; return how many points were there."""
        raise NotImplementedError

    # In a process that logs.

    @abstractmethod
    def open(self, run: str) -> None:
        """Begin to log to a new run."""

    @abstractmethod
    def prepare(self, block: Block) -> Prepared:
        """Convert a block to the argument of `send`, before the clock starts."""

    @abstractmethod
    def send(self, prepared: Prepared) -> None:
        """Log a block."""

    def close(self) -> None:
        """End the run; return after the data is handed over."""


class Server:
    """A server process that ends with its parent, and its log."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        port: int,
        log: Path,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        parent_id = os.getpid()
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **(environment or {})},
                cwd=folder,
                preexec_fn=lambda: die_with(parent_id),  # noqa: PLW1509 - no threads yet
            )
        self._wait_for(port)
        self._wait_until_quiet()

    def stop(self) -> None:
        children = descendants(self._process.pid)
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # Some servers leave their workers behind.
        for child in children:
            kill(child)

    def _wait_for(self, port: int) -> None:
        deadline = time.monotonic() + START_SECONDS
        with closing(socket.socket()) as probe:
            while probe.connect_ex(("127.0.0.1", port)):
                if self._process.poll() is not None or time.monotonic() > deadline:
                    words = self._log.read_text(errors="replace").strip()[-500:]
                    self.stop()
                    raise RuntimeError(f"The server did not start: {words}")
                time.sleep(LOOK_SECONDS)

    def _wait_until_quiet(self) -> None:
        """Many listen first and import most of themselves later."""
        deadline = time.monotonic() + START_SECONDS
        spent = -QUIET_SECONDS
        while time.monotonic() < deadline:
            before, spent = spent, self.processor_seconds()
            if spent - before < QUIET_SHARE * QUIET_SECONDS:
                return
            time.sleep(QUIET_SECONDS)

    def processor_seconds(self) -> float:
        """Return the CPU seconds of the server and its descendants."""
        everyone = [self._process.pid, *descendants(self._process.pid)]
        return sum(map(processor_seconds, everyone))


class Http:
    """One kept connection to a server on this machine."""

    def __init__(self, port: int, headers: Mapping[str, str] | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._headers = dict(headers or {})
        self._last_answer = 0.0

    def get(self, path: str) -> bytes:
        return self._ask("GET", path, None, {})

    def post(
        self, path: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> bytes:
        return self._ask("POST", path, body, headers or {})

    def _ask(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> bytes:
        # A connection that was idle may be closed by the server at this moment.
        if time.monotonic() - self._last_answer > IDLE_SECONDS:
            self._connection.close()
        self._connection.request(method, path, body, {**self._headers, **headers})
        response = self._connection.getresponse()
        answer = response.read()
        self._last_answer = time.monotonic()
        if response.status != http.HTTPStatus.OK:
            raise RuntimeError(f"{response.status}: {answer[:200]!r}")
        return answer


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def descendants(process_id: int) -> list[int]:
    """Return the PIDs of all descendants of this process, on Linux."""
    found: list[int] = []
    try:
        for task in Path(f"/proc/{process_id}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *descendants(int(child))]
    except OSError:
        # It ended meanwhile, or this is no Linux.
        pass
    return found


def processor_seconds(process_id: int) -> float:
    """Return the CPU seconds of a process, on Linux."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    user, system = fields[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def kill(process_id: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process_id, signal.SIGKILL)

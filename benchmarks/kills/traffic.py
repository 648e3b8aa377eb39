"""Clients and readers over one installation, from the first batch to the verdict."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Self
from uuid import uuid4

import numpy as np

from benchmarks.kills.clients import PATHS, PAUSE_SECONDS, Client, Reader
from benchmarks.kills.history import History, Layout, Verdict
from benchmarks.kills.installation import WAIT_SECONDS, Home, Stuck, eventually
from benchmarks.kills.wire import NoAnswer, Tally

# Work that a killed worker had taken waits for a minute, and failed work for its retry.
COMPACTION_SECONDS = 300.0
READ_PAUSE_SECONDS = 0.5
INTERNAL_ERROR = 500


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict over everything that was sent and read, and how much that was."""

    verdict: Verdict
    figures: dict[str, int]

    @property
    def is_kept(self) -> bool:
        return self.verdict.is_kept and not self.figures["summed_wrongly"]


class Traffic:
    """A context manager: clients log from the start until `judge` or the end."""

    def __init__(
        self,
        home: Home,
        *,
        clients: int,
        seed: int,
        points_in_frame: int = 5,
        pause_seconds: float = PAUSE_SECONDS,
        reads_meanwhile: bool = False,
    ) -> None:
        self.home = home
        self.history = History(Layout(points_in_frame))
        self.statuses = Tally()
        # No two cases on one tracker share a run.
        label = f"client-{uuid4().hex[:8]}"
        self.clients = [
            Client(
                number,
                f"{label}-{number}",
                home.addresses,
                self.history,
                seed=seed,
                statuses=self.statuses,
                pause_seconds=pause_seconds,
            )
            for number in range(clients)
        ]
        self._reader = Reader(home.addresses, self.history)
        self._is_read = threading.Event()
        self._reading = (
            threading.Thread(target=self._read_meanwhile, daemon=True)
            if reads_meanwhile
            else None
        )

    def __enter__(self) -> Self:
        for client in self.clients:
            client.start()
        if self._reading is not None:
            self._reading.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop_reading()
        for client in self.clients:
            client.is_stopping.set()
        for client in self.clients:
            client.join(WAIT_SECONDS)
        self._reader.close()

    def flow(self, batches: int, meanwhile: Callable[[], None]) -> None:
        """Wait until so many more batches were acknowledged."""
        before = self._acknowledged()

        def is_enough() -> bool:
            meanwhile()
            return self._acknowledged() >= before + batches

        eventually(is_enough, f"{batches} more batches are acknowledged")

    def flow_for(self, seconds: float, meanwhile: Callable[[], None]) -> None:
        until = time.monotonic() + seconds

        def is_over() -> bool:
            meanwhile()
            return time.monotonic() > until

        eventually(is_over, "time passes", seconds=seconds + WAIT_SECONDS)

    def judge(self) -> Judged:
        """Let the clients finish, read all before and after compaction, and judge."""
        self._stop_reading()
        for client in self.clients:
            client.finish()
        for client in self.clients:
            self._reader.read_surely(client)
        eventually(self._is_compacted, "compaction", seconds=COMPACTION_SECONDS)
        for client in self.clients:
            self._reader.read_surely(client)
        figures = asdict(self.history.count()) | {
            "summed_wrongly": self._summed_wrongly(),
            "answers_500": self.statuses.of(INTERNAL_ERROR),
        }
        return Judged(self.history.check(), figures)

    def _acknowledged(self) -> int:
        for client in self.clients:
            if client.error is not None:
                raise client.error
        return sum(client.acknowledged for client in self.clients)

    def _read_meanwhile(self) -> None:
        reader = Reader(self.home.addresses, self.history)
        while not self._is_read.wait(READ_PAUSE_SECONDS):
            for client in self.clients:
                reader.try_to_read(client)
        reader.close()

    def _stop_reading(self) -> None:
        self._is_read.set()
        if self._reading is not None:
            self._reading.join(WAIT_SECONDS)
            if self._reading.is_alive():
                raise Stuck("the reader does not end")

    def _is_compacted(self) -> bool:
        with suppress(NoAnswer):
            return not self._summed_wrongly()
        return False

    def _summed_wrongly(self) -> int:
        """Count the series whose summary differs from the last reading."""
        return sum(
            self._reader.summed(client)[path] != len(self._last(client, path))
            for client in self.clients
            for path in PATHS
        )

    def _last(self, client: Client, path: str) -> np.ndarray:
        return next(
            reading.steps
            for reading in reversed(self.history.readings)
            if (reading.client, reading.path) == (client.number, path)
        )

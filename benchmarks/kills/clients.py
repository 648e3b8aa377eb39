"""Clients that log continuously, and a reader; both record their results."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import numpy as np

from benchmarks.kills import bodies
from benchmarks.kills.history import (
    Event,
    History,
    Outcome,
    Reading,
    value_of,
)
from benchmarks.kills.installation import WAIT_SECONDS, Stuck, eventually
from benchmarks.kills.wire import Address, Connection, NoAnswer, NobodyListens, Tally
from seamark.upload.responses import Meaning, Response, judge

PATHS = ("loss", "accuracy", "rate")
LARGEST_BATCH = 4
# Share of transmissions with an unknown result that are never retried.
ABANDONED = 0.25
PAUSE_SECONDS = 0.01
RETRY_SECONDS = 0.05
# Maximum number of exact points per API request, and the highest step.
READ_BUCKETS = 10_000
LAST_STEP = 2**52


@dataclass(slots=True)
class Stream:
    """One spool: its frames so far, and the last that the tracker acknowledged."""

    number: int
    spool_id: UUID
    payloads: list[bytes]
    stored: int = 0


class Client(threading.Thread):
    """Logs to its own run until stopped, whatever the tracker does."""

    def __init__(
        self,
        number: int,
        run_name: str,
        addresses: Sequence[Address],
        history: History,
        *,
        seed: int,
        statuses: Tally,
        pause_seconds: float,
    ) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self.number = number
        self.run_name = run_name
        self.acknowledged = 0
        self.is_stopping = threading.Event()
        self.error: BaseException | None = None
        self._addresses = addresses
        self._history = history
        self._random = random.Random(f"{seed} {number}")
        self._statuses = statuses
        self._pause_seconds = pause_seconds
        self._connection = Connection()
        self._stream = self._begin(0)

    def run(self) -> None:
        try:
            while not self.is_stopping.is_set():
                self._log()
                self._deliver()
                time.sleep(self._random.uniform(0, 2 * self._pause_seconds))
        except BaseException as error:
            # Raised in the thread that joins this one.
            self.error = error
            raise
        finally:
            self._connection.close()

    def finish(self) -> None:
        """Wait until the pending data is delivered or abandoned."""
        self.is_stopping.set()
        self.join(WAIT_SECONDS)
        if self.is_alive():
            raise Stuck(f"{self.name} does not end")
        if self.error is not None:
            raise self.error

    def _begin(self, number: int) -> Stream:
        return Stream(number, uuid4(), [bodies.opening(self.run_name)])

    def _log(self) -> None:
        stream = self._stream
        for _ in range(self._random.randint(1, LARGEST_BATCH)):
            frame = len(stream.payloads) + 1
            steps = self._history.layout.steps(stream.number, frame)
            columns = {path: value_of(path, steps) for path in PATHS}
            stream.payloads.append(bodies.points(steps, columns))

    def _deliver(self) -> None:
        """Send until all frames are acknowledged, or give the stream up."""
        stream = self._stream
        last = len(stream.payloads)
        deadline = time.monotonic() + WAIT_SECONDS
        while stream.stored < len(stream.payloads):
            if time.monotonic() > deadline:
                raise Stuck(f"{self.name} gets nothing acknowledged")
            outcome = self._send(stream, last)
            if outcome is Outcome.STORED:
                continue
            if outcome is Outcome.UNKNOWN and self._random.random() < ABANDONED:
                self._stream = self._begin(stream.number + 1)
                return
            time.sleep(self._random.uniform(0, 2 * RETRY_SECONDS))
            # A retry may group the frames differently.
            last = self._random.randint(stream.stored + 1, len(stream.payloads))

    def _send(self, stream: Stream, last: int) -> Outcome:
        """Send the records after the last stored one, once; return the outcome."""
        last = max(last, stream.stored + 1)
        first = stream.stored + 1
        body = bodies.body(stream.payloads[first - 1 : last], first=first)
        self._note(stream, Outcome.SENT, first, last)
        try:
            answer = self._ask(stream, body)
        except NobodyListens:
            self._note(stream, Outcome.UNHEARD, first, last)
            return Outcome.UNHEARD
        except NoAnswer:
            self._note(stream, Outcome.UNKNOWN, first, last)
            return Outcome.UNKNOWN
        if answer.meaning in (Meaning.BUSY, Meaning.UNCLEAR):
            self._note(stream, Outcome.UNKNOWN, first, last)
            return Outcome.UNKNOWN
        self._accept(stream, answer)
        return Outcome.STORED

    def _ask(self, stream: Stream, body: bytes) -> Response:
        address = self._random.choice(self._addresses)
        reply = self._connection.send(address, stream.spool_id, body)
        self._statuses.add(reply.status)
        return judge(reply, now=time.time())

    def _accept(self, stream: Stream, answer: Response) -> None:
        is_gap = answer.meaning is Meaning.OUT_OF_ORDER
        if answer.refused_count or not (is_gap or answer.meaning is Meaning.STORED):
            raise AssertionError(f"{self.name} was refused: {answer}")
        stored = answer.number - is_gap
        if stored > len(stream.payloads):
            raise AssertionError(f"{self.name} never sent frame {stored}")
        self._note(stream, Outcome.STORED, 1, stored)
        self.acknowledged += 1
        stream.stored = stored

    def _note(self, stream: Stream, outcome: Outcome, first: int, last: int) -> None:
        event = Event(
            self.number, stream.number, outcome, first, last, time.monotonic()
        )
        self._history.events.append(event)


class Reader:
    """Reads back all points of a client, over the API; for one thread."""

    def __init__(self, addresses: Sequence[Address], history: History) -> None:
        self._addresses = addresses
        self._history = history
        self._connection = Connection()
        self._run_ids: dict[str, str] = {}

    def close(self) -> None:
        self._connection.close()

    def read(self, client: Client) -> None:
        """Read every series of the client once and write it down; may raise NoAnswer."""
        asked_at = time.monotonic()
        run_id = self.run_id(client.run_name)
        found = self._points(run_id, 0, LAST_STEP)
        answered_at = time.monotonic()
        for path, (steps, values) in found.items():
            reading = Reading(client.number, path, asked_at, answered_at, steps, values)
            self._history.readings.append(reading)

    def read_surely(self, client: Client) -> None:
        """Read as above, as often as it takes to get an answer."""
        eventually(lambda: self.try_to_read(client), f"an answer about {client.name}")

    def try_to_read(self, client: Client) -> bool:
        try:
            self.read(client)
        except NoAnswer:
            return False
        return True

    def run_id(self, name: str) -> str:
        if name not in self._run_ids:
            runs = self._get(f"/projects/home/{bodies.PROJECT}/runs", limit=200)
            self._run_ids |= {run["name"]: run["id"] for run in runs["runs"]}
        if name not in self._run_ids:
            raise NoAnswer(f"there is no run {name}")
        return self._run_ids[name]

    def summed(self, client: Client) -> Mapping[str, int]:
        """Return how many points the summaries of the client's series count."""
        answer = self._get(f"/runs/{self.run_id(client.run_name)}/attributes")
        counts = {row["path"]: row.get("count") for row in answer["attributes"]}
        return {path: counts.get(path) or 0 for path in PATHS}

    def _points(
        self, run_id: str, low: int, high: int
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Read a range of steps, in halves if it has too many points."""
        answer = self._get(
            f"/runs/{run_id}/series",
            path=PATHS,
            low=low,
            high=high,
            buckets=READ_BUCKETS,
        )
        series = {line["path"]: line for line in answer["series"]}
        if all(line["exact"] for line in series.values()):
            return {
                path: (np.array(line["x"], float), np.array(line["mean"], float))
                for path, line in series.items()
            }
        if low == high:
            raise AssertionError(f"step {low} holds more points than can be read")
        middle = (low + high) // 2
        lower = self._points(run_id, low, middle)
        upper = self._points(run_id, middle + 1, high)
        return {
            path: (
                np.concatenate([lower[path][0], upper[path][0]]),
                np.concatenate([lower[path][1], upper[path][1]]),
            )
            for path in PATHS
        }

    # Any: JSON.
    def _get(self, place: str, **query: object) -> Any:
        # With several web servers, one may be down.
        *others, last = self._addresses
        for address in others:
            with suppress(NoAnswer):
                return self._connection.get(address, place, **query)
        return self._connection.get(last, place, **query)

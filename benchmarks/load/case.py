"""Size of a case, and helpers of all cases."""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.load.bodies import Bodies
from benchmarks.load.clients import Client, Record, Token
from benchmarks.load.figures import errors
from benchmarks.load.table import Bound
from benchmarks.load.tracker import Tracker


@dataclass(frozen=True, slots=True)
class Size:
    """`rate` is how many points a second all clients log together."""

    clients: int
    rate: float
    metrics: int = 20
    # On PostgreSQL; SQLite has one.
    web_processes: int = 4
    # How often a client sends while it logs.
    every_seconds: float = 1.0
    seconds: float = 60.0
    # The options below are only for the backlog.
    backlog_minutes: float = 10.0
    most_seconds: float = 900.0
    quiet_seconds: float = 10.0
    live_clients: int = 10
    viewers: int = 4
    worker_stays: bool = False

    @property
    def steps_a_second(self) -> float:
        """Steps per second of one client."""
        return self.rate / self.clients / self.metrics


class Stopwatch:
    """Start time, and the CPU use of this process as a share of a core."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._busy_seconds = time.process_time()

    def busy_share(self) -> float:
        busy_seconds = time.process_time() - self._busy_seconds
        return busy_seconds / (time.monotonic() - self.began)


def clients_with(
    token: Token, count: int, *, tracker: Tracker, bodies: Bodies, record: Record
) -> list[Client]:
    return [
        Client(tracker.port, token, f"{token.name} {number:04}", bodies, record)
        for number in range(count)
    ]


def is_all_stored(tracker: Tracker, record: Record) -> Bound:
    """Compare the acknowledged points with the stored ones."""
    lost = max(0, record.stored_points - tracker.stored_points())
    return Bound(f"of acknowledged points {lost:,} lost", not lost)


def no_errors(record: Record) -> Bound:
    failed = errors(exchange.status for exchange in record.exchanges)
    return Bound("no 5xx, none without an answer", not failed)


def described(tracker: Tracker, size: Size) -> str:
    many = tracker.web_processes
    return (
        f"{size.clients:,} clients with {size.metrics} metrics each,"
        f" {many} web process{'es' if many > 1 else ''}, a worker"
    )

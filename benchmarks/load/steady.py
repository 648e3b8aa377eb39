"""LD-01 to LD-03: clients that log as they train, and how soon each batch is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from benchmarks.load.bodies import Bodies
from benchmarks.load.case import (
    Size,
    Stopwatch,
    clients_with,
    described,
    is_all_stored,
    no_errors,
)
from benchmarks.load.clients import Client, Record, Token, open_all
from benchmarks.load.figures import (
    answer_percentile,
    in_percentiles,
    in_statuses,
    points_a_second,
)
from benchmarks.load.lag import watched
from benchmarks.load.pacing import Pace, cut_while_live
from benchmarks.load.table import Bound, Row, clients_of
from benchmarks.load.tracker import Tracker
from benchmarks.peers.tables import in_milliseconds

TOKEN = "steady"
# From when all spools are open to the first batch.
LEAD_SECONDS = 0.5
# Batches not stored this long after the last one was due count as failed.
PATIENCE_SECONDS = 10.0
# Share of the load that must be stored in time; the last answer takes some time.
KEPT_PACE = 0.99


@dataclass(frozen=True, slots=True)
class Load:
    """The load: due times of each client's batches, and the batches."""

    due: Sequence[Sequence[float]]
    bodies: Bodies

    @property
    def batches(self) -> int:
        return sum(map(len, self.due))

    @property
    def points(self) -> int:
        # The first batch of each client is sent before.
        return sum(
            self.bodies[1 + number].points
            for moments in self.due
            for number in range(len(moments))
        )


def measured(
    case: str,
    tracker: Tracker,
    size: Size,
    database: str,
    *,
    most_seconds: float,
    keeps_pace: bool,
) -> list[Row]:
    tracker.begin_to_work()
    load, record = load_of(size), Record()
    offered = load.points / size.seconds
    with watched(tracker.environment) as lag:
        began, busy = asyncio.run(log(tracker, load, record))
    stored = points_a_second(record.exchanges, since=began)
    slow = answer_percentile(record.exchanges, 99)
    bounds = [
        Bound(f"p99 ≤ {in_milliseconds(most_seconds)}", slow <= most_seconds),
        no_errors(record),
        is_all_stored(tracker, record),
    ]
    clients = clients_of(record.exchanges, due=load.batches, busy=busy)
    bounds.append(Bound("every batch got through", clients.stored == clients.due))
    if keeps_pace:
        kept = Bound("stored as fast as offered", stored >= KEPT_PACE * offered)
        bounds.insert(0, kept)
    run = (
        f"{described(tracker, size)}; {offered:,.0f} points/s offered for"
        f" {size.seconds:g} s, each client's batch every {size.every_seconds:g} s"
    )
    figures = [
        f"{stored:,.0f} points/s stored",
        in_percentiles(record.exchanges),
        in_statuses(exchange.status for exchange in record.exchanges),
        str(lag),
    ]
    return [Row(case, database, run, figures, bounds, clients)]


at_a_rate = partial(measured, most_seconds=0.25, keeps_pace=True)
of_many = partial(measured, most_seconds=0.5, keeps_pace=False)


def load_of(size: Size) -> Load:
    pace = Pace(size.clients, size.every_seconds)
    cut = cut_while_live(size.steps_a_second, size.every_seconds)
    due = [[*pace.due(client, seconds=size.seconds)] for client in range(size.clients)]
    return Load(due, Bodies(cut, metrics=size.metrics))


async def log(tracker: Tracker, load: Load, record: Record) -> tuple[float, float]:
    """Send all batches; return the start time, and the CPU use as a share of a core."""
    token = Token(TOKEN, tracker.secrets(TOKEN).tokens[TOKEN])
    clients = clients_with(
        token, len(load.due), tracker=tracker, bodies=load.bodies, record=record
    )
    try:
        await open_all(clients, record)
        await asyncio.sleep(LEAD_SECONDS)
        return await log_in_time(clients, load)
    finally:
        for client in clients:
            client.close()


async def log_in_time(clients: Sequence[Client], load: Load) -> tuple[float, float]:
    watch = Stopwatch()
    last = max(moments[-1] for moments in load.due if moments)
    with suppress(TimeoutError):
        async with (
            asyncio.timeout(last + PATIENCE_SECONDS),
            asyncio.TaskGroup() as all_,
        ):
            for client, moments in zip(clients, load.due, strict=True):
                all_.create_task(client.log([watch.began + m for m in moments]))
    return watch.began, watch.busy_share()

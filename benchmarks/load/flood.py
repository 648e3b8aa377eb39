"""All clients send a backlog at once, while others log and view pages.

The worker is stopped and restarted once the server rejects batches. So the load itself,
not a changed limit, fills the journal up to that point.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import repeat, takewhile
from typing import Any

from benchmarks.load.bodies import PROJECT, Bodies, bytes_a_step
from benchmarks.load.case import Size, Stopwatch, clients_with
from benchmarks.load.clients import Client, Record, Token, Viewer, open_all
from benchmarks.load.figures import View
from benchmarks.load.pacing import Pace, cut_of_backlog, cut_while_live, steps_in_frame
from benchmarks.load.tracker import Tracker
from benchmarks.load.wire import Connection, NoAnswer, get

# Tokens of two teams with a backlog, and of one without.
MANY, FEW, LIVE = "many", "few", "live"
MANY_TIMES = 10
SEEN_RUNS = f"/api/v1/projects/home/{PROJECT}/runs?limit=200"


@dataclass(frozen=True, slots=True)
class Flood:
    """Results; all clients return when the stopwatch starts."""

    record: Record
    views: Sequence[View]
    # By the names of their tokens.
    clients: dict[str, int]
    batches: int
    points: int
    began: float
    busy: float
    is_drained: bool


class Scene:
    """All clients and viewers."""

    def __init__(self, tracker: Tracker, size: Size) -> None:
        self.record = Record()
        self._tracker = tracker
        self._size = size
        self._secrets = tracker.secrets(MANY, FEW, LIVE)
        few = max(1, round(size.clients / (MANY_TIMES + 1)))
        self.counts = {MANY: size.clients - few, FEW: few, LIVE: size.live_clients}
        self._backlog, self.batches_each = backlog_of(size)
        live = Bodies(
            cut_while_live(size.steps_a_second, size.every_seconds),
            metrics=size.metrics,
        )
        self.flooders = [
            *self._clients(MANY, self._backlog),
            *self._clients(FEW, self._backlog),
        ]
        self._live = self._clients(LIVE, live)
        self._viewers: list[Viewer] = []

    @property
    def points(self) -> int:
        """Return the points of all backlogs; the first batch opens the spool."""
        batches = (self._backlog[1 + number] for number in range(self.batches_each))
        return len(self.flooders) * sum(batch.points for batch in batches)

    @property
    def views(self) -> list[View]:
        return [view for viewer in self._viewers for view in viewer.views]

    async def open(self) -> None:
        """Open all spools, so that the runs are there to be looked at."""
        await open_all([*self.flooders, *self._live], self.record)
        run_ids = await seen_runs(self._tracker.port, self._secrets.tokens[LIVE])
        self._viewers = [
            Viewer(self._tracker.port, self._secrets.cookie, run_ids)
            for _ in range(self._size.viewers)
        ]

    def every_day(self, over: asyncio.Event) -> list[Coroutine[Any, Any, None]]:
        """Start the usual load before and during the flood."""
        pace = Pace(len(self._live), self._size.every_seconds)
        began = time.monotonic()
        logging = [
            client.log(
                began + offset
                for offset in takewhile(lambda _: not over.is_set(), pace.due(number))
            )
            for number, client in enumerate(self._live)
        ]
        looking = [viewer.look(over, n) for n, viewer in enumerate(self._viewers)]
        return [*logging, *looking]

    def close(self) -> None:
        for client in (*self.flooders, *self._live):
            client.close()
        for viewer in self._viewers:
            viewer.close()

    def _clients(self, name: str, bodies: Bodies) -> list[Client]:
        return clients_with(
            Token(name, self._secrets.tokens[name]),
            self.counts[name],
            tracker=self._tracker,
            bodies=bodies,
            record=self.record,
        )


def backlog_of(size: Size) -> tuple[Bodies, int]:
    """Return the batches of a backlog, and how many they are."""
    steps = size.steps_a_second
    cut = cut_of_backlog(
        steps,
        60 * size.backlog_minutes,
        bytes_a_step=bytes_a_step(size.metrics, steps_in_frame(steps)),
    )
    return Bodies(cut, metrics=size.metrics), cut.batches


async def flood(tracker: Tracker, size: Size) -> Flood:
    tracker.begin_to_work()
    scene = Scene(tracker, size)
    points = scene.points  # creates the batches before the clock starts
    try:
        await scene.open()
        async with asyncio.TaskGroup() as others:
            over = asyncio.Event()
            for work in scene.every_day(over):
                others.create_task(work)
            await asyncio.sleep(size.quiet_seconds)
            if not size.worker_stays:
                tracker.stop_working()
            return_of_worker = others.create_task(come_back(tracker, scene.record))
            watch = Stopwatch()
            is_drained = await drained(scene, watch.began, size.most_seconds)
            busy = watch.busy_share()
            return_of_worker.cancel()
            # Requests in flight are still counted.
            over.set()
    finally:
        scene.close()
    return Flood(
        record=scene.record,
        views=scene.views,
        clients=scene.counts,
        batches=scene.batches_each * len(scene.flooders),
        points=points,
        began=watch.began,
        busy=busy,
        is_drained=is_drained,
    )


async def drained(scene: Scene, began: float, most_seconds: float) -> bool:
    """Send all backlogs at once; return whether they finished in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(most_seconds), asyncio.TaskGroup() as group:
            for client in scene.flooders:
                group.create_task(client.log(repeat(began, scene.batches_each)))
        return True
    return False


async def come_back(tracker: Tracker, record: Record) -> None:
    """Restart the worker once a batch was rejected."""
    await record.was_refused.wait()
    tracker.begin_to_work()


async def seen_runs(port: int, token: str) -> list[str]:
    connection = Connection(port)
    request = get(SEEN_RUNS, {"Authorization": f"Bearer {token}"})
    try:
        # A server without room for another connection does not answer.
        try:
            reply = await connection.ask(request)
        except NoAnswer:
            reply = await connection.ask(request)
    finally:
        connection.close()
    return [run["id"] for run in json.loads(reply.body)["runs"]]

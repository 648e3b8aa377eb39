"""Logging clients and page viewers, all in one thread."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from benchmarks.load.bodies import PROJECT, Bodies, Body
from benchmarks.load.figures import Exchange, View
from benchmarks.load.pacing import retry_seconds
from benchmarks.load.wire import Connection, NoAnswer, get, post
from benchmarks.peers.workload import metric_names
from seamark.upload.responses import Meaning, Response, judge

# So many spools are opened at a time, before the clock starts.
OPENED_AT_ONCE = 8
# Any other answer means that the batch was invalid.
EXPECTED = (Meaning.STORED, Meaning.BUSY, Meaning.TOO_SLOW, Meaning.UNCLEAR)
LOOK_SECONDS = 0.25
RUNS = f"/w/home/{PROJECT}/"
CHART = f"figures/series?path={metric_names(1)[0]}"


@dataclass(frozen=True, slots=True)
class Token:
    name: str
    secret: str


class Record:
    """Requests and results of all clients of a case."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.stored_points = 0
        self.was_refused = asyncio.Event()

    def add(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        self.stored_points += exchange.points
        if exchange.is_refused:
            self.was_refused.set()

    def of(self, *tokens: str) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.sender in tokens]


class Client:
    """A logging process as seen by the server: a run and a spool."""

    def __init__(
        self, port: int, token: Token, run: str, bodies: Bodies, record: Record
    ) -> None:
        self._record = record
        self._token = token
        self._run = run
        self._bodies = bodies
        self._path = f"/api/v1/ingest/{uuid4()}"
        self._connection = Connection(port)
        self._next = 0
        self._may_begin = 0.0
        self._random = random.Random(run)

    async def open(self) -> None:
        """Open the spool and log a first batch; the client continues later."""
        now = time.monotonic()
        await self._deliver(self._bodies.first(self._run), now)
        await self.log([now])

    async def log(self, due: Iterable[float]) -> None:
        """Send the next batch whenever one is due, each until it is stored."""
        for moment in due:
            await _sleep_until(moment)
            await self._deliver(self._bodies[self._next], moment)
            self._next += 1

    def close(self) -> None:
        self._connection.close()

    async def _deliver(self, body: Body, due: float) -> None:
        failures = 0
        self._may_begin = max(self._may_begin, due)
        while not await self._is_stored(body, due, failures):
            failures += 1
            await _sleep_until(self._may_begin)

    async def _is_stored(self, body: Body, due: float, failures: int) -> bool:
        began = time.monotonic()
        status, answer = await self._send(body)
        ended = time.monotonic()
        is_stored = answer.meaning is Meaning.STORED
        self._record.add(
            Exchange(
                sender=self._token.name,
                due=due,
                could_begin=self._may_begin,
                began=began,
                ended=ended,
                status=status,
                points=body.points if is_stored else 0,
                is_told_to_wait=answer.wait_seconds is not None,
            )
        )
        wait = answer.wait_seconds
        if wait is None and not is_stored:
            wait = retry_seconds(failures, self._random.random())
        self._may_begin = ended + (wait or 0.0)
        return is_stored

    async def _send(self, body: Body) -> tuple[int, Response]:
        headers = {
            "Authorization": f"Bearer {self._token.secret}",
            "Content-Type": "application/vnd.seamark.frames",
            "Content-Encoding": "zstd",
        }
        try:
            reply = await self._connection.ask(post(self._path, body.data, headers))
        except NoAnswer as error:
            return 0, Response(Meaning.UNCLEAR, text=str(error))
        answer = judge(reply, now=time.time())
        if answer.refused_count or answer.meaning not in EXPECTED:
            raise RuntimeError(f"{self._run} was refused: {answer}")
        return reply.status, answer


class Viewer:
    """A user who opens one page after the other."""

    def __init__(self, port: int, cookie: str, run_ids: Sequence[str]) -> None:
        self.views: list[View] = []
        self._headers = {"Cookie": cookie}
        self._connection = Connection(port)
        self._run_ids = run_ids

    async def look(self, over: asyncio.Event, seed: int) -> None:
        chance = random.Random(seed)
        while not over.is_set():
            run = f"/runs/{chance.choice(self._run_ids)}/"
            for page, path in {
                "runs page": RUNS,
                "runs table": f"{RUNS}runs.json",
                "run page": run,
                "chart": run + CHART,
            }.items():
                await self._see(page, path)
                await asyncio.sleep(LOOK_SECONDS)

    def close(self) -> None:
        self._connection.close()

    async def _see(self, page: str, path: str) -> None:
        began = time.monotonic()
        try:
            reply = await self._connection.ask(get(path, self._headers))
        except NoAnswer:
            status = 0
        else:
            status = reply.status
        self.views.append(View(page, began, time.monotonic(), status))


async def open_all(clients: Sequence[Client], record: Record) -> None:
    """Open all spools, a few at a time; this is not measured."""
    turn = asyncio.Semaphore(OPENED_AT_ONCE)

    async def open_one(client: Client) -> None:
        async with turn:
            await client.open()

    await asyncio.gather(*map(open_one, clients))
    record.exchanges.clear()


async def _sleep_until(moment: float) -> None:
    if (seconds := moment - time.monotonic()) > 0:
        await asyncio.sleep(seconds)

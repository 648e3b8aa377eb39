"""Costs of points, pages and processes on this machine: CPU seconds and bytes."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from benchmarks.growth.derivation import MILLION, RANK, Costs, Memory, Rank
from benchmarks.growth.installation import (
    AT_WORK,
    DATABASE,
    MESSAGES,
    SCHEDULER,
    WEB,
    WITHOUT_WORKER,
    WORKER,
    Installation,
    command_line,
    held_bytes,
    program,
    spending,
)
from benchmarks.growth.live import Trainee
from benchmarks.peers.driving import LOAD_STEPS, SHARED_METRICS
from benchmarks.peers.workload import HARDWARE, LOSS, blocks, metric_names

CLIENTS = 4
DISK_RUNS = 5
# Live ranks are left alone for so long before they are looked at.
SETTLING_SECONDS = 12.0
WARM_UP_REQUESTS = 5
# Processes of background work: the worker and its triggers.
BACKGROUND = (WORKER, SCHEDULER, MESSAGES)
EVERY_PROGRAM = (WEB, *BACKGROUND, DATABASE)
METRIC = "-path:train/loss"

_numbers = count()
_names = (f"run-{number}" for number in count())


@dataclass(frozen=True, slots=True)
class Shape:
    """Shape of the batches that busy clients send."""

    metrics: int
    steps: int

    @property
    def points(self) -> int:
        return self.metrics * self.steps

    def __str__(self) -> str:
        return f"{self.metrics:,} metrics × {self.steps} steps"


SHAPES = (Shape(20, 100), Shape(1_000, 10))


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    rounds: int = 3
    points: int = 2_000_000  # per round
    logged_points: int = 400_000
    first_runs: int = 80
    first_steps: int = 2_000
    disk_steps: int = 10_000
    ranks: int = 16
    live_seconds: float = 60.0
    # In which the worker compacts every run that is not new about once.
    cycle_seconds: float = 20.0
    charts: int = 100
    pages: int = 50
    runs: int = 3_000
    attributes: int = 50

    @classmethod
    def quick(cls) -> Plan:
        return cls(
            rounds=1,
            points=400_000,
            logged_points=80_000,
            first_runs=10,
            disk_steps=4_000,
            ranks=4,
            live_seconds=10.0,
            cycle_seconds=5.0,
            charts=20,
            pages=10,
            runs=200,
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """Cost of one answer."""

    name: str
    web: float
    database: float

    @property
    def seconds(self) -> float:
        return self.web + self.database


@dataclass(frozen=True, slots=True)
class Live:
    """Cost of ranks that log live while the worker compacts."""

    ranks: int
    costs: Costs
    # CPU of the worker, scheduler and messages without clients, as a share of a core.
    idle_share: float


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes of an empty database, and those that each point adds, once settled."""

    empty_bytes: float
    point_bytes: float


@dataclass(frozen=True, slots=True)
class Measured:
    """All figures of one database."""

    bulk: dict[Shape, Costs]
    live: Live
    kept: dict[str, Kept]  # by the kind of values
    readings: list[Reading]
    memory: Memory
    compaction_bytes: float
    scheduler_bytes: float


def measure(database: str, plan: Plan) -> Measured:
    tell(f"{database}: bytes on disk")
    kept = {kind: kept_bytes(database, kind, plan) for kind in (LOSS, HARDWARE)}
    with started(WITHOUT_WORKER[database]) as tracker:
        bulk, most = {}, 0.0
        for shape in SHAPES:
            tell(f"{database}: {shape}")
            costs, bytes_ = bulk_costs(tracker, shape, plan)
            bulk[shape] = replace(costs, kept_bytes=kept[LOSS].point_bytes)
            most = max(most, bytes_)
        tell(f"{database}: charts and tables")
        readings = [*chart_costs(tracker, plan), table_costs(tracker, plan)]
    with started(AT_WORK[database]) as tracker:
        tell(f"{database}: {plan.ranks} live ranks")
        live = live_costs(tracker, plan, kept)
        memory, scheduler = memory_of_programs()
    return Measured(bulk, live, kept, readings, memory, most, scheduler)


@contextmanager
def started(kind: type[Installation]) -> Iterator[Installation]:
    with new_folder() as folder:
        tracker = kind(folder)
        try:
            tracker.start()
            yield tracker
        finally:
            tracker.stop()
            tracker.remove()


@contextmanager
def new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="growth-") as name:
        folder = Path(name)
        # PostgreSQL has a user of its own when we are root.
        folder.chmod(0o755)
        (folder / "data").mkdir()
        yield folder


def kept_bytes(database: str, kind: str, plan: Plan) -> Kept:
    """Return the bytes per point in a database that has been used for some time."""
    with started(WITHOUT_WORKER[database]) as tracker:
        tracker.settle()
        empty = tracker.used_bytes()
        # Afterwards no partition is new, as each takes some pages with its first run.
        for _ in range(plan.first_runs):
            log_run(tracker, kind, plan.first_steps)
        tracker.settle()
        before = tracker.used_bytes()
        points = 0
        for _ in range(DISK_RUNS):
            points += log_run(tracker, kind, plan.disk_steps)
            tracker.settle()
        return Kept(empty, (tracker.used_bytes() - before) / points)


def log_run(tracker: Installation, kind: str, steps: int) -> int:
    """Log a run of some metrics; return how many points it has."""
    number = next(_numbers)
    client = type(tracker)(tracker.folder, tracker.address)
    client.open(f"disk-{number}")
    found = blocks(metrics=SHARED_METRICS, steps=LOAD_STEPS, kind=kind, seed=number)
    sent = 0
    for block in islice(found, steps // LOAD_STEPS):
        client.send(client.prepare(block))
        sent += len(block)
    client.close()
    return sent


def bulk_costs(tracker: Installation, shape: Shape, plan: Plan) -> tuple[Costs, float]:
    """Log and compact much at once; return the median costs, and the worker's memory."""
    with tracker.logged_bytes() as logged:
        load = prepared(tracker, shape, plan.logged_points)
        load.send()
        load.close()
        tracker.compact()
    rounds = [_round(tracker, shape, plan) for _ in range(plan.rounds)]
    costs = Costs(
        web=median(one.web for one in rounds),
        worker=median(one.worker for one in rounds),
        database=median(one.database for one in rounds),
        sent_bytes=load.sent_bytes / load.points,
        # The first batch of each client is in the log, too.
        logged_bytes=logged[0] / load.stored_points,
        kept_bytes=0.0,
    )
    return costs, max(one.most_bytes for one in rounds)


@dataclass(frozen=True, slots=True)
class Round:
    """CPU seconds per million points, by program, and the worker's memory."""

    web: float
    worker: float
    database: float
    most_bytes: float


def _round(tracker: Installation, shape: Shape, plan: Plan) -> Round:
    load = prepared(tracker, shape, plan.points)
    with spending(WEB, DATABASE) as ingest:
        load.send()
    load.close()
    with spending(DATABASE) as moving:
        compacted = tracker.compact()
    if compacted.points != load.stored_points:
        raise RuntimeError(
            f"{compacted.points} of {load.stored_points} were compacted."
        )
    sent, moved = load.points / MILLION, compacted.points / MILLION
    return Round(
        web=ingest[WEB] / sent,
        worker=compacted.seconds / moved,
        database=ingest[DATABASE] / sent + moving[DATABASE] / moved,
        most_bytes=compacted.most_bytes,
    )


@dataclass(frozen=True, slots=True)
class Load:
    """Open runs, one client each, and the batches to send."""

    shape: Shape
    runs: list[str]
    clients: list[Installation]
    bodies: list[list[bytes]]

    @property
    def points(self) -> int:
        return sum(map(len, self.bodies)) * self.shape.points

    @property
    def stored_points(self) -> int:
        """With the first batch of each client, which was sent before."""
        return self.points + len(self.clients) * self.shape.points

    @property
    def sent_bytes(self) -> int:
        return sum(len(body) for of_client in self.bodies for body in of_client)

    def send(self) -> None:
        def send(client: Installation, bodies: Sequence[bytes]) -> None:
            for body in bodies:
                client.send(body)

        with ThreadPoolExecutor(len(self.clients)) as threads:
            list(threads.map(send, self.clients, self.bodies))

    def close(self) -> None:
        for client in self.clients:
            client.close()


def prepared(tracker: Installation, shape: Shape, points: int) -> Load:
    """Open runs, send the first batch of each, and make the others."""
    batches = points // (CLIENTS * shape.points)
    load = Load(shape, list(islice(_names, CLIENTS)), [], [])
    for seed, run in enumerate(load.runs):
        client = type(tracker)(tracker.folder, tracker.address)
        client.open(run)
        found = blocks(metrics=shape.metrics, steps=shape.steps, seed=seed)
        made = map(client.prepare, found)
        # It names the series, which later ones need not.
        client.send(next(made))
        load.clients.append(client)
        load.bodies.append(list(islice(made, batches)))
    return load


def chart_costs(tracker: Installation, plan: Plan) -> Iterator[Reading]:
    """Measure charts of logged and compacted runs."""
    load = prepared(tracker, SHAPES[0], plan.points)
    load.send()
    load.close()
    tracker.settle()
    points = load.stored_points // CLIENTS
    for run in load.runs:
        if (found := tracker.count(run, [])) != points:
            raise RuntimeError(f"{found} of {points} points were read back.")
    [metric] = metric_names(1)
    numbers = count()

    def ask(runs: Sequence[str]) -> None:
        tracker.another_chart(runs, metric, next(numbers))

    for runs in (load.runs[:1], load.runs):
        name = f"a chart of {points // SHAPES[0].metrics:,} points"
        if len(runs) > 1:
            name += f" in each of {len(runs)} runs"
        yield _reading(name, partial(ask, runs), plan.charts)


def table_costs(tracker: Installation, plan: Plan) -> Reading:
    connection = tracker.fill(plan.runs, plan.attributes)
    # Autovacuum would have looked at the tables some time later.
    tracker.settle()
    query = urlencode({"sort": METRIC})
    path = f"/api/v1/projects/many/runs/runs?{query}"
    return _reading(
        f"a page of {plan.runs:,} runs, sorted by a metric",
        lambda: len(connection.get(path)),
        plan.pages,
    )


def _reading(name: str, ask: Callable[[], int], times: int) -> Reading:
    for _ in range(WARM_UP_REQUESTS):
        ask()
    with spending(WEB, DATABASE) as spent:
        for _ in range(times):
            ask()
    return Reading(name, spent[WEB] / times, spent[DATABASE] / times)


def live_costs(
    tracker: Installation, plan: Plan, kept: dict[str, Kept], rank: Rank = RANK
) -> Live:
    time.sleep(SETTLING_SECONDS)
    with spending(*EVERY_PROGRAM) as idle:
        time.sleep(SETTLING_SECONDS)
    with trained(tracker, plan.ranks, rank) as trainees:
        time.sleep(SETTLING_SECONDS)
        # As most are that live: the points of those that have just begun wait less.
        tracker.make_runs_old()
        time.sleep(plan.cycle_seconds)
        before = points_of(trainees)
        with spending(*EVERY_PROGRAM) as spent:
            time.sleep(plan.live_seconds)
        million = (points_of(trainees) - before) / MILLION
        # Apart, as looking at SQLite's log makes it grow, and reading with it slower.
        before = points_of(trainees)
        with tracker.logged_bytes() as logged:
            time.sleep(plan.cycle_seconds)
        written = logged[0] / (points_of(trainees) - before)
        sent = sum(trainee.sent_bytes for trainee in trainees) / points_of(trainees)
    quiet = plan.live_seconds / SETTLING_SECONDS
    busy = {name: max(0.0, spent[name] - quiet * idle[name]) for name in spent}
    costs = Costs(
        web=busy[WEB] / million,
        worker=sum(busy[name] for name in BACKGROUND) / million,
        database=busy[DATABASE] / million,
        sent_bytes=sent,
        logged_bytes=written,
        kept_bytes=rank_bytes(kept, rank),
    )
    return Live(plan.ranks, costs, sum(idle.values()) / SETTLING_SECONDS)


@contextmanager
def trained(tracker: Installation, ranks: int, rank: Rank) -> Iterator[list[Trainee]]:
    """Have ranks log, each with a connection of its own."""
    trainees = []
    for seed in range(ranks):
        client = type(tracker)(tracker.folder, tracker.address)
        trainees.append(Trainee(client, rank, f"live-{seed}", seed))
    for trainee in trainees:
        trainee.start()
    yield trainees
    for trainee in trainees:
        trainee.stop()
        if trainee.error:
            raise RuntimeError(trainee.error)


def points_of(trainees: Sequence[Trainee]) -> int:
    return sum(trainee.points for trainee in trainees)


def rank_bytes(kept: dict[str, Kept], rank: Rank) -> float:
    """Return the bytes of a rank's average point, once settled."""
    part = rank.readings_share
    losses, readings = kept[LOSS].point_bytes, kept[HARDWARE].point_bytes
    return (1 - part) * losses + part * readings


def memory_of_programs() -> tuple[Memory, float]:
    """Return the memory of each process right after its work."""
    backends = [
        one for one in program(DATABASE) if "seamark postgres" in command_line(one)
    ]
    everything = held_bytes(program(DATABASE))
    connections = held_bytes(backends)
    memory = Memory(
        web=held_bytes(program(WEB)),
        worker=held_bytes(program(WORKER)),
        database=everything - connections,
        connection=connections / len(backends) if backends else 0.0,
    )
    return memory, held_bytes(program(SCHEDULER))


def tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)

"""Derives the capacity of machines from the cost of a million points (pure).

Only arithmetic: nothing is measured here, and the results are estimates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

MILLION = 1_000_000
GIGABYTE = 1_000_000_000
DAY_SECONDS = 86_400.0
MONTH_DAYS = 30

# Planned utilization of cores, disk bandwidth and network: the rest is for peaks,
# backlogs, vacuum and backups.
UTILISATION = 0.5
# Share of the planned CPU time for page views.
READERS_SHARE = 0.1
# A disk that is fuller than this is to be emptied or replaced.
DISK_SHARE = 0.8
# Upper bound: each byte of the write-ahead log is written once more to its table.
WRITTEN_TIMES = 2.0
# As in tracker/server/processes.py: each thread keeps its connection to PostgreSQL.
WEB_CONNECTIONS = 8
WORKER_CONNECTIONS = 2


@dataclass(frozen=True, slots=True)
class Machine:
    cores: int
    memory_bytes: float
    disk_bytes: float
    disk_bytes_per_second: float  # sustained for hours
    network_bytes_per_second: float


REFERENCE = Machine(
    cores=16,
    memory_bytes=64 * GIGABYTE,
    disk_bytes=2_000 * GIGABYTE,
    disk_bytes_per_second=1 * GIGABYTE,
    network_bytes_per_second=10 * GIGABYTE / 8,
)


@dataclass(frozen=True, slots=True)
class Rank:
    """A training process: its logged data, and the rate of its batches."""

    metrics: int
    steps_per_second: int
    readings_per_second: int
    batches_per_second: int

    @property
    def points_per_second(self) -> int:
        return self.metrics * self.steps_per_second + self.readings_per_second

    @property
    def readings_share(self) -> float:
        return self.readings_per_second / self.points_per_second


# An agent sends every half second.
RANK = Rank(
    metrics=20, steps_per_second=10, readings_per_second=100, batches_per_second=2
)


@dataclass(frozen=True, slots=True)
class Costs:
    """Cost of points: CPU seconds per million, and bytes per point."""

    web: float
    worker: float
    database: float  # 0 where it is part of the other two
    sent_bytes: float
    logged_bytes: float
    kept_bytes: float

    @property
    def outside_database(self) -> float:
        return self.web + self.worker


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that each process holds."""

    web: float
    worker: float
    database: float  # without connections
    connection: float


@dataclass(frozen=True, slots=True)
class Layout:
    machines: int
    # Machines used only for databases; 0: one machine runs everything.
    database_machines: int = 0
    # One web process and one worker, as on SQLite.
    is_single: bool = False

    @property
    def disks(self) -> int:
        return max(1, self.database_machines)


@dataclass(frozen=True, slots=True)
class Carried:
    """The capacity of machines, and the resources used at that load."""

    layout: Layout
    points_per_second: float
    bound: str
    web_processes: int
    workers: int
    database_cores: float  # sum over all machines
    connections: int
    memory_bytes: float
    month_bytes: float
    held_points: float

    @property
    def days_until_full(self) -> float:
        return self.held_points / self.points_per_second / DAY_SECONDS

    def ranks(self, rank: Rank) -> int:
        return int(self.points_per_second / rank.points_per_second)


def best(
    costs: Costs, memory: Memory, machines: int, machine: Machine = REFERENCE
) -> Carried:
    """Divide machines into those with a database and others so that most is carried.

    Of those that carry as much, the one with the fewest databases.
    """
    if machines == 1:
        return carried(costs, memory, Layout(1), machine)
    found = (
        carried(costs, memory, Layout(machines, count), machine)
        for count in range(1, machines)
    )
    return max(found, key=lambda one: one.points_per_second)


def carried(
    costs: Costs, memory: Memory, layout: Layout, machine: Machine = REFERENCE
) -> Carried:
    bounds = dict(points_per_second(costs, layout, machine))
    bound = min(bounds, key=lambda name: bounds[name])
    rate = bounds[bound]
    web = processes(rate * costs.web / MILLION)
    workers = processes(rate * costs.worker / MILLION)
    connections = 0
    if not layout.is_single:
        connections = WEB_CONNECTIONS * web + WORKER_CONNECTIONS * workers
    return Carried(
        layout,
        rate,
        bound,
        web_processes=web,
        workers=workers,
        database_cores=rate * costs.database / MILLION / UTILISATION,
        connections=connections,
        memory_bytes=web * memory.web
        + workers * memory.worker
        + layout.disks * memory.database
        + connections * memory.connection,
        month_bytes=rate * costs.kept_bytes * DAY_SECONDS * MONTH_DAYS,
        held_points=layout.disks * machine.disk_bytes * DISK_SHARE / costs.kept_bytes,
    )


def points_per_second(
    costs: Costs, layout: Layout, machine: Machine
) -> Iterator[tuple[str, float]]:
    """Yield the limiting resources, each with its maximum rate."""
    if layout.is_single:
        # Python computes in one thread of a process at a time.
        yield "the web process", _of_cores(1, costs.web)
        yield "the worker", _of_cores(1, costs.worker)
    elif layout.database_machines:
        others = layout.machines - layout.database_machines
        cores = machine.cores * layout.database_machines
        yield "cores of databases", _of_cores(cores, costs.database)
        yield "other cores", _of_cores(machine.cores * others, costs.outside_database)
    else:
        every = costs.outside_database + costs.database
        yield "cores", _of_cores(machine.cores, every)
    written = WRITTEN_TIMES * costs.logged_bytes
    disks = layout.disks * machine.disk_bytes_per_second
    yield "writing to disk", UTILISATION * disks / written
    network = layout.disks * machine.network_bytes_per_second
    # Each stored byte has been received over the network before.
    yield "network", UTILISATION * network / (costs.sent_bytes + costs.logged_bytes)


def _of_cores(cores: int, seconds: float) -> float:
    return UTILISATION * (1 - READERS_SHARE) * cores / seconds * MILLION


def processes(cores: float) -> int:
    """Return how many processes share such work, each busy as much as planned."""
    return max(1, ceil(cores / UTILISATION))


def answers_per_second(seconds: float, machine: Machine = REFERENCE) -> float:
    """Return the rate of answers of this cost within the readers' share."""
    return UTILISATION * READERS_SHARE * machine.cores / seconds

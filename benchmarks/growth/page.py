"""The page about growth: measurements and the derived capacity (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from math import floor, log10

from benchmarks.growth.derivation import (
    DISK_SHARE,
    GIGABYTE,
    MONTH_DAYS,
    RANK,
    READERS_SHARE,
    REFERENCE,
    UTILISATION,
    WRITTEN_TIMES,
    Carried,
    Costs,
    Layout,
    answers_per_second,
    best,
    carried,
)
from benchmarks.growth.installation import POSTGRESQL, SQLITE
from benchmarks.growth.measures import CLIENTS, SHAPES, Measured, Plan
from benchmarks.peers.tables import in_milliseconds, table
from benchmarks.peers.workload import HARDWARE, LOSS

TITLES = {SQLITE: "SQLite", POSTGRESQL: "PostgreSQL"}
MEGABYTE = 1_000_000
# Three, to show where one database ends.
FLEETS = (1, 3, 10, 100)
CASES = ("live ranks", *map(str, SHAPES))

HOW = """\
Processor seconds are the system's own count for each program, so other work on the machine hardly changes them.
*Live ranks* log as training processes do: {metrics} metrics at {steps} steps a second and {readings} hardware readings a second, in {batches} batches a second, each rank in a run of its own that seems to have begun an hour ago, while the real worker compacts and diagnoses; what the programs take when nobody logs is left out of it.
The other rows are backlogs, as after an outage: each of {clients} clients sends a batch as soon as the one before is stored, and all is compacted afterwards; medians of {rounds} rounds.
A live point costs much more than one of a backlog, because every batch, every pass of compaction and every diagnosis holds few of them.
So live ranks are what to plan with; the other rows say how fast a backlog is made up for, not what disks could hold."""

MACHINE = """\
Everything from here on is arithmetic on the figures above; no fleet of this size has been run.

One machine is taken to have {cores} cores like the one measured on, {memory:.0f} GB of memory, {disk:.0f} TB of NVMe that keeps up {disk_rate:.0f} GB/s, and a network of {network:.0f} Gbit/s.
Of cores, disk bandwidth and network {utilisation:.0%} is planned with; {readers:.0%} of that processor time is left to readers.
A disk counts as full at {full:.0%}.
What a database logs is taken to be written {written:g} times: once to its log, once where it belongs."""

OMITTED = """\
- *Waiting.* Processor seconds say nothing about how long a commit waits for the disk, or for the writer's lock of SQLite. `python -m benchmarks.load` measures that.
- *Other cores.* Memory bandwidth, shared caches and two threads to a core make sixteen busy cores slower than sixteen times one.
- *Contention.* PostgreSQL with hundreds of connections, a long log and checkpoints under load; a checkpoint writes whole pages to the log once more.
- *The network.* Several machines talk over one; here database and web server share a machine, so its cost is missing, and so are proxies and TLS.
- *Opening runs.* The first batch of a run makes its series, and is left out; so are parameters, tags, retention and deletion.
- *Size.* The databases measured are small enough for memory. Indexes that are not, vacuum of large tables and backups take more.
- *Imbalance.* Runs are taken to spread evenly over databases, and ranks over runs as measured.
- *Safety.* Replicas, which every team of this size will have, take their own disks and processors."""


def page(
    measured: Mapping[str, Measured], plan: Plan, *, machine: str, when: datetime
) -> Iterator[str]:
    yield "# What 1, 10 and 100 machines hold and serve"
    yield ""
    yield "Printed by `python -m benchmarks.growth`."
    yield f"{when:%d %B %Y}, {machine}."
    yield "\n## Measured: what points cost\n"
    yield how(plan)
    yield ""
    yield costs_table(measured)
    yield "\n## Measured: bytes, answers and memory\n"
    yield kept_table(measured)
    yield ""
    yield readings_table(measured)
    yield ""
    yield memory_table(measured)
    yield "\n## Derived: what machines carry\n"
    yield machines_text()
    for case in CASES:
        yield f"\n### {case[0].upper()}{case[1:]}\n"
        fleets = fleets_of(measured, case)
        yield carried_table(fleets, has_ranks=case == CASES[0])
        yield ""
        yield needs_table(fleets)
    yield "\n## What the arithmetic leaves out\n"
    yield OMITTED


def how(plan: Plan) -> str:
    return HOW.format(
        clients=CLIENTS,
        rounds=plan.rounds,
        metrics=RANK.metrics,
        steps=RANK.steps_per_second,
        readings=RANK.readings_per_second,
        batches=RANK.batches_per_second,
    )


def machines_text() -> str:
    return MACHINE.format(
        cores=REFERENCE.cores,
        memory=REFERENCE.memory_bytes / GIGABYTE,
        disk=REFERENCE.disk_bytes / GIGABYTE / 1_000,
        disk_rate=REFERENCE.disk_bytes_per_second / GIGABYTE,
        network=REFERENCE.network_bytes_per_second * 8 / GIGABYTE,
        utilisation=UTILISATION,
        readers=READERS_SHARE,
        full=DISK_SHARE,
        written=WRITTEN_TIMES,
    )


def costs_of(one: Measured, case: str) -> Costs:
    by_name = {str(shape): costs for shape, costs in one.bulk.items()}
    return {CASES[0]: one.live.costs, **by_name}[case]


def costs_table(measured: Mapping[str, Measured]) -> str:
    rows = []
    for case in CASES:
        for name, one in measured.items():
            costs = costs_of(one, case)
            rows.append(
                [
                    f"{TITLES[name]}, {case}",
                    f"{costs.web:.2f}",
                    f"{costs.worker:.2f}",
                    f"{costs.database:.2f}" if costs.database else "in the others",
                    f"{costs.sent_bytes:.1f}",
                    f"{costs.logged_bytes:.0f}",
                ]
            )
    headings = ["processor seconds of a million points", "web", "worker", "database"]
    return table([*headings, "bytes/point sent", "bytes/point in its log"], rows)


def kept_table(measured: Mapping[str, Measured]) -> str:
    rows = [
        [
            TITLES[name],
            *(f"{one.kept[kind].point_bytes:.2f}" for kind in (LOSS, HARDWARE)),
            f"{one.kept[LOSS].empty_bytes / MEGABYTE:.1f}",
        ]
        for name, one in measured.items()
    ]
    headings = ["bytes a point keeps, settled", "20 losses together"]
    headings.append("20 hardware readings together")
    return table([*headings, "MB of an empty database"], rows)


def readings_table(measured: Mapping[str, Measured]) -> str:
    rows = [
        [
            f"{TITLES[name]}, {reading.name}",
            in_milliseconds(reading.web),
            in_milliseconds(reading.database) if name != SQLITE else "in the other",
            f"{answers_per_second(reading.seconds):,.0f}",
        ]
        for name, one in measured.items()
        for reading in one.readings
    ]
    headings = ["processor time of an answer", "web", "database"]
    return table([*headings, "a second and machine, of readers' share"], rows)


def memory_table(measured: Mapping[str, Measured]) -> str:
    rows = []
    for name, one in measured.items():
        has_server = name != SQLITE
        rows.append(
            [
                TITLES[name],
                f"{one.memory.web / MEGABYTE:.0f}",
                f"{one.memory.worker / MEGABYTE:.0f}",
                f"{one.compaction_bytes / MEGABYTE:.0f}",
                f"{one.scheduler_bytes / MEGABYTE:.0f}",
                f"{one.memory.database / MEGABYTE:.0f}" if has_server else "–",
                f"{one.memory.connection / MEGABYTE:.0f}" if has_server else "–",
                f"{one.live.idle_share:.1%}",
            ]
        )
    headings = ["MB held", "web process", "worker", "at most, compacting a backlog"]
    headings += ["scheduler", "PostgreSQL, all but connections", "a connection"]
    return table([*headings, "of a core, all programs idle"], rows)


def fleets_of(measured: Mapping[str, Measured], case: str) -> list[tuple[str, Carried]]:
    fleets = []
    if SQLITE in measured:
        one = measured[SQLITE]
        single = carried(costs_of(one, case), one.memory, Layout(1, is_single=True))
        fleets.append(("1 machine, SQLite", single))
    if POSTGRESQL in measured:
        one = measured[POSTGRESQL]
        for machines in FLEETS:
            found = best(costs_of(one, case), one.memory, machines)
            fleets.append((described(found), found))
    return fleets


def described(found: Carried) -> str:
    machines = found.layout.machines
    if machines == 1:
        return "1 machine, PostgreSQL"
    databases = found.layout.database_machines
    what = "a database" if databases == 1 else "databases"
    return f"{machines} machines, {databases} of them {what}"


def carried_table(fleets: Sequence[tuple[str, Carried]], *, has_ranks: bool) -> str:
    rows = []
    for name, found in fleets:
        rows.append(
            [
                name,
                *([in_digits(found.ranks(RANK))] if has_ranks else []),
                in_digits(found.points_per_second),
                found.bound,
                in_bytes(found.month_bytes),
                in_digits(found.held_points),
                in_digits(found.days_until_full),
            ]
        )
    headings = ["carried", *(["ranks at once"] if has_ranks else []), "points/s"]
    headings += ["what ends it", f"{MONTH_DAYS} days of that", "points held"]
    return table([*headings, "days until full"], rows)


def needs_table(fleets: Sequence[tuple[str, Carried]]) -> str:
    rows = [
        [
            name,
            f"{found.web_processes:,}",
            f"{found.workers:,}",
            f"{found.database_cores:,.1f}" if found.database_cores else "–",
            f"{found.connections:,}" if found.connections else "–",
            f"{found.memory_bytes / GIGABYTE:,.1f} GB",
        ]
        for name, found in fleets
    ]
    headings = ["by", "web processes", "workers", "cores of PostgreSQL"]
    return table([*headings, "connections", "memory of all"], rows)


def in_digits(value: float) -> str:
    """Return a number with two significant digits."""
    if value <= 0:
        return "0"
    places = 1 - floor(log10(value))
    return f"{round(value, places):,.{max(0, places)}f}"


def in_bytes(value: float) -> str:
    for unit, size in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9)):
        if value >= size:
            return f"{in_digits(value / size)} {unit}"
    return f"{in_digits(value / 1e6)} MB"

"""The parts of the comparison; each yields the rows of its tables.

Systems alternate within each round, so that disturbances affect all of them.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from benchmarks.peers.driving import SHARED_METRICS
from benchmarks.peers.entrants import Answer, Driver
from benchmarks.peers.tables import (
    Chart,
    ChartGoal,
    Rate,
    RateGoal,
    Size,
    batches_table,
    charts_table,
    in_bytes,
    rates_table,
    safe,
    sizes_table,
    table,
)
from benchmarks.peers.workload import (
    CONSTANT,
    HARDWARE,
    KINDS,
    LOSS,
    least_bytes_of_a_time,
)

OURS = "Seamark, SQLite"
# A single long series, and the goal of its chart: time, size, and the factor relative
# to peers.
LONG_POINTS, LONG_CHART = 10_000_000, ChartGoal(0.020, 200_000)
PEERS_CHART = ChartGoal(times_a_peer=10)
MANY_CHART = ChartGoal(0.020)
GOAL = RateGoal(of_the_floor=0.5, times_a_peer=10.0)
KIND_NAMES = {
    LOSS: "loss, float32",
    CONSTANT: "a constant",
    HARDWARE: "hardware, tenths of a percent",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    rounds: int = 3
    seconds: float = 10.0  # of logging per figure, approximately
    most_points: int = 12_000_000
    # Clients, metrics a step, steps in a batch.
    cells: tuple[tuple[int, int, int], ...] = (
        (1, 20, 100),
        (4, 20, 100),
        (1, 1_000, 10),
        (4, 1_000, 10),
    )
    # The same, for Seamark and the floors alone; an agent that is written to without
    # a pause sends batches of the largest of these sizes and more.
    batches: tuple[tuple[int, int, tuple[int, ...]], ...] = (
        (1, 20, (10, 100, 1_000)),
        (4, 20, (10, 100, 1_000)),
        (1, 1_000, (1, 20, 100)),
        (4, 1_000, (1, 20, 100)),
    )
    disk_runs: int = 5
    disk_steps: int = 10_000
    # Metrics per step and steps: fixed costs of a run are shared by many points, fixed
    # costs of a step by many metrics.
    long_disk: tuple[tuple[int, int], ...] = ((20, 100_000), (100, 50_000))
    disk_seconds: float = 60.0
    # Runs, and points of each.
    charts: tuple[tuple[int, int], ...] = ((1, 1_000_000), (20, 10_000))
    long_charts: tuple[tuple[int, int], ...] = ((1, 10_000_000),)
    chart_seconds: float = 60.0
    long_chart_seconds: float = 600.0

    @classmethod
    def quick(cls) -> Self:
        return cls(
            rounds=1,
            seconds=1.0,
            most_points=400_000,
            disk_runs=2,
            disk_steps=5_000,
            long_disk=((20, 20_000),),
            disk_seconds=5.0,
            charts=((1, 100_000), (20, 1_000)),
            long_charts=((1, 1_000_000),),
            chart_seconds=5.0,
            long_chart_seconds=60.0,
        )

    def changed(
        self, *, rounds: int | None, seconds: float | None, metrics: int | None
    ) -> Self:
        return replace(
            self,
            rounds=rounds or self.rounds,
            seconds=seconds or self.seconds,
            cells=tuple(cell for cell in self.cells if metrics in (None, cell[1])),
            batches=tuple(cell for cell in self.batches if metrics in (None, cell[1])),
        )


def systems(drivers: Sequence[Driver]) -> Iterator[str]:
    yield "\n## What is measured\n"
    rows = []
    for driver in drivers:
        told = ask(driver, "describe")
        if "error" in told:
            rows.append([driver.entrant.label, f"not measured: {told['error']}"])
            continue
        rows.append(
            [
                driver.entrant.label,
                *(told[key] for key in ("release", "writing", "reading")),
            ]
        )
    yield table(["system", "version", "written by", "read by"], rows, rule="---")


def ingest(drivers: Sequence[Driver], plan: Plan) -> Iterator[str]:
    yield "\n## Points per second, until all can be read"
    for clients, metrics, steps in plan.cells:
        yield _title(clients, metrics)
        yield f"\nBatches of {steps} steps. What must hold of Seamark: {GOAL}.\n"
        rates = _rates(drivers, plan, clients, metrics, steps)
        yield rates_table(rates, ours=OURS, goal=GOAL)


def batches(drivers: Sequence[Driver], plan: Plan) -> Iterator[str]:
    yield "\n## Thousand points per second, until all can be read"
    for clients, metrics, sizes in plan.batches:
        yield _title(clients, metrics) + "\n"
        yield batches_table(
            {
                f"{metrics * steps:,}": _rates(drivers, plan, clients, metrics, steps)
                for steps in sizes
            }
        )


def _title(clients: int, metrics: int) -> str:
    return f"\n### {clients} client{'s' * (clients > 1)}, {metrics:,} metrics a step"


def _rates(
    drivers: Sequence[Driver], plan: Plan, clients: int, metrics: int, steps: int
) -> list[Rate]:
    outcomes: dict[Driver, list[Answer]] = defaultdict(list)
    for _ in range(plan.rounds):
        for driver in drivers:
            if any("error" in outcome for outcome in outcomes[driver]):
                continue
            outcome = ask(
                driver,
                "ingest",
                clients=clients,
                metrics=metrics,
                steps=steps,
                seconds=plan.seconds,
                most_points=plan.most_points,
            )
            outcomes[driver].append(outcome)
    return [_rate(driver, found) for driver, found in outcomes.items()]


def disk(drivers: Sequence[Driver], plan: Plan) -> Iterator[str]:
    yield "\n## Bytes per point on disk\n"
    yield from _sizes(
        drivers, plan, plan.disk_runs, metrics=SHARED_METRICS, steps=plan.disk_steps
    )
    for metrics, steps in plan.long_disk:
        yield f"\n### One run of {steps:,} steps of {metrics} metrics\n"
        yield from _sizes(fast(drivers), plan, 1, metrics=metrics, steps=steps)


def _sizes(
    drivers: Sequence[Driver], plan: Plan, runs: int, *, metrics: int, steps: int
) -> Iterator[str]:
    shared = [least_bytes_of_a_time(kind) / metrics for kind in KINDS]
    sizes = [Size("the entropy of the times alone", [*map(in_bytes, shared)], None)]
    for driver in drivers:
        cells: list[str] = []
        points = 0
        for kind in KINDS:
            told = ask(
                driver,
                "disk",
                kind=kind,
                runs=runs,
                metrics=metrics,
                steps=steps,
                seconds=plan.disk_seconds,
            )
            cells.append(told.get("error") or size_cell(told))
            points += told.get("points", 0)
        sizes.append(Size(driver.entrant.label, cells, points))
    yield sizes_table(sizes, [KIND_NAMES[kind] for kind in KINDS])


def charts(drivers: Sequence[Driver], plan: Plan) -> Iterator[str]:
    yield "\n## A chart"
    yield ""
    yield "*Spikes in it*: values far above all others, and how many of them the answer"
    yield "holds. TensorBoard answers with 1,000 points of each series, which it draws by"
    yield "chance while it reads the files: that is less work than to look at all of them,"
    yield "and hides nearly every spike. *Holds* is said of Seamark's rows alone."
    for runs, points in plan.charts:
        yield from _chart(drivers, plan, runs, points)
    for runs, points in plan.long_charts:
        yield from _chart(fast(drivers), plan, runs, points)


def everyone(drivers: Sequence[Driver]) -> Sequence[Driver]:
    return drivers


def stored(drivers: Sequence[Driver]) -> Sequence[Driver]:
    return [driver for driver in drivers if not driver.entrant.is_ingest_only]


def fast(drivers: Sequence[Driver]) -> Sequence[Driver]:
    return [driver for driver in stored(drivers) if driver.entrant.is_fast]


def fast_writers(drivers: Sequence[Driver]) -> Sequence[Driver]:
    return [driver for driver in drivers if driver.entrant.is_fast]


def ask(driver: Driver, job: str, **arguments: object) -> Answer:
    print(f"{driver.entrant.key}: {job} {arguments or ''}", file=sys.stderr, flush=True)
    answer = driver.ask(job, **arguments)
    if "error" in answer:
        print(f"{driver.entrant.key}: {answer['error']}", file=sys.stderr, flush=True)
    return answer


def size_cell(told: Answer) -> str:
    points = told["points"]
    return in_bytes(told["bytes"] / points, free=told["free"] / points)


def _rate(driver: Driver, outcomes: Sequence[Answer]) -> Rate:
    label = driver.entrant.label
    for outcome in outcomes:
        if "error" in outcome:
            return Rate(label, error=safe(outcome["error"]))
    return Rate(
        label,
        [outcome["points"] / outcome["seconds"] for outcome in outcomes],
        outcomes[-1]["points"],
        floors=driver.entrant.floors,
        is_ours=driver.entrant.is_ours,
        is_peer_with_server=driver.entrant.is_peer_with_server,
        batch_seconds=[
            seconds
            for outcome in outcomes
            if (seconds := outcome["batch_seconds"]) is not None
        ],
    )


def _chart(
    drivers: Sequence[Driver], plan: Plan, runs: int, points: int
) -> Iterator[str]:
    loaded = {}
    for driver in drivers:
        is_fast = driver.entrant.is_fast
        seconds = plan.long_chart_seconds if is_fast else plan.chart_seconds
        loaded[driver] = ask(driver, "load", runs=runs, points=points, seconds=seconds)
    drawn: dict[Driver, list[Answer]] = {driver: [] for driver in drivers}
    for _ in range(plan.rounds):
        for driver in drivers:
            if "error" not in loaded[driver]:
                drawn[driver].append(ask(driver, "chart", runs=runs))
    what = f"{runs} runs, {points:,} points each" if runs > 1 else f"{points:,} points"
    goal = goal_of(runs, points)
    yield f"\n### {what}\n"
    yield f"What must hold: {goal}.\n"
    yield charts_table(
        [_drawn(driver, loaded[driver], drawn[driver]) for driver in drivers],
        ours=OURS,
        goal=goal,
    )


def goal_of(runs: int, points: int) -> ChartGoal:
    if runs > 1:
        return MANY_CHART
    return LONG_CHART if points >= LONG_POINTS else PEERS_CHART


def _drawn(driver: Driver, loaded: Answer, drawn: Sequence[Answer]) -> Chart:
    label = driver.entrant.label
    for answer in (loaded, *drawn):
        if "error" in answer:
            return Chart(label, error=safe(answer["error"]))
    return Chart(
        label,
        loaded["points"],
        [answer["first"] for answer in drawn],
        [seconds for answer in drawn for seconds in answer["another"]],
        [seconds for answer in drawn for seconds in answer["again"]],
        drawn[-1]["bytes"],
        spikes=drawn[-1]["spikes"],
        shown=min(answer["shown"] for answer in drawn),
        is_ours=driver.entrant.is_ours,
        is_peer=bool(driver.entrant.environment),
    )


# The participants, and the function that yields the rows.
PARTS = {
    "ingest": (everyone, ingest),
    "batches": (fast_writers, batches),
    "disk": (stored, disk),
    "charts": (stored, charts),
}

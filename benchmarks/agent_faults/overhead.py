"""CF-21: what the agent costs the loop it runs in, measured in turns with a bare loop."""

from __future__ import annotations

import os
import statistics

from benchmarks.agent_faults.case import Bound, Found, Size, at_most, none_of
from benchmarks.agent_faults.proxy import HUNG, Proxy, Way, free_port
from benchmarks.agent_faults.scripts import Place, answer_of
from benchmarks.load.figures import percentile
from tests.agent.tracker_double import TrackerDouble

WAYS: dict[str, Way | None] = {
    "healthy": Way(),
    "50 ms late": Way(delay_seconds=0.05),
    "accepts, never answers": HUNG,
    "nobody listens": None,
}
# Blocks of steps take turns: with a run and without one, and in between a second time
# without one, which says how far two bare loops differ on this machine.
LOOP = """
import json, sys, time
import agent

def step():
    total = 0
    for number in range(100_000):
        total += number * number
    return total

def block(run, steps=1500):
    times = []
    data = {f"m/{number}": 0.5 for number in range(100)}
    logged_at = 0.0
    for number in range(steps):
        began = time.perf_counter()
        step()
        # Ten times a second.
        if began > logged_at + 0.1:
            logged_at = began
            if run is not None: run.log(data)
        times.append(time.perf_counter() - began)
    return times

block(None)
times = {"on": [], "off": [], "again": []}
cpu = seconds = 0.0
for number in range(int(sys.argv[1])):
    times["off"].append(block(None))
    run = agent.init(f"r{number}")
    # What the start takes, with all that is captured, is no part of the loop.
    block(run, 1000)
    session = run._session
    before, began = session.cpu_seconds(), time.monotonic()
    times["on"].append(block(run))
    cpu += session.cpu_seconds() - before
    seconds += time.monotonic() - began
    run.finish(timeout=0)
    time.sleep(0.2)
    times["again"].append(block(None))
print(json.dumps({"times": times, "cpu": cpu / seconds}))
"""


def overhead(size: Size) -> list[Found]:
    """Compare the median and the 99th percentile of steps, with a run and without."""
    found = []
    for name, way in WAYS.items():
        tracker = TrackerDouble()
        with Proxy(tracker.port) as proxy:
            proxy.way = way or proxy.way
            url = proxy.url if way else f"http://127.0.0.1:{free_port()}"
            place = Place(size.folder / str(len(found)), url)
            answer = answer_of(place.perform(LOOP, str(size.amount)))
            proxy.break_all()
        tracker.stop()
        found.append(_found(name, size, answer["times"], answer["cpu"]))
    return found


def _bound(words: str, value: float, most: float, *, noise: float) -> Bound:
    """What must hold; not shown where two bare loops differ by as much."""
    return Bound(
        f"{words} ≤ {most:g} % more", None if abs(noise) > most else value <= most
    )


def _found(
    name: str, size: Size, times: dict[str, list[list[float]]], cpu: float
) -> Found:
    steps = {
        kind: [t for block in blocks for t in block] for kind, blocks in times.items()
    }
    middle = {kind: statistics.median(found) for kind, found in steps.items()}
    slow = {kind: percentile(found, 99) for kind, found in steps.items()}
    more = {
        kind: (
            100 * (middle[kind] / middle["off"] - 1),
            100 * (slow[kind] / slow["off"] - 1),
        )
        for kind in ("on", "again")
    }
    load = os.getloadavg()[0]
    return Found(
        f"server {name}: {size.amount} blocks of 1,500 steps each way, 100 metrics ten"
        " times a second, hardware once a second",
        [
            f"a step {1000 * middle['off']:.2f} ms at the median, {1000 * slow['off']:.2f} at p99",
            f"with a run {more['on'][0]:+.2f} % and {more['on'][1]:+.1f} %",
            f"a second bare loop {more['again'][0]:+.2f} % and {more['again'][1]:+.1f} %",
            f"agent's threads {100 * cpu:.1f} % of a core; load of the machine {load:.1f}"
            f" on {os.cpu_count()} cores",
        ],
        [
            _bound("median", more["on"][0], 1, noise=more["again"][0]),
            _bound("p99", more["on"][1], 3, noise=more["again"][1]),
            at_most("threads", 100 * cpu, 2, "% of a core"),
            none_of("blocks lost", size.amount - len(times["on"])),
        ],
    )

"""CF-21: what the agent costs the loop it runs in, beside the same loop without it.

Two processes run the loop in turns of a second, in the order with, without, without,
with; the one that waits is stopped, threads and all. So what the machine does besides
falls on both, and each four turns give one difference. Their median, with an interval
from drawing them anew, says how large a cost can be told on this machine. Beside it
stands the processor time of the loop's own thread, which others cannot lengthen; but
what the loop waits for is not in it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.agent_faults.case import Bound, Found, Size, at_most
from benchmarks.agent_faults.proxy import HUNG, Proxy, Way, free_port
from benchmarks.agent_faults.scripts import Place
from benchmarks.faults.case import SEED
from benchmarks.load.figures import percentile
from tests.agent.tracker_double import TrackerDouble

WAYS: dict[str, Way | None] = {
    "healthy": Way(),
    "50 ms late": Way(delay_seconds=0.05),
    "accepts, never answers": HUNG,
    "nobody listens": None,
}
LOOP = """
import json, sys, time

run = session = None
data = {f"m/{number}": 0.5 for number in range(100)}
if sys.argv[1] == "with":
    import agent
    run = agent.init("r")
    session = run._session
logged_at = 0.0

def step():
    total = 0
    for number in range(20_000):
        total += number * number
    return total

def turn(seconds):
    global logged_at
    times = []
    now = time.perf_counter()
    end = now + seconds
    while now < end:
        began = now
        step()
        # Ten times a second.
        if began > logged_at + 0.1:
            logged_at = began
            if run is not None: run.log(data)
        now = time.perf_counter()
        times.append(now - began)
    return times

for line in sys.stdin:
    before = session.cpu_seconds() if session else 0.0
    spent = time.thread_time()
    times = turn(float(line))
    spent = (time.thread_time() - spent) / len(times)
    cpu = session.cpu_seconds() - before if session else 0.0
    print(json.dumps({"times": times, "cpu": cpu, "spent": spent}), flush=True)
if run is not None: run.finish(timeout=0)
"""
TURN_SECONDS = 1.0
# What the start takes, with all that is captured, is no part of the loop.
START_SECONDS = 10.0
DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class Difference:
    """By how many percent more: at the median, and from where to where 19 times in 20."""

    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.middle:+.2f} % ({self.low:+.2f} to {self.high:+.2f})"


class Loop:
    """A process that runs the loop when it is its turn, and is stopped otherwise."""

    def __init__(self, place: Place, kind: str) -> None:
        self._process: subprocess.Popen[str] = place.start(LOOP, kind)
        self.cpu = self.seconds = 0.0
        self.spent: list[float] = []

    def begin(self) -> None:
        self._turn(START_SECONDS)
        self.cpu = self.seconds = 0.0
        self.spent.clear()

    def turn(self) -> list[float]:
        return self._turn(TURN_SECONDS)

    def end(self) -> None:
        self._process.send_signal(signal.SIGCONT)
        self._process.communicate()

    def _turn(self, seconds: float) -> list[float]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.send_signal(signal.SIGCONT)
        self._process.stdin.write(f"{seconds}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        self._process.send_signal(signal.SIGSTOP)
        times: list[float] = answer["times"]
        self.cpu += answer["cpu"]
        self.spent.append(answer["spent"])
        self.seconds += sum(times)
        return times


def overhead(size: Size) -> list[Found]:
    """Compare a loop with a run with one without, and two without."""
    bare = _compared("two bare loops", "without", size, Place(size.folder / "b", ""))
    # Where two bare loops seem to differ, nothing else is shown either.
    is_quiet = bare.holds is True
    found = [bare]
    for name, way in WAYS.items():
        tracker = TrackerDouble()
        with Proxy(tracker.port) as proxy:
            proxy.way = way or proxy.way
            url = proxy.url if way else f"http://127.0.0.1:{free_port()}"
            place = Place(size.folder / str(len(found)), url)
            each = _compared(f"server {name}", "with", size, place)
            found.append(each if is_quiet else _unshown(each))
            proxy.break_all()
        tracker.stop()
    return found


def _compared(words: str, kind: str, size: Size, place: Place) -> Found:
    one, other = Loop(place, kind), Loop(place, "without")
    one.begin()
    other.begin()
    fours = []
    for _ in range(size.amount):
        first, *between, last = one.turn(), other.turn(), other.turn(), one.turn()
        fours.append(([*first, *last], [t for turn in between for t in turn]))
    cpu = 100 * one.cpu / one.seconds
    # Of each turn of the one, the turn of the other beside it.
    spent = [([a], [b]) for a, b in zip(one.spent, other.spent, strict=True)]
    one.end()
    other.end()
    of_thread = difference(spent, lambda each: each[0])
    return _found(words, kind, fours, cpu, of_thread)


def _found(
    words: str,
    kind: str,
    fours: Sequence[tuple[list[float], list[float]]],
    cpu: float,
    of_thread: Difference,
) -> Found:
    middle = difference(fours, statistics.median)
    mean = difference(fours, statistics.fmean)
    slow = difference(fours, lambda times: percentile(sorted(times), 99))
    bare = statistics.median(t for _, times in fours for t in times)
    load = os.getloadavg()[0]
    figures = [
        f"a bare step {1000 * bare:.2f} ms; more at the median {middle}, on average"
        f" {mean}, at p99 {slow}",
        f"processor time of the loop's thread {of_thread}",
        f"load of the machine {load:.1f} on {os.cpu_count()} cores",
    ]
    if kind == "without":
        # What it finds where there is nothing to find.
        return Found(_done(words, fours), figures, [_told("±", middle)])
    return Found(
        _done(words, fours),
        [*figures, f"agent's threads {cpu:.1f} % of a core"],
        [
            _bound("median", middle, 1),
            _bound("p99", slow, 3),
            at_most("threads", cpu, 2, "% of a core"),
        ],
    )


def _done(words: str, fours: Sequence[object]) -> str:
    return (
        f"{words}: {len(fours)} times four turns of a second, 100 metrics ten times a"
        " second, hardware once a second"
    )


def difference(
    fours: Sequence[tuple[list[float], list[float]]],
    of_turns: Callable[[list[float]], float],
) -> Difference:
    """Return by how many percent the first of each pair is more than the second."""
    each = [100 * (of_turns(one) / of_turns(other) - 1) for one, other in fours]
    chance = random.Random(SEED)
    drawn = sorted(
        statistics.median(chance.choices(each, k=len(each))) for _ in range(DRAWS)
    )
    return Difference(
        statistics.median(each), drawn[DRAWS // 40], drawn[-1 - DRAWS // 40]
    )


def _bound(words: str, found: Difference, most: float) -> Bound:
    """What must hold; not shown where the interval holds both answers."""
    holds = found.high <= most
    is_shown = holds or found.low > most
    return Bound(f"{words} ≤ {most:g} % more", holds if is_shown else None)


def _unshown(found: Found) -> Found:
    bounds = [
        Bound(b.words, None if "more" in b.words else b.holds) for b in found.bounds
    ]
    return Found(found.done, found.figures, bounds)


def _told(words: str, found: Difference) -> Bound:
    half = (found.high - found.low) / 2
    return Bound(f"one percent can be told ({words}{half:.2f})", half < 1 or None)

"""CF-21: what the agent costs the loop it runs in, beside the same loop without it.

A process imports all that is needed and then becomes two: the same program at the same
addresses, as where its parts lie in memory makes a loop faster or slower by several
percent. One begins a run, and both run the loop in turns of a second, in the order with,
without, without, with; the one that waits is stopped, threads and all. So what the
machine does besides falls on both, and each four turns give one difference. Their
median, with an interval from drawing them anew, says how large a cost can be told on
this machine. Beside it stands the processor time of the loop's own thread, which others
cannot lengthen; but what the loop waits for is not in it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import statistics
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from benchmarks.agent_faults.case import Bound, Found, Size, at_most
from benchmarks.agent_faults.proxy import HUNG, Proxy, Way, free_port
from benchmarks.agent_faults.scripts import Place
from benchmarks.faults.case import SEED
from benchmarks.load.figures import percentile
from tests.agent.tracker_double import TrackerDouble

Each = TypeVar("Each")

WAYS: dict[str, Way | None] = {
    "healthy": Way(),
    "50 ms late": Way(delay_seconds=0.05),
    "accepts, never answers": HUNG,
    "nobody listens": None,
}
# A step logs a hundred metrics, ten times a second.
STEP_SECONDS = 0.1
LOOP = """
import json, os, signal, sys, time

import agent

kinds, work, step_seconds = sys.argv[1].split(","), sys.argv[2], float(sys.argv[3])
data = {f"m/{number}": 0.5 for number in range(100)}

def python(times):
    total = 0
    for number in range(20_000 * times):
        total += number * number
    return total

def torch(times):
    for _ in range(times):
        weights.mm(weights)

if work == "torch":
    import torch as library
    # Threads of its own would not be there after a fork.
    library.set_num_threads(1)
    weights = library.rand(192, 192)
work = globals()[work]
work(20)
began = time.perf_counter()
work(100)
times = max(1, round(100 * step_seconds / (time.perf_counter() - began)))

def turn(run, seconds):
    taken = []
    now = time.perf_counter()
    end = now + seconds
    while now < end:
        began = now
        work(times)
        if run is not None: run.log(data)
        now = time.perf_counter()
        taken.append(now - began)
    return taken

def obey(kind, orders, answers):
    run = agent.init("r") if kind == "with" else None
    session = run._session if run is not None else None
    for line in orders:
        before = session.cpu_seconds() if session else 0.0
        spent = time.thread_time()
        taken = turn(run, float(line))
        spent = (time.thread_time() - spent) / len(taken)
        cpu = session.cpu_seconds() - before if session else 0.0
        print(json.dumps({"times": taken, "cpu": cpu, "spent": spent}), file=answers, flush=True)
    if run is not None: run.finish(timeout=0)

loops = []
for kind in kinds:
    from_us, to_loop = os.pipe()
    from_loop, to_us = os.pipe()
    child = os.fork()
    if not child:
        # The end of what is asked is seen once nobody else holds the pipe.
        os.close(to_loop)
        for other in loops: other["orders"].close()
        obey(kind, os.fdopen(from_us), os.fdopen(to_us, "w"))
        sys.stdout.flush()
        os._exit(0)
    os.close(from_us)
    os.close(to_us)
    loops.append({"id": child, "orders": os.fdopen(to_loop, "w"), "answers": os.fdopen(from_loop)})

for line in sys.stdin:
    number, seconds = line.split()
    loop = loops[int(number)]
    os.kill(loop["id"], signal.SIGCONT)
    print(seconds, file=loop["orders"], flush=True)
    answer = loop["answers"].readline()
    os.kill(loop["id"], signal.SIGSTOP)
    print(answer, end="", flush=True)
for loop in loops:
    os.kill(loop["id"], signal.SIGCONT)
    loop["orders"].close()
    os.waitpid(loop["id"], 0)
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


class Loops:
    """A process and the two it became, which run the loop when it is their turn."""

    def __init__(self, place: Place, kinds: str, work: str) -> None:
        self._process: subprocess.Popen[str] = place.start(
            LOOP, kinds, work, str(STEP_SECONDS)
        )
        self.cpu = self.seconds = 0.0
        self.spent: tuple[list[float], list[float]] = ([], [])
        for number in (0, 1):
            self.turn(number, START_SECONDS)
            self.spent[number].clear()
        self.cpu = self.seconds = 0.0

    def turn(self, number: int, seconds: float = TURN_SECONDS) -> list[float]:
        """Return the seconds of each step of a turn, of the first loop or the second."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{number} {seconds}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        times: list[float] = answer["times"]
        if number == 0:
            self.cpu += answer["cpu"]
            self.seconds += sum(times)
        self.spent[number].append(answer["spent"])
        return times

    def end(self) -> None:
        self._process.communicate()


def overhead(size: Size) -> list[Found]:
    """Compare a loop with a run with one without, and two without."""
    return [found for work in works() for found in _overhead(size, work)]


def works() -> list[str]:
    """Return what a step may do; PyTorch only where it is installed."""
    return ["python", *(["torch"] if importlib.util.find_spec("torch") else [])]


def _overhead(size: Size, work: str) -> list[Found]:
    place = Place(size.folder / f"{work}-bare", "")
    bare = _compared(f"{work}, two bare loops", "without,without", work, size, place)
    # Where two bare loops seem to differ, nothing else is shown either.
    is_quiet = bare.holds is True
    found = [bare]
    for name, way in WAYS.items():
        tracker = TrackerDouble()
        with Proxy(tracker.port) as proxy:
            proxy.way = way or proxy.way
            url = proxy.url if way else f"http://127.0.0.1:{free_port()}"
            place = Place(size.folder / f"{work}-{len(found)}", url)
            words = f"{work}, server {name}"
            each = _compared(words, "with,without", work, size, place)
            found.append(each if is_quiet else _unshown(each))
            proxy.break_all()
        tracker.stop()
    return found


def _compared(words: str, kinds: str, work: str, size: Size, place: Place) -> Found:
    loops = Loops(place, kinds, work)
    fours = []
    for _ in range(size.amount):
        turns = [loops.turn(number) for number in (0, 1, 1, 0)]
        fours.append(([*turns[0], *turns[3]], [*turns[1], *turns[2]]))
    loops.end()
    cpu = 100 * loops.cpu / loops.seconds
    # Of each turn of the one, the turn of the other beside it.
    spent = [([a], [b]) for a, b in zip(*loops.spent, strict=True)]
    return _found(words, kinds, fours, cpu, difference(spent, lambda each: each[0]))


def _found(
    words: str,
    kinds: str,
    fours: Sequence[tuple[list[float], list[float]]],
    cpu: float,
    of_thread: Difference,
) -> Found:
    middle = difference(fours, statistics.median)
    mean = difference(fours, statistics.fmean)
    slow = difference_of_all(fours, lambda times: percentile(sorted(times), 99))
    bare = statistics.median(t for _, times in fours for t in times)
    load = os.getloadavg()[0]
    figures = [
        f"a bare step {1000 * bare:.0f} ms; more at the median {middle}, on average"
        f" {mean}, at p99 {slow}",
        f"processor time of the loop's thread {of_thread}",
        f"load of the machine {load:.1f} on {os.cpu_count()} cores",
    ]
    if kinds == "without,without":
        return Found(_done(words, fours), figures, [_told(middle)])
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
        f"{words}: {len(fours)} times four turns of a second, 100 metrics a step,"
        " hardware once a second"
    )


def difference(
    fours: Sequence[tuple[list[float], list[float]]],
    of_turns: Callable[[list[float]], float],
) -> Difference:
    """Return by how many percent the first of each pair is more than the second."""
    each = [_percent_more(of_turns(one), of_turns(other)) for one, other in fours]
    return _drawn(each, statistics.median)


def difference_of_all(
    fours: Sequence[tuple[list[float], list[float]]],
    of_steps: Callable[[list[float]], float],
) -> Difference:
    """Return the same of all steps together, for what few steps do not show."""

    def of_all(drawn: Sequence[tuple[list[float], list[float]]]) -> float:
        one, other = ([t for four in drawn for t in four[side]] for side in (0, 1))
        return _percent_more(of_steps(one), of_steps(other))

    return _drawn(fours, of_all)


def _percent_more(one: float, other: float) -> float:
    return 100 * (one / other - 1)


def _drawn(
    found: Sequence[Each], value: Callable[[Sequence[Each]], float]
) -> Difference:
    """Return a value of what was found, and its interval from drawing that anew."""
    chance = random.Random(SEED)
    drawn = sorted(value(chance.choices(found, k=len(found))) for _ in range(DRAWS))
    return Difference(value(found), drawn[DRAWS // 40], drawn[-1 - DRAWS // 40])


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


def _told(found: Difference) -> Bound:
    """What is found where there is nothing to find must be less than one percent."""
    farthest = max(abs(found.low), abs(found.high))
    return Bound(f"one percent can be told (±{farthest:.2f})", farthest < 1 or None)

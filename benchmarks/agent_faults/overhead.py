"""CF-21: slowdown of a training loop by the agent.

A process runs the loop with an idle run, then with an active run, then idle again.
While idle, nothing is logged and the agent's threads wait; their backlog is processed
in the first two or three active steps, which are not counted. So each round gives one
difference to the bare loop just before and after it, with the same objects at the same
addresses: the layout of memory changes a loop's speed by more than any agent, and
differs between processes. It also changes the cost of the agent's work, so each server
is measured with several processes.

The result is the median of all rounds, with a bootstrap interval over processes and
their rounds. Control rounds, whose middle turn is idle too, show the smallest cost that
can be detected on this machine. Turns are short, because machines drift. The table also
has the CPU time of the loop's thread, which other programs do not lengthen, but which
excludes waits.

The slowest percent of steps is more often caused by the machine than by the agent. The
same work takes clearly more CPU time only if the host takes the core away or other
programs evict its caches. So those idle steps are excluded, and an equal share of the
active steps with the most CPU time; effects of the agent on more steps than that are
counted. The p99 of all steps is also reported. Both are relative to the usual idle step
of the process, because processes differ by more than the effect. The CPU time of the
agent's threads per step is more stable: it delays other threads at most by that time,
apart from context switches and caches.

With enough cores, several processes run at once, each on two of its own, and the
servers on the rest.
"""

from __future__ import annotations

import json
import os
import random
import socket
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.agent_faults.case import Bound, Found, Size, at_most, not_shown
from benchmarks.agent_faults.lanes import Lane, Lanes, usable_cores
from benchmarks.agent_faults.loop import LOOP, STEP_SECONDS
from benchmarks.agent_faults.proxy import HUNG, Proxy, Way
from benchmarks.agent_faults.pytorch import finds_gpu, python_with_torch, without_torch
from benchmarks.agent_faults.scripts import Place
from benchmarks.faults.case import SEED
from benchmarks.load.figures import percentile
from tests.agent.tracker_double import TrackerDouble

Each = TypeVar("Each")
Floats = NDArray[np.float64]

WAYS: dict[str, Way | None] = {
    "healthy": Way(),
    "1 s late": Way(delay_seconds=1.0),
    "accepts, never answers": HUNG,
    "nobody listens": None,
}
DRAWS = 600
# Relative CPU time above which an idle step counts as disturbed by the machine.
DISTURBED = 1.05


@dataclass(frozen=True, slots=True)
class Pace:
    """Length of turns, and of the time before them."""

    # Before and behind; awake it is twice as long.
    turn_seconds: float = 1.0
    # Startup, including capture, is not part of the loop.
    start_seconds: float = 8.0


# The middle turns of a process's rounds.
ROUNDS = (*["awake"] * 3, "control") * 2


@dataclass(frozen=True, slots=True)
class Difference:
    """By how many percent more: at the median, and from where to where 19 times in 20."""

    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.middle:+.2f} % ({self.low:+.2f} to {self.high:+.2f})"


@dataclass(frozen=True, slots=True)
class Turn:
    """A sequence of the loop's steps."""

    times: list[float]  # durations of its steps
    spent: list[float]  # processor time of the loop's thread in each
    taken: list[
        float
    ]  # processor time of the agent's threads that ended a turn in each


@dataclass(frozen=True, slots=True)
class Round:
    """A turn, and those at rest before and behind it."""

    before: Turn
    between: Turn
    behind: Turn

    @property
    def rest(self) -> tuple[Turn, Turn]:
        return self.before, self.behind


@dataclass(frozen=True, slots=True)
class Rounds:
    """Rounds of one process: with an active run, and control rounds."""

    awake: list[Round]
    control: list[Round]


# Duration and thread CPU time of active and of idle steps: shape (steps, 2), relative
# to the usual CPU time of an idle step.
Steps = tuple[Floats, Floats]
# Bootstrap samples processes first, because rounds of one process are similar.
ByProcess = Sequence[Sequence[Each]]


class Loop:
    """A process that runs the loop, with its run awake or at rest."""

    def __init__(self, process: subprocess.Popen[str], pace: Pace) -> None:
        self._process = process
        self._pace = pace
        self._turn("awake", pace.start_seconds)

    def rounds(self) -> Rounds:
        found: dict[str, list[Round]] = {who: [] for who in ROUNDS}
        for who in ROUNDS:
            found[who].append(self._round(who))
        return Rounds(**found)

    def _round(self, who: str) -> Round:
        seconds = self._pace.turn_seconds
        return Round(
            self._turn("rest", seconds),
            self._turn(who, 2 * seconds),
            self._turn("rest", seconds),
        )

    def end(self) -> None:
        self._process.communicate()

    def _turn(self, who: str, seconds: float) -> Turn:
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        print(who, seconds, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"the loop has ended: {self._process.stderr.read()[-2000:]}"
            )
        return Turn(**json.loads(line))


def of_python(size: Size) -> list[Found]:
    """CF-21: slowdown of a loop in plain Python."""
    return compared("python", sys.executable, size)


def of_torch(size: Size) -> list[Found]:
    """CF-21: slowdown of a PyTorch loop."""
    python = python_with_torch()
    if python is None:
        return [without_torch("torch, all servers")]
    return compared("torch", python, size)


def of_gpu(size: Size) -> list[Found]:
    """CF-21: slowdown of a PyTorch loop on a GPU."""
    done = "gpu, all servers"
    python = python_with_torch()
    if python is None:
        return [without_torch(done)]
    if not finds_gpu(python):
        return [not_shown(done, "PyTorch finds no GPU")]
    # Two that share a GPU would slow each other down.
    return compared("gpu", python, size, lanes=Lanes([()], usable_cores()))


def compared(
    work: str,
    python: str,
    size: Size,
    pace: Pace = Pace(),
    lanes: Lanes | None = None,
) -> list[Found]:
    """Compare loops with the run awake with loops at rest, and these with each other.

    Each server has so many processes, of which as many run at once as have a lane.
    """
    lanes = lanes or Lanes.of(usable_cores())

    def rounds(job: tuple[str, int], lane: Lane) -> Rounds:
        name, number = job
        place = Place(size.folder / f"{work} {number} {name}", "")
        with served(WAYS[name]) as url:
            arguments = work, str(STEP_SECONDS), url
            process = place.start(LOOP, *arguments, before=lane, python=python)
            loop = Loop(process, pace)
            found = loop.rounds()
            loop.end()
        return found

    jobs = [(name, number) for number in range(size.amount) for name in WAYS]
    found: dict[str, list[Rounds]] = {name: [] for name in WAYS}
    for (name, _), ours in zip(jobs, lanes.perform(rounds, jobs), strict=True):
        found[name].append(ours)
    return judged(work, found, pace, lanes.words)


@contextmanager
def served(way: Way | None) -> Iterator[str]:
    """Yield the address of a server behind this network; None: no server."""
    if way is None:
        # Taken all the while, or it might be the next server's.
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        return
    tracker = TrackerDouble()
    try:
        with Proxy(tracker.port) as proxy:
            proxy.way = way
            yield proxy.url
            proxy.break_all()
    finally:
        tracker.stop()


def judged(
    work: str,
    processes: Mapping[str, Sequence[Rounds]],
    pace: Pace,
    at_once: str = "",
) -> list[Found]:
    """Return the slowdown of the loop with an active run, per server (pure).

    `at_once` is the note on concurrent processes, or "".
    """
    control = _control(work, [p.control for ours in processes.values() for p in ours])
    # If control rounds differ, no other result is reliable.
    is_quiet = control.holds is True
    found = [control]
    for name, ours in processes.items():
        rounds = [process.awake for process in ours]
        words = (
            f"{work}, server {name}: {len(ours)} processes{at_once}, {_count(rounds)} times"
            f" {2 * pace.turn_seconds:g} s, 100 metrics a step,"
            f" {'' if work == 'python' else 'loader, three phases, '}"
            "hardware once a second"
        )
        each = _awake(words, rounds, is_waiting=work == "gpu")
        found.append(each if is_quiet else _unshown(each))
    return found


def _count(found: ByProcess[Each]) -> int:
    return sum(map(len, found))


def _control(work: str, rounds: ByProcess[Round]) -> Found:
    middle = difference(rounds, _median_time)
    return Found(
        f"{work}, bare turns between bare turns: {_count(rounds)} times",
        _figures(rounds, middle, _slow(rounds)),
        [_told(middle)],
    )


def _awake(done: str, rounds: ByProcess[Round], *, is_waiting: bool) -> Found:
    """Return the slowdown of a loop; a loop that waits for a GPU leaves its core idle."""
    middle, slow = difference(rounds, _median_time), _slow(rounds)
    awake = [r.between for ours in rounds for r in ours]
    cpu = 100 * sum(sum(t.taken) for t in awake) / sum(sum(t.times) for t in awake)
    shares = sorted(
        100 * taken / t
        for r in awake
        for taken, t in zip(r.taken, r.times, strict=True)
    )
    of_step = percentile(shares, 99)
    return Found(
        done,
        [
            *_figures(rounds, middle, slow),
            f"agent's threads {cpu:.1f} % of a core; of a step {of_step:.1f} % at p99,"
            f" {shares[-1]:.1f} % at most",
        ],
        [
            _bound("median", middle, 1),
            _bound("p99", slow, 3),
            at_most("threads", cpu, 2, "% of a core"),
            *(
                []
                if is_waiting
                else [at_most("threads at p99", of_step, 3, "% of a step")]
            ),
        ],
    )


def _figures(
    rounds: ByProcess[Round], middle: Difference, slow: Difference
) -> list[str]:
    all_rounds = list(chain.from_iterable(rounds))
    between = [each.between for each in all_rounds]
    rest = [turn for each in all_rounds for turn in each.rest]
    steps = _steps(rounds)
    here, at_rest = map(_disturbed, _together(list(chain.from_iterable(steps))))
    all_slow = _drawn(steps, _more_at_p99)
    bare = statistics.median(time for turn in rest for time in turn.times)
    mean = difference(rounds, lambda turn: statistics.fmean(turn.times))
    spent = difference(rounds, lambda turn: statistics.fmean(turn.spent))
    return [
        f"a bare step {1000 * bare:.0f} ms; more at the median {middle}, on average"
        f" {mean}, at p99 {slow} without the {100 * at_rest:.1f} % of steps whose thread"
        " took most processor time, as many as the machine disturbed beside it"
        f" ({100 * here:.1f} % took as much here), and with them {all_slow}",
        f"processor time of the loop's thread {spent}",
        f"it waits {_waiting(between)}, beside it {_waiting(rest)}",
        f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
    ]


def _waiting(turns: Sequence[Turn]) -> str:
    """Return the share of a step that its thread was not computing."""
    waits = sorted(
        max(0.0, 1 - spent / time)
        for turn in turns
        for time, spent in zip(turn.times, turn.spent, strict=True)
    )
    mean, slow = statistics.fmean(waits), percentile(waits, 99)
    return f"{100 * mean:.2f} % of a step (p99 {100 * slow:.2f} %)"


def _slow(rounds: ByProcess[Round]) -> Difference:
    """Return the increase of p99, without the share of steps disturbed when idle."""
    return _drawn(_steps(rounds), _more_at_p99_undisturbed)


def _more_at_p99(steps: Sequence[Steps]) -> float:
    one, other = map(_p99, _together(steps))
    return _percent_more(one, other)


def _more_at_p99_undisturbed(steps: Sequence[Steps]) -> float:
    one, other = _together(steps)
    share = _disturbed(other)
    return _percent_more(_p99(_calmest(one, share)), _p99(_calmest(other, share)))


def _steps(rounds: ByProcess[Round]) -> list[list[Steps]]:
    return [[_steps_of(each) for each in ours] for ours in rounds]


def _steps_of(one: Round) -> Steps:
    between, rest = _all_steps([one.between]), _all_steps(one.rest)
    unit = np.median(rest, axis=0)
    return between / unit, rest / unit


def _all_steps(turns: Sequence[Turn]) -> Floats:
    return np.concatenate([np.stack([t.times, t.spent], axis=1) for t in turns])


def _together(steps: Sequence[Steps]) -> Steps:
    one, other = zip(*steps, strict=True)
    return np.concatenate(one), np.concatenate(other)


def _disturbed(steps: Floats) -> float:
    """Return the share of steps with more CPU time than usual."""
    return float(np.mean(steps[:, 1] > DISTURBED))


def _calmest(steps: Floats, share: float) -> Floats:
    """Drop that share of steps, those with the most CPU time."""
    kept = round((1 - share) * len(steps))
    return steps[np.argsort(steps[:, 1], kind="stable")[:kept]]


def _p99(steps: Floats) -> float:
    return float(np.percentile(steps[:, 0], 99))


def _median_time(turn: Turn) -> float:
    return statistics.median(turn.times)


def difference(
    rounds: ByProcess[Round], of_turn: Callable[[Turn], float]
) -> Difference:
    """Return by how many percent a turn between two at rest is more than these.

    Of these the mean is taken, as of a machine that slows down the one before makes up
    for the one behind.
    """
    each = [
        [
            _percent_more(of_turn(r.between), statistics.fmean(map(of_turn, r.rest)))
            for r in ours
        ]
        for ours in rounds
    ]
    return _drawn(each, statistics.median)


def _percent_more(one: float, other: float) -> float:
    return 100 * (one / other - 1)


def _drawn(
    found: ByProcess[Each], value: Callable[[Sequence[Each]], float]
) -> Difference:
    """Return a statistic of all processes and its bootstrap interval."""
    chance = random.Random(SEED)

    def anew() -> list[Each]:
        processes = chance.choices(found, k=len(found))
        return [each for one in processes for each in chance.choices(one, k=len(one))]

    drawn = sorted(value(anew()) for _ in range(DRAWS))
    low, high = drawn[DRAWS // 40], drawn[-1 - DRAWS // 40]
    return Difference(value(list(chain.from_iterable(found))), low, high)


def _bound(words: str, found: Difference, most: float) -> Bound:
    """Return the bound; None if the interval contains both answers."""
    holds = found.high <= most
    is_shown = holds or found.low > most
    return Bound(f"{words} ≤ {most:g} % more", holds if is_shown else None)


def _unshown(found: Found) -> Found:
    bounds = [
        Bound(b.words, None if "more" in b.words else b.holds) for b in found.bounds
    ]
    return Found(found.done, found.figures, bounds)


def _told(found: Difference) -> Bound:
    """Return the bound that control rounds differ by less than one percent."""
    farthest = max(abs(found.low), abs(found.high))
    return Bound(f"one percent can be told (±{farthest:.2f})", farthest < 1 or None)

"""CF-21: what the agent costs the loop it runs in, beside the same loop without it.

A process imports all that a run ever loads and then becomes several: the same program at
the same addresses, as where its parts lie in memory makes a loop faster or slower by
several percent. A loop that does one thing with a few numbers is the worst for that, so
the plain one makes rows, sorts them, and writes and reads them as JSON. Two run the bare
loop behind a run that has been finished, as what a run leaves in memory also moves the
loop's own objects; each of the others begins a run with a server of its own. They run in
turns of a second, forwards and then backwards; those that wait are stopped, threads and
all. So what the machine does besides falls on all of them, and each round gives one
difference to the two bare loops beside it. The median of all rounds, with
an interval from drawing them anew, says how large a cost can be told on this machine; and
so does the difference of the two bare loops. Beside it stands the processor time of the
loop's own thread, which others cannot lengthen; but what the loop waits for is not in it.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from benchmarks.agent_faults.case import Bound, Found, Size, at_most
from benchmarks.agent_faults.proxy import HUNG, Proxy, Way, free_port
from benchmarks.agent_faults.pytorch import python_with_torch, without_torch
from benchmarks.agent_faults.scripts import Place
from benchmarks.faults.case import SEED
from benchmarks.load.figures import percentile
from tests.agent.tracker_double import TrackerDouble

Each = TypeVar("Each")

WAYS: dict[str, Way | None] = {
    "healthy": Way(),
    "1 s late": Way(delay_seconds=1.0),
    "accepts, never answers": HUNG,
    "nobody listens": None,
}
# The bare loops come first.
BARE = 2
# A step logs a hundred metrics, ten times a second.
STEP_SECONDS = 0.1
LOOP = """
import contextlib, importlib, json, os, signal, sys, time

import agent

work, step_seconds, urls, warm_seconds = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3]), float(sys.argv[4])
data = {f"m/{number}": 0.5 for number in range(100)}
answering = next(filter(None, urls))

def apart(measure):
    # Nothing of it is left: a fork after a backward pass could make none.
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with os.fdopen(writing, "w") as answer: json.dump(measure(), answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer: measured = json.load(answer)
    os.waitpid(child, 0)
    return measured

def begun(url, spool):
    os.environ.update(SEAMARK_URL=url, SEAMARK_SPOOL=os.path.join(os.getcwd(), spool))
    return agent.init("r")

def loaded_by_a_run():
    run = begun(answering, "spool")
    end = time.monotonic() + warm_seconds
    while time.monotonic() < end:
        run.log(data)
        time.sleep(0.05)
    return [*sys.modules]

def seconds_of(steps, count):
    for _ in range(count // 5): next(steps)
    began = time.perf_counter()
    for _ in range(count): next(steps)
    return (time.perf_counter() - began) / count

class Python:
    def __init__(self):
        self.times = 1
        self.times = max(1, round(step_seconds / apart(lambda: seconds_of(self.steps(None), 100))))

    def steps(self, run):
        while True:
            for _ in range(self.times):
                rows = [{"id": number, "name": f"row {number}", "value": number / 7} for number in range(200)]
                rows.sort(key=lambda row: row["name"])
                sum(len(row["name"]) for row in json.loads(json.dumps(rows)))
            yield

class Torch:
    BATCH = 64

    def __init__(self):
        import torch
        # Threads of its own would not be there after a fork.
        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.torch = torch
        layer = torch.nn.Linear
        self.model = torch.nn.Sequential(layer(256, 512), torch.nn.ReLU(), layer(512, 512), torch.nn.ReLU(), layer(512, 10))
        self.batch = self.BATCH
        self.batch = max(1, round(self.BATCH * step_seconds / apart(lambda: seconds_of(self.steps(None), 50))))

    def steps(self, run):
        torch = self.torch
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.001)
        examples = torch.utils.data.TensorDataset(
            torch.randn(20 * self.batch, 256), torch.randint(10, (20 * self.batch,)))
        batches = torch.utils.data.DataLoader(examples, batch_size=self.batch)
        nothing = contextlib.nullcontext()
        phase = lambda name: nothing
        if run is not None:
            batches, phase = run.loader(batches), run.phase
        while True:
            for inputs, labels in batches:
                with phase("forward"):
                    loss = torch.nn.functional.cross_entropy(self.model(inputs), labels)
                with phase("backward"):
                    loss.backward()
                with phase("optimizer"):
                    optimizer.step()
                    optimizer.zero_grad()
                yield

def turn(run, steps, seconds):
    taken = []
    now = time.perf_counter()
    end = now + seconds
    while now < end:
        began = now
        next(steps)
        if run is not None: run.log(data)
        now = time.perf_counter()
        taken.append(now - began)
    return taken

def obey(number, url, orders, answers):
    run = begun(url or answering, f"spool{number}")
    if url is None:
        # What a run leaves in memory, it leaves here, too.
        run.log(data)
        run.finish()
        run = None
    session = run._session if run is not None else None
    steps = loop.steps(run)
    for line in orders:
        before = session.cpu_seconds() if session else 0.0
        spent = time.thread_time()
        taken = turn(run, steps, float(line))
        spent = (time.thread_time() - spent) / len(taken)
        cpu = session.cpu_seconds() - before if session else 0.0
        print(json.dumps({"times": taken, "cpu": cpu, "spent": spent}), file=answers, flush=True)
    if run is not None: run.finish(timeout=0)

for name in apart(loaded_by_a_run):
    # Parts of some packages cannot be had alone; no loop then has them.
    with contextlib.suppress(Exception): importlib.import_module(name)
loop = {"python": Python, "torch": Torch}[work]()
loops = []
for number, url in enumerate(urls):
    from_us, to_loop = os.pipe()
    from_loop, to_us = os.pipe()
    child = os.fork()
    if not child:
        # The end of what is asked is seen once nobody else holds the pipe.
        os.close(to_loop)
        for other in loops: other["orders"].close()
        obey(number, url, os.fdopen(from_us), os.fdopen(to_us, "w"))
        sys.stdout.flush()
        os._exit(0)
    os.close(from_us)
    os.close(to_us)
    loops.append({"id": child, "orders": os.fdopen(to_loop, "w"), "answers": os.fdopen(from_loop)})

def order(loop, seconds):
    os.kill(loop["id"], signal.SIGCONT)
    print(seconds, file=loop["orders"], flush=True)

def answer(loop):
    said = loop["answers"].readline()
    os.kill(loop["id"], signal.SIGSTOP)
    return said

for line in sys.stdin:
    number, seconds = line.split()
    chosen = loops if number == "all" else [loops[int(number)]]
    for each in chosen: order(each, seconds)
    for each in chosen: print(answer(each), end="", flush=True)
for each in loops:
    os.kill(each["id"], signal.SIGCONT)
    each["orders"].close()
for each in loops:
    os.waitpid(each["id"], 0)
"""
DRAWS = 600


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a turn is, and what comes before all of them."""

    turn_seconds: float = 1.0
    # What the start takes, with all that is captured, is no part of the loop.
    start_seconds: float = 15.0
    # After which a run has loaded all that it ever does.
    warm_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Difference:
    """By how many percent more: at the median, and from where to where 19 times in 20."""

    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.middle:+.2f} % ({self.low:+.2f} to {self.high:+.2f})"


@dataclass(frozen=True, slots=True)
class Share:
    """What one loop did in the turns of a round, of each turn."""

    times: list[list[float]] = field(default_factory=list)  # of its steps
    spent: list[list[float]] = field(default_factory=list)  # of a step, on average
    cpu: list[float] = field(default_factory=list)  # of the agent's threads


# Turns of the one loop and of those it is compared with.
Pair = tuple[list[list[float]], list[list[float]]]
Round = Sequence[Share]


class Loops:
    """A process and those it became, which run the loop when it is their turn."""

    def __init__(
        self,
        place: Place,
        python: str,
        work: str,
        urls: Sequence[str | None],
        pace: Pace,
    ) -> None:
        self._count, self._pace = len(urls), pace
        self._process: subprocess.Popen[str] = place.start(
            LOOP,
            work,
            str(STEP_SECONDS),
            json.dumps(urls),
            str(pace.warm_seconds),
            python=python,
        )
        self._ask("all", pace.start_seconds)
        for _ in range(self._count):
            self._answer()

    def round(self) -> Round:
        """Let each have two turns, and as much before the others as behind them."""
        shares = [Share() for _ in range(self._count)]
        forwards = range(self._count)
        for number in (*forwards, *reversed(forwards)):
            self._ask(str(number), self._pace.turn_seconds)
            answer = self._answer()
            shares[number].times.append(answer["times"])
            shares[number].spent.append([answer["spent"]])
            shares[number].cpu.append(answer["cpu"])
        return shares

    def end(self) -> None:
        self._process.communicate()

    def _ask(self, who: str, seconds: float) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{who} {seconds}\n")
        self._process.stdin.flush()

    # Any: JSON.
    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        assert self._process.stderr
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"a loop has ended: {self._process.stderr.read()[-2000:]}"
            )
        answer: dict[str, Any] = json.loads(line)
        return answer


def overhead(size: Size) -> list[Found]:
    """Compare loops with runs with loops without, and two of these with each other."""
    found = []
    for work, python in works().items():
        if python is None:
            found.append(without_torch(f"{work}, all servers"))
        else:
            found += compared(work, python, size)
    return found


def works() -> dict[str, str | None]:
    """Return what a step may do, and which Python can; None where none can."""
    return {"python": sys.executable, "torch": python_with_torch()}


def compared(work: str, python: str, size: Size, pace: Pace = Pace()) -> list[Found]:
    """Run rounds of the bare loops and of one with each server."""
    with ExitStack() as stack:
        urls = [None] * BARE + [
            stack.enter_context(served(way)) for way in WAYS.values()
        ]
        place = Place(size.folder / work, "")
        loops = Loops(place, python, work, urls, pace)
        rounds = [loops.round() for _ in range(size.amount)]
        loops.end()
    return judged(work, rounds, pace)


@contextmanager
def served(way: Way | None) -> Iterator[str]:
    """Yield the address of a server to which the way is as given; None: of nobody."""
    if way is None:
        yield f"http://127.0.0.1:{free_port()}"
        return
    tracker = TrackerDouble()
    try:
        with Proxy(tracker.port) as proxy:
            proxy.way = way
            yield proxy.url
            proxy.break_all()
    finally:
        tracker.stop()


def judged(work: str, rounds: Sequence[Round], pace: Pace) -> list[Found]:
    """Say of each loop by how much it is slower than the bare ones (pure)."""
    words = (
        f"{len(rounds)} times two turns of {pace.turn_seconds:g} s, 100 metrics a step,"
        f" {'loader, three phases, ' if work == 'torch' else ''}hardware once a second"
    )
    first, second = ([each[number] for each in rounds] for number in range(BARE))
    bare = _judged(f"{work}, two bare loops: {words}", first, second)
    middle = difference(_pairs(first, second), statistics.median)
    # Its last figure is of the agent's threads.
    bare = Found(bare.done, bare.figures[:-1], [_told(middle)])
    # Where two bare loops seem to differ, nothing else is shown either.
    is_quiet = bare.holds is True
    both = [_together(each[:BARE]) for each in rounds]
    found = [bare]
    for number, name in enumerate(WAYS, start=BARE):
        ours = [each[number] for each in rounds]
        each = _judged(f"{work}, server {name}: {words}", ours, both)
        found.append(each if is_quiet else _unshown(each))
    return found


def _judged(done: str, ours: Sequence[Share], others: Sequence[Share]) -> Found:
    pairs = _pairs(ours, others)
    middle = difference(pairs, statistics.median)
    mean = difference(pairs, statistics.fmean)
    slow = difference_of_all(pairs, lambda times: percentile(sorted(times), 99))
    spent = [(one.spent, other.spent) for one, other in zip(ours, others, strict=True)]
    of_thread = difference(spent, statistics.fmean)
    seconds = sum(time for one in ours for turn in one.times for time in turn)
    cpu = 100 * sum(sum(one.cpu) for one in ours) / seconds
    bare = statistics.median(t for _, turns in pairs for turn in turns for t in turn)
    return Found(
        done,
        [
            f"a bare step {1000 * bare:.0f} ms; more at the median {middle}, on average"
            f" {mean}, at p99 {slow}",
            f"processor time of the loop's thread {of_thread}",
            f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
            f"agent's threads {cpu:.1f} % of a core",
        ],
        [
            _bound("median", middle, 1),
            _bound("p99", slow, 3),
            at_most("threads", cpu, 2, "% of a core"),
        ],
    )


def _pairs(ours: Sequence[Share], others: Sequence[Share]) -> list[Pair]:
    return [(one.times, other.times) for one, other in zip(ours, others, strict=True)]


def _together(shares: Sequence[Share]) -> Share:
    return Share(
        [turn for share in shares for turn in share.times],
        [turn for share in shares for turn in share.spent],
        [cpu for share in shares for cpu in share.cpu],
    )


def difference(
    rounds: Sequence[Pair],
    of_steps: Callable[[list[float]], float],
) -> Difference:
    """Return by how many percent the first of each pair is more than the second.

    Of turns the mean is taken, as of a machine that slows down those before the others
    make up for those behind them.
    """

    def of_turns(turns: Sequence[list[float]]) -> float:
        return statistics.fmean(of_steps(turn) for turn in turns)

    each = [_percent_more(of_turns(one), of_turns(other)) for one, other in rounds]
    return _drawn(each, statistics.median)


def difference_of_all(
    rounds: Sequence[Pair],
    of_steps: Callable[[list[float]], float],
) -> Difference:
    """Return the same of all steps together, for what few steps do not show."""

    def of_all(drawn: Sequence[Pair]) -> float:
        one, other = (
            [time for pair in drawn for turn in pair[side] for time in turn]
            for side in (0, 1)
        )
        return _percent_more(of_steps(one), of_steps(other))

    return _drawn(rounds, of_all)


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

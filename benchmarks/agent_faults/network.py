"""Cases in which the server, or the way to it, is at fault."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from contextlib import ExitStack

from benchmarks.agent_faults.case import Found, Size, at_most, none_of
from benchmarks.agent_faults.proxy import HEALTHY, HUNG, Proxy, Way, random_cuts
from benchmarks.agent_faults.scripts import (
    Place,
    answer_of,
    end_after,
    lost_and_doubled,
)
from benchmarks.faults.bodies import PROJECT
from benchmarks.faults.case import SEED, SQLITE
from benchmarks.faults.case import Size as StoreSize
from benchmarks.faults.installation import Installation
from benchmarks.faults.repeats import installed, unused
from benchmarks.faults.scripts import read
from seamark.hints import command_line
from seamark.messages import Origin, payload, points
from seamark.queue.spool import create_spool
from seamark.queue.spool_reader import SpoolReader
from seamark.servers import Server
from seamark.upload.delivery import Delivery
from seamark.upload.transport import HttpTransport
from seamark.user_warnings import Notices
from tests.agent.tracker_double import TrackerDouble

METRICS = 100
WAYS = {
    "healthy": HEALTHY,
    "5 s late": Way(delay_seconds=5.0),
    "accepts, never answers": HUNG,
    "cut into slices of 7 bytes": Way(delay_seconds=0.001, piece_bytes=7),
    "10 kB/s": Way(delay_seconds=0.1, piece_bytes=1_000),
    "resets each connection": Way(resets=True),
}
# Ten calls per second, each with a new dictionary, like in training; next to each call,
# the cost of a row in memory. Every other step computes, as in training; after a sleep,
# the CPU wakes up with cold caches.
COST = f"""
import json, struct, sys, time
import agent

run = agent.init("r", monitor=False)
paths = [f"m/{{number}}" for number in range({METRICS})]
row, memory = struct.Struct("<{METRICS}d"), bytearray(8 * {METRICS})

def compute(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        rows = [{{"id": number, "name": f"row {{number}}", "value": number / 7}} for number in range(200)]
        rows.sort(key=lambda row: row["name"])
        json.loads(json.dumps(rows))

steps = {{"computes": compute, "sleeps": time.sleep}}
calls, machine = ({{name: [] for name in steps}} for _ in range(2))
for step in range(int(sys.argv[1])):
    name = list(steps)[step % 2]
    steps[name](0.1)
    data = {{path: step + 0.5 for path in paths}}
    began = time.perf_counter_ns()
    row.pack_into(memory, 0, *data.values())
    between = time.perf_counter_ns()
    run.log(data, step)
    ended = time.perf_counter_ns()
    machine[name].append(between - began)
    calls[name].append(ended - between)
run.finish(timeout=0)

def at_parts(times):
    # The first call says what its row holds.
    times = sorted(times[1:])
    return [times[int((len(times) - 1) * part)] / 1000 for part in (0.5, 0.99, 1)]

print(json.dumps({{name: [at_parts(calls[name]), at_parts(machine[name])] for name in steps}}))
"""
LOG_AND_WAIT = """
import sys, time, agent
run = agent.init("r", monitor=False)
for step in range(1000):
    run["a"].append(step, step=step)
# CPython forgets that Ctrl-C ended it where a thread still imports modules, which takes
# a while on a machine that does much else.
time.sleep(3)
print("ready", flush=True)
time.sleep(float(sys.argv[1]))
print(time.monotonic(), flush=True)
sys.exit(3)
"""


def callers_cost(size: Size) -> list[Found]:
    """CF-05: time the calls while the server is slow, hung or sliced."""
    found: list[Found] = []
    healthy: dict[str, float] = {}
    for name, way in WAYS.items():
        tracker = TrackerDouble()
        with Proxy(tracker.port) as proxy:
            proxy.way = way
            place = Place(size.folder / str(len(found)), proxy.url)
            times = answer_of(place.perform(COST, str(10 * size.amount)))
            proxy.way = HEALTHY
            proxy.break_all()
            place.sync()
            expected = {f"m/{n}": 10 * size.amount for n in (0, METRICS - 1)}
            lost, doubled = lost_and_doubled(tracker, expected)
        tracker.stop()
        for before, (calls, machine) in times.items():
            middle, slow, longest = calls
            at_best = healthy.setdefault(before, middle)
            found.append(
                Found(
                    f"server {name}: {METRICS} metrics ten times a second for"
                    f" {size.amount} s, calls behind a step that {before}",
                    [
                        f"log() {middle:.0f} µs at the median, {slow:.0f} at p99, {longest:.0f} at most",
                        f"a row in memory {machine[0]:.0f}, {machine[1]:.0f}, {machine[2]:.0f}",
                    ],
                    [
                        at_most("median", middle, 20, "µs"),
                        at_most("median", middle, round(1.5 * at_best), "µs"),
                        at_most("p99", slow, 200, "µs"),
                        at_most("longest", longest, 5_000, "µs"),
                        none_of("lost", lost),
                        none_of("doubled", doubled),
                    ],
                )
            )
    return found


def answers_cut(size: Size) -> list[Found]:
    """CF-06: cut off the answer to each batch after it was stored."""
    of_store = StoreSize(folder=size.folder / "tracker", rounds=size.amount)
    with ExitStack() as stack:
        return [cut_answers(installed(stack, of_store, SQLITE), size)]


def cut_answers(installation: Installation, size: Size) -> Found:
    """The same on a tracker that runs already."""
    address, name = installation.addresses[0], unused("cut")
    origin = Origin(
        project=PROJECT,
        run=name,
        stage="main",
        rank=0,
        host="h",
        pid=1,
        agent="0",
        time=time.time_ns() // 1_000,
    )
    spool = create_spool(size.folder / "spool", origin, url=None)
    chance = random.Random(SEED)
    with Proxy(address.port) as proxy:
        transport = HttpTransport(Server(proxy.url, address.token))
        delivery = Delivery(SpoolReader(spool.folder), transport, Notices())
        for number in range(size.amount):
            message = points(["a"], [float(number)], [origin.time], [[float(number)]])
            spool.write(payload([message]))
            # The agent itself tries once more on a new connection.
            proxy.cuts.extend(random_cuts(chance.randrange(1, 4), chance))
            while not delivery.send_some().is_done:
                continue
        transport.close()
        connections = proxy.connections
    spool.close()
    steps = read(installation, name, "a")
    return Found(
        f"{size.amount:,} batches to a real tracker, each answer cut one to three times",
        [f"{connections:,} connections"],
        [
            none_of("gaps", len(set(range(size.amount)) - set(steps))),
            none_of("doubled", len(steps) - len(set(steps))),
        ],
    )


def ends(size: Size) -> list[Found]:
    """CF-16, CF-17: end a script whose server accepts and never answers."""
    tracker = TrackerDouble()
    slowest = dict.fromkeys(("end", "first", "second"), 0.0)
    codes = set()
    lost = doubled = silent = 0
    with Proxy(tracker.port) as proxy:
        for number in range(size.amount):
            proxy.way = HUNG
            for kind in slowest:
                tracker.frames.clear()
                place = Place(size.folder / f"{kind}{number}", proxy.url)
                code, seconds, words = _end(place, kind)
                slowest[kind] = max(slowest[kind], seconds)
                codes.add((kind, code))
                silent += command_line("sync") not in words
                proxy.way = HEALTHY
                proxy.break_all()
                place.sync()
                proxy.way = HUNG
                found = lost_and_doubled(tracker, {"a": 1_000})
                lost, doubled = lost + found[0], doubled + found[1]
    tracker.stop()
    others = codes - {("end", 3), ("first", -2), ("second", -2)}
    bounds = [
        none_of("other exit codes", len(others)),
        none_of("without a word about what is left", silent),
        none_of("lost", lost),
        none_of("doubled", doubled),
    ]
    done = f"server accepts and never answers, {size.amount} times each:"
    return [
        Found(
            f"{done} the script ends with code 3",
            [f"{slowest['end']:.2f} s at most until the process is gone"],
            # Delivery is waited for as long as leaves Python time to end within it.
            [at_most("longest", slowest["end"], 5.0, "s"), *bounds],
        ),
        Found(
            f"{done} Ctrl-C; Ctrl-C twice",
            [
                f"{slowest['first']:.2f} s at most; {slowest['second']:.2f} s after the second"
            ],
            [
                at_most("first", slowest["first"], 5.0, "s"),
                at_most("second", slowest["second"], 0.5, "s"),
                *bounds,
            ],
        ),
    ]


def _end(place: Place, kind: str) -> tuple[int, float, str]:
    """Return the exit code, the duration of the end, and the output."""
    process = place.start(LOG_AND_WAIT, "0.2" if kind == "end" else "60")
    assert process.stdout
    process.stdout.readline()
    timer = end_after(process, 60)
    if kind == "end":
        began = float(process.stdout.readline())
    else:
        began = _interrupt(process)
        if kind == "second":
            time.sleep(1.0)
            began = _interrupt(process)
    _, words = process.communicate()
    timer.cancel()
    return process.returncode, time.monotonic() - began, words


def _interrupt(process: subprocess.Popen[str]) -> float:
    process.send_signal(signal.SIGINT)
    return time.monotonic()

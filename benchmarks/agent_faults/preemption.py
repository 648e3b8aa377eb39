"""CF-14, CF-15: a script handles SIGTERM; a job is restarted."""

from __future__ import annotations

import signal
import time
from contextlib import ExitStack

from benchmarks.agent_faults.case import Found, Size, at_most, none_of
from benchmarks.agent_faults.proxy import HEALTHY, HUNG, Proxy, Way
from benchmarks.agent_faults.scripts import Place, end_after, lost_and_doubled
from benchmarks.faults.bodies import PROJECT
from benchmarks.faults.case import SQLITE
from benchmarks.faults.case import Size as StoreSize
from benchmarks.faults.installation import Installation
from benchmarks.faults.repeats import installed, unused
from benchmarks.faults.scripts import ask, run_ids
from tests.agent.tracker_double import TrackerDouble

# Time until the scheduler kills the job.
GRACE_SECONDS = 30.0
_CODE = 7
HANDLING = """
import os, signal, sys, time
import agent

def leave(number, frame):
    os.write(1, b"handled\\n")
    sys.exit(7)

signal.signal(signal.SIGTERM, leave)
run = agent.init("r", monitor=False)
for step in range(1000):
    run["a"].append(step, step=step)
# CPython forgets a signal where a thread still imports modules.
time.sleep(1)
print("ready", flush=True)
time.sleep(60)
"""
# Logs steps from a checkpoint on, and is killed.
TRAINING = """
import os, sys, time
import agent

first, end, value = map(int, sys.argv[1:])
run = agent.init(monitor=False)
for step in range(first, end):
    run["train/loss"].append(value, step=step)
time.sleep(0.5)
os.kill(os.getpid(), 9)
"""


def preempted(size: Size) -> list[Found]:
    """Send SIGTERM to scripts, with a server and with one that never answers."""
    ways = {"healthy": HEALTHY, "accepts, never answers": HUNG}
    return [_told(size, name, way) for name, way in ways.items()]


def _told(size: Size, name: str, way: Way) -> Found:
    slowest = 0.0
    lost = doubled = others = unhandled = unsaid = killed = 0
    for number in range(size.amount):
        tracker = TrackerDouble()
        with Proxy(tracker.port) as proxy:
            proxy.way = way
            place = Place(size.folder / f"{name}{number}", proxy.url)
            process = place.start(HANDLING, SEAMARK_CAPTURE="signals")
            assert process.stdout
            process.stdout.readline()
            timer = end_after(process, GRACE_SECONDS)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            said, _ = process.communicate()
            slowest = max(slowest, time.monotonic() - began)
            timer.cancel()
            proxy.way = HEALTHY
            proxy.break_all()
            place.sync()
        killed += process.returncode == -signal.SIGKILL
        others += process.returncode != _CODE
        unhandled += said != "handled\n"
        unsaid += [m.get("preempted") for m in tracker.of_kind("close")] != [True]
        found = lost_and_doubled(tracker, {"a": 1_000})
        lost, doubled = lost + found[0], doubled + found[1]
        tracker.stop()
    return Found(
        f"server {name}: SIGTERM to a script that handles it and exits with 7,"
        f" {size.amount} times",
        [f"{slowest:.2f} s at most until the process is gone"],
        [
            # Five seconds are waited for delivery; then Python itself ends.
            at_most("longest", slowest, 5.0, "s"),
            none_of("killed after 30 s", killed),
            none_of("handlers that did not run", unhandled),
            none_of("other exit codes", others),
            none_of("that do not say so", unsaid),
            none_of("lost", lost),
            none_of("doubled", doubled),
        ],
    )


def requeued(size: Size) -> list[Found]:
    """Start jobs again from older checkpoints, against a real tracker."""
    of_store = StoreSize(folder=size.folder / "tracker", rounds=size.amount)
    with ExitStack() as stack:
        return [start_again(installed(stack, of_store, SQLITE), size)]


def start_again(installation: Installation, size: Size) -> Found:
    """The same on a tracker that runs already."""
    address = installation.addresses[0]
    doubled = missing = stale = runs = 0
    for number in range(size.amount):
        name = unused("requeued")
        place = Place(
            size.folder / name,
            f"http://127.0.0.1:{address.port}",
            SEAMARK_TOKEN=address.token,
            SEAMARK_PROJECT=PROJECT,
            SEAMARK_RUN=name,
            SLURM_JOB_ID="17",
        )
        place.perform(TRAINING, "0", str(900 + number), "1")
        place.perform(TRAINING, "800", "1000", "2", SLURM_RESTART_COUNT="1")
        place.sync()
        runs += len(run_ids(installation, name)) != 1
        answer = ask(
            installation,
            f"/runs/{run_ids(installation, name)[0]}/series",
            path="train/loss",
            buckets=10_000,
        )
        (line,) = answer["series"]
        steps = line["x"]
        doubled += len(steps) - len(set(steps))
        missing += len(set(range(1000)) - set(steps))
        stale += line["mean"] != [1.0] * 800 + [2.0] * 200
    return Found(
        "a job is killed at a step above 900 and started again (SLURM_RESTART_COUNT=1)"
        f" from step 800; {size.amount} times",
        [],
        [
            none_of("steps twice", doubled),
            none_of("missing", missing),
            none_of("with values of the first attempt", stale),
            none_of("other than one run", runs),
        ],
    )

"""CF-22: a driver of eight GPUs blocks, fails, and loses a card during a run.

The driver is a Python test double behind NVIDIA's own binding; its time is part of the
figures.
"""

from __future__ import annotations

from benchmarks.agent_faults.case import Found, Size, at_most, none_of
from benchmarks.agent_faults.scripts import Place, answer_of, lost_and_doubled
from tests.agent.tracker_double import TrackerDouble

GPUS = 8
TICK_SECONDS = 1.0
LOSES, LOST_GPU = "loses a card", 3
# Faults, with the facts that must report them.
FAULTS = {
    "blocks": "facts/probes/nvml",
    "raises": "facts/gpu/0/state",
    LOSES: f"facts/gpu/{LOST_GPU}/state",
}
MONITORED = """
import json, sys, threading, time
import pynvml
from tests.agent.probes.nvml_double import LOST, Card, NvmlDouble
import agent
from seamark.probes import scheduled_probe

fault, gpus, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
# As long as the driver is waited for before it counts as hanging.
scheduled_probe.HANGING_SECONDS = 1.0
cards = [Card() for _ in range(gpus)]
library = pynvml.nvmlLib = NvmlDouble(*cards)
run = agent.init("r", stage="train")
session = run._session
sampler = session._sampler
step, slowest = 0, 0.0

def log(seconds):
    global step, slowest
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        run["loss"].append(step, step=step)
        slowest = max(slowest, time.perf_counter() - began)
        step += 1
        time.sleep(0.005)

# Imports and first looks are over by then.
log(4)
before, began = sampler.cpu_seconds, time.monotonic()
log(seconds)
share = (sampler.cpu_seconds - before) / (time.monotonic() - began)
since = time.time()
if fault == "blocks":
    library.blocked = threading.Event()
elif fault == "raises":
    for card in cards: card.fails["all"] = 999
else:
    cards[3].fails["all"] = LOST
log(seconds)
began = time.monotonic()
run.finish(timeout=10)
ended = time.monotonic() - began
if library.blocked: library.blocked.set()
print(json.dumps({"count": step, "slowest": slowest, "share": share, "since": since, "ended": ended}))
"""


def sensors(size: Size) -> list[Found]:
    """Let the driver fail in each way, for so many seconds."""
    return [_with(fault, fact, size) for fault, fact in FAULTS.items()]


def _with(fault: str, fact: str, size: Size) -> Found:
    tracker = TrackerDouble()
    place = Place(size.folder / fault.replace(" ", "-"), tracker.url)
    answer = answer_of(place.perform(MONITORED, fault, str(GPUS), str(size.amount)))
    lost, doubled = lost_and_doubled(tracker, {"loss": answer["count"]})
    since = answer["since"] + TICK_SECONDS

    def came(path: str) -> int:
        times = tracker.times(f"monitoring/train/{path}")
        return sum(moment > 1e6 * since for moment in times)

    lost_gpus = (LOST_GPU,) if fault == LOSES else range(GPUS)
    stale = sum(came(f"gpu/{gpu}/utilization_percent") for gpu in lost_gpus)
    well = [f"gpu/{gpu}/utilization_percent" for gpu in {*range(GPUS)} - {*lost_gpus}]
    silent = sum(not came(path) for path in ("host/cpu_percent", *well))
    said = [
        message["value"]
        for message in tracker.messages()
        if message.get("path") == f"monitoring/train/{fact}"
    ]
    tracker.stop()
    return Found(
        f"a driver of {GPUS} GPUs {fault} for {size.amount} s",
        [
            f"{fact} says “{said[-1] if said else 'nothing'}”",
            f"a call took {1e3 * answer['slowest']:.1f} ms at most; sampling"
            f" {100 * answer['share']:.2f} % of a core before, the driver's own included",
        ],
        [
            none_of("lost", lost),
            none_of("doubled", doubled),
            none_of("readings of what fails", stale),
            none_of("others that went silent", silent),
            none_of("not told", not said or said[-1] == "measured"),
            at_most("sampling", 100 * answer["share"], 1, "% of a core"),
            at_most("the end", answer["ended"], 5, "s"),
        ],
    )

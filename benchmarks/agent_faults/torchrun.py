"""CF-13: ranks of the real torchrun, which ends all of them when one is killed."""

from __future__ import annotations

import os
import signal
import struct
import time
from pathlib import Path

from benchmarks.agent_faults.case import Bound, Found, Size, none_of
from benchmarks.agent_faults.proxy import eventually
from benchmarks.agent_faults.pytorch import python_with_torch, without_torch
from benchmarks.agent_faults.scripts import Place, end_after, lost_and_doubled
from tests.agent.tracker_double import TrackerDouble

RANKS = 3
WORDS = f"the real torchrun's {RANKS} ranks log at 1 kHz, and one is killed"
# PID, number of returned calls, and whether it received SIGTERM.
SAID = struct.Struct("<QQQ")
RANK = """
import mmap, os, signal, struct, sys, time
import agent

with open(os.path.join(sys.argv[1], "said" + os.environ["RANK"]), "r+b") as file:
    memory = mmap.mmap(file.fileno(), 24)
said = struct.Struct("<QQQ")
is_told = 0

def told(number, frame):
    global is_told
    is_told = 1
    said.pack_into(memory, 0, os.getpid(), step, is_told)
    sys.exit(128 + number)

signal.signal(signal.SIGTERM, told)
run = agent.init(monitor=False)
path = f"rank-{os.environ['RANK']}/loss"
step = 0
while True:
    run[path].append(step, step=step)
    step += 1
    said.pack_into(memory, 0, os.getpid(), step, is_told)
    time.sleep(0.001)
"""
LAUNCH = """
import sys
from torch.distributed.run import main

sys.exit(main(["--standalone", "--nproc-per-node", *sys.argv[1:]]))
"""


def elastic(size: Size) -> list[Found]:
    """Kill each rank in turn; torchrun stops the others."""
    python = python_with_torch()
    if python is None:
        return [without_torch(WORDS)]
    lost = lost_of_killed = doubled = untold = hangs = succeeded = runs = 0
    states: set[str] = set()
    for number in range(size.amount):
        killed = number % RANKS
        tracker = TrackerDouble()
        place = Place(
            size.folder / f"torchrun{number}", tracker.url, SEAMARK_RUN="elastic"
        )
        said = [place.folder / f"said{rank}" for rank in range(RANKS)]
        for path in said:
            path.write_bytes(bytes(SAID.size))
        script = place.folder / "rank.py"
        script.write_text(RANK)
        process = place.start(
            LAUNCH, str(RANKS), str(script), str(place.folder), python=python
        )
        timer = end_after(process, 120)
        eventually(lambda said=said: all(_said(path)[1] for path in said), seconds=60)
        time.sleep(0.5)
        os.kill(_said(said[killed])[0], signal.SIGKILL)
        process.communicate()
        timer.cancel()
        hangs += process.returncode == -signal.SIGKILL
        succeeded += process.returncode == 0
        place.sync()
        for rank, path in enumerate(said):
            _, count, is_told = _said(path)
            found = lost_and_doubled(tracker, {f"rank-{rank}/loss": count})
            doubled += found[1]
            if rank == killed:
                lost_of_killed += found[0]
            else:
                lost += found[0]
                untold += not is_told
        runs = max(runs, len({message["run"] for message in tracker.of_kind("open")}))
        states |= {message["state"] for message in tracker.of_kind("close")}
        tracker.stop()
    return [
        Found(
            f"{WORDS}, {size.amount} times; the others get SIGTERM",
            [f"processes end as: {', '.join(sorted(states))}"],
            [
                none_of("hangs", hangs),
                none_of("torchrun that says all went well", succeeded),
                none_of("survivors that were not told to end", untold),
                none_of("of survivors lost", lost),
                none_of("of the killed one lost", lost_of_killed),
                none_of("doubled", doubled),
                Bound(f"{runs} run", runs == 1),
            ],
        )
    ]


def _said(path: Path) -> tuple[int, int, int]:
    process, count, is_told = SAID.unpack(path.read_bytes())
    return process, count, is_told

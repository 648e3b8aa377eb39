"""Cases of several processes of one run, and of those that end as they should not."""

from __future__ import annotations

import random
import signal
import time

from benchmarks.agent_faults.case import Bound, Found, Size, none_of
from benchmarks.agent_faults.proxy import eventually
from benchmarks.agent_faults.scripts import Place, lost_and_doubled
from benchmarks.faults.case import SEED
from tests.agent.tracker_double import TrackerDouble

# Stores the number of returned calls in a file that outlives the process.
RANK = """
import mmap, struct, sys, time, os
import agent
with open(sys.argv[1], "r+b") as file:
    memory = mmap.mmap(file.fileno(), 8)
run = agent.init(monitor=False)
path = f"rank-{os.environ['RANK']}/loss"
for step in range(int(sys.argv[2])):
    run[path].append(step, step=step)
    struct.pack_into("<Q", memory, 0, step + 1)
    time.sleep(0.001)
"""
ENDING = """
import ctypes, os, resource, sys, time
import agent
run = agent.init("r", monitor=False)
for step in range(1000):
    run["a"].append(step, step=step)
ENDING
"""
ENDINGS = {
    "os._exit(3)": ("os._exit(3)", 3, "crashed"),
    "os.abort()": ("os.abort()", -signal.SIGABRT, "crashed"),
    "a segmentation fault": ("ctypes.string_at(0)", -signal.SIGSEGV, "crashed"),
    "SIGKILL, as of the OOM killer": (
        "os.kill(os.getpid(), 9)",
        -signal.SIGKILL,
        "crashed",
    ),
    "SIGTERM": ("os.kill(os.getpid(), 15); time.sleep(9)", -signal.SIGTERM, "crashed"),
    "MemoryError": (
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)); bytes(2**31)",
        1,
        "failed",
    ),
    "an exception": ("raise ValueError", 1, "failed"),
    "sys.exit(3)": ("sys.exit(3)", 3, "failed"),
    "exit(3)": ("exit(3)", 3, "failed"),
    "sys.exit(0)": ("sys.exit(0)", 0, "finished"),
}
COUNT = """
import sys, time, agent
run = agent.init("r", monitor=False)
for step in range(2000):
    run[f"own/{sys.argv[1]}"].append(step, step=step)
    time.sleep(0.0005)
"""


def ranks(size: Size) -> list[Found]:
    """CF-13: eight ranks as torchrun starts them, of which two are killed."""
    chance = random.Random(SEED)
    lost_of_killed = lost = doubled = runs = 0
    for number in range(size.amount):
        tracker = TrackerDouble()
        place = Place(size.folder / f"ranks{number}", tracker.url, SEAMARK_RUN="ranks")
        said = [place.folder / f"said{rank}" for rank in range(8)]
        for path in said:
            path.write_bytes(bytes(8))
        processes = [
            place.start(
                RANK,
                str(said[rank]),
                "1500",
                RANK=str(rank),
                LOCAL_RANK=str(rank),
                WORLD_SIZE="8",
                MASTER_ADDR="127.0.0.1",
                MASTER_PORT="29500",
            )
            for rank in range(8)
        ]
        eventually(lambda said=said: all(any(p.read_bytes()) for p in said))
        time.sleep(chance.uniform(0.05, 1.0))
        for rank in (3, 0):
            processes[rank].kill()
        for process in processes:
            process.communicate()
        place.sync()
        for rank, path in enumerate(said):
            count = int.from_bytes(path.read_bytes(), "little")
            # A killed process may not have counted its last call.
            found = lost_and_doubled(tracker, {f"rank-{rank}/loss": count})
            doubled += found[1]
            if rank in (0, 3):
                lost_of_killed += found[0]
            else:
                lost += found[0] + (1_500 - count)
        runs = max(runs, len({message["run"] for message in tracker.of_kind("open")}))
        tracker.stop()
    return [
        Found(
            f"8 ranks log at 1 kHz, ranks 3 and 0 are killed; {size.amount} times",
            [],
            [
                none_of("missing of those that live", lost),
                none_of(
                    "of which a killed one said that it was logged, lost",
                    lost_of_killed,
                ),
                none_of("doubled", doubled),
                Bound(f"{runs} run", runs == 1),
            ],
        )
    ]


def endings(size: Size) -> list[Found]:
    """CF-18: for each kind of exit, the data and the state are stored."""
    found = []
    for words, (code, expected, state) in ENDINGS.items():
        lost = doubled = codes = states = 0
        for number in range(size.amount):
            tracker = TrackerDouble()
            place = Place(size.folder / f"{state}{len(found)}-{number}", tracker.url)
            done = place.perform(ENDING.replace("ENDING", code))
            place.sync()
            codes += done.returncode != expected
            states += tracker.states() != [state]
            of_this = lost_and_doubled(tracker, {"a": 1_000})
            lost, doubled = lost + of_this[0], doubled + of_this[1]
            tracker.stop()
        found.append(
            Found(
                f"a script ends by {words}, {size.amount} times",
                [f"the run has {state}"],
                [
                    none_of("other exit codes", codes),
                    none_of("other states", states),
                    none_of("lost", lost),
                    none_of("doubled", doubled),
                ],
            )
        )
    return found


def at_once(size: Size) -> list[Found]:
    """CF-27, CF-28: two processes of one run; two deliveries of one spool."""
    lost = doubled = delivered_late = 0
    slowest = 0.0
    for number in range(size.amount):
        tracker = TrackerDouble()
        place = Place(size.folder / f"once{number}", tracker.url)
        both = [place.start(COUNT, str(n)) for n in range(2)]
        for process in both:
            process.communicate()
        # Four processes deliver the spools of two more scripts at once.
        left = [place.start(COUNT, str(n), SEAMARK_MODE="offline") for n in range(2, 4)]
        for process in left:
            process.communicate()
        began = time.monotonic()
        command = (
            "import sys; from seamark.commands import main; sys.exit(main(['sync']))"
        )
        for process in [place.start(command) for _ in range(4)]:
            process.communicate()
        slowest = max(slowest, time.monotonic() - began)
        delivered_late += place.sync().returncode
        expected = {f"own/{n}": 2_000 for n in range(4)}
        found = lost_and_doubled(tracker, expected)
        lost, doubled = lost + found[0], doubled + found[1]
        tracker.stop()
    return [
        Found(
            f"two processes start one run together; four deliver two spools at once;"
            f" {size.amount} times",
            [f"{slowest:.1f} s at most until all four had ended"],
            [
                none_of("lost", lost),
                none_of("doubled", doubled),
                none_of("left behind", delivered_late),
            ],
        )
    ]

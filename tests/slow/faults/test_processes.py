"""Several processes of one run, and processes that end abnormally."""

from __future__ import annotations

import random
import signal
import time

import pytest

from benchmarks.kills.case import SEED
from tests.slow.faults.place import Place, eventually, lost_and_doubled

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

KILLED = (3, 0)
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
SYNC = "import sys; from seamark.commands import main; sys.exit(main(['sync']))"
COUNT = """
import sys, time, agent
run = agent.init("r", monitor=False)
for step in range(2000):
    run[f"own/{sys.argv[1]}"].append(step, step=step)
    time.sleep(0.0005)
"""


def test_killed_ranks_lose_nothing_and_do_not_affect_the_others(tmp_path, tracker):
    chance = random.Random(SEED)
    place = Place(tmp_path / "ranks", tracker.url, SEAMARK_RUN="ranks")
    counts = [place.folder / f"count{rank}" for rank in range(8)]
    for path in counts:
        path.write_bytes(bytes(8))
    shared = {"WORLD_SIZE": "8", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
    processes = [
        place.start(
            *(RANK, str(path), "1500"), RANK=str(rank), LOCAL_RANK=str(rank), **shared
        )
        for rank, path in enumerate(counts)
    ]
    eventually(lambda: all(any(path.read_bytes()) for path in counts))
    time.sleep(chance.uniform(0.05, 1.0))

    for rank in KILLED:
        processes[rank].kill()
    for process in processes:
        process.communicate()
    place.sync()

    returned = [int.from_bytes(path.read_bytes(), "little") for path in counts]
    expected = {f"rank-{rank}/loss": count for rank, count in enumerate(returned)}
    living = {count for rank, count in enumerate(returned) if rank not in KILLED}
    assert living == {1_500}
    assert lost_and_doubled(tracker, expected) == (0, 0)
    assert len({message["run"] for message in tracker.of_kind("open")}) == 1


@pytest.mark.parametrize("words", ENDINGS)
def test_each_ending_is_recognized_and_loses_nothing(tmp_path, tracker, words):
    code, expected, state = ENDINGS[words]
    place = Place(tmp_path / "place", tracker.url)

    done = place.perform(ENDING.replace("ENDING", code))
    place.sync()

    assert done.returncode == expected, done.stderr
    assert tracker.states() == [state]
    assert lost_and_doubled(tracker, {"a": 1_000}) == (0, 0)


def test_concurrent_processes_and_deliveries_store_each_point_once(tmp_path, tracker):
    place = Place(tmp_path / "place", tracker.url)
    for process in [place.start(COUNT, str(number)) for number in range(2)]:
        process.communicate()
    # Four processes deliver the queues of two more scripts at once.
    offline = {"SEAMARK_MODE": "offline"}
    for process in [place.start(COUNT, str(n), **offline) for n in range(2, 4)]:
        process.communicate()

    for process in [place.start(SYNC) for _ in range(4)]:
        process.communicate()

    assert place.sync().returncode == 0
    expected = {f"own/{number}": 2_000 for number in range(4)}
    assert lost_and_doubled(tracker, expected) == (0, 0)

"""CF-11, CF-12: children of all kinds, and how soon they end."""

from __future__ import annotations

import signal
import statistics
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec

from benchmarks.agent_faults.case import (
    Bound,
    Found,
    Size,
    at_most,
    none_of,
    not_shown,
)
from benchmarks.agent_faults.pytorch import python_with_torch, without_torch
from benchmarks.agent_faults.scripts import (
    Place,
    answer_of,
    end_after,
    lost_and_doubled,
)
from tests.agent.tracker_double import TrackerDouble

METHODS = ("fork", "spawn", "forkserver")
KINDS = (
    "Process",
    "Pool",
    "terminated Pool",
    "ProcessPoolExecutor",
    "loader",
    "joblib",
)
WORKERS = 4
WORKING = """
import multiprocessing, os, sys, time
from concurrent.futures import ProcessPoolExecutor
import agent

COUNT, WORKERS = 200, 4
run = None

def work(number):
    joined = run or agent.init("r", monitor=False)
    for step in range(COUNT):
        joined[f"child/{number}"].append(step, step=step)
    return number

def load(queue, done, number):
    # As loader workers do: they have inherited the run, and do not log.
    while True:
        item = queue.get()
        if item is None: return
        done.put(item)

if __name__ == "__main__":
    kind, method = sys.argv[1:]
    context = multiprocessing.get_context(method)
    run = agent.init("r", monitor=False)
    for step in range(COUNT): run["parent"].append(step, step=step)
    numbers = range(WORKERS)
    if kind == "Process":
        processes = [context.Process(target=work, args=(n,)) for n in numbers]
        for process in processes: process.start()
        for process in processes: process.join()
        assert not any(process.exitcode for process in processes)
    elif kind == "Pool":
        pool = context.Pool(WORKERS)
        pool.map(work, numbers, 1)
        pool.close()
        pool.join()
    elif kind == "terminated Pool":
        with context.Pool(WORKERS) as pool:
            pool.map(work, numbers, 1)
    elif kind == "ProcessPoolExecutor":
        with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
            list(pool.map(work, numbers))
    elif kind == "loader":
        queue, done = context.Queue(), context.Queue()
        loaders = [context.Process(target=load, args=(queue, done, n), daemon=True)
                   for n in range(8)]
        for loader in loaders: loader.start()
        for item in range(100): queue.put(item)
        for item in range(100): done.get(timeout=30)
        for loader in loaders[:4]: queue.put(None)
        for loader in loaders[4:]: loader.terminate()
        for number in numbers: work(number)
    else:
        from joblib import Parallel, delayed
        Parallel(n_jobs=WORKERS, backend="loky" if method != "fork" else "multiprocessing")(
            delayed(work)(n) for n in numbers)
    print(time.monotonic(), flush=True)
"""
# Stands for the agent in the same script without it.
NO_AGENT = """
class agent:
    def init(*arguments, **named): return agent()
    def __getitem__(self, path): return self
    def append(self, value, step=None): pass
    def loader(self, batches): return batches
    def finish(self): pass
"""
# How much longer an end may take than without the agent.
END_SECONDS = 0.1
SILENT, LOGGING = "silent", "logging"
FORKED = {
    SILENT: "which log nothing",
    LOGGING: "which log, and deliver what they logged",
}
# At once, children share the cores; one after another, each has a core.
ORDERS = ("at once", "one after another")
# Eight children, with or without logging; each reports the time of its end.
FORKING = """
import json, mmap, os, struct, sys, time
import agent

run = agent.init("r", monitor=False)
for step in range(200): run["parent"].append(step, step=step)
memory = mmap.mmap(-1, 8 * 8)
# What init() has begun in the background would only keep this process from looking.
time.sleep(2)
numbers, seconds, processor, failed = {}, [], [], []
def wait(flags):
    # Not os.wait(): the agent has children, too, such as a git that it asks.
    for child in list(numbers):
        ended, status, used = os.wait4(child, flags)
        if not ended: continue
        number = numbers.pop(child)
        seconds.append(time.monotonic() - struct.unpack_from("<d", memory, 8 * number)[0])
        processor.append(used.ru_utime + used.ru_stime)
        failed.append(status != 0)
for number in range(8):
    child = os.fork()
    if not child:
        if sys.argv[1] == "logging":
            for step in range(200): run[f"child/{number}"].append(step, step=step)
        struct.pack_into("<d", memory, 8 * number, time.monotonic())
        sys.exit(0)
    numbers[child] = number
    if sys.argv[2] == "one after another": wait(0)
while numbers:
    wait(os.WNOHANG)
    time.sleep(0.001)
print(json.dumps({"failed": sum(failed), "seconds": seconds, "processor": processor}))
run.finish()
"""
# Eight workers of PyTorch's own loader, which have inherited the run.
LOADING = """
import json, time
import torch
import agent

class Examples(torch.utils.data.Dataset):
    def __len__(self): return 320
    def __getitem__(self, index): return torch.full((8,), float(index))

run = agent.init("r", monitor=False)
step, seconds = 0, []
for epoch in range(2):
    loader = torch.utils.data.DataLoader(
        Examples(), batch_size=8, num_workers=8, multiprocessing_context="fork")
    batches = iter(run.loader(loader))
    for _ in range(len(loader)):
        next(batches)
        run["parent"].append(step, step=step)
        step += 1
    began = time.monotonic()
    # It waits for its workers to end.
    del batches
    seconds.append(time.monotonic() - began)
print(json.dumps({"seconds": seconds, "steps": step}))
run.finish()
"""


def children(size: Size) -> list[Found]:
    """CF-11, CF-12: log in the parent and in children of all kinds."""
    return [
        *(of_kind(kind, size) for kind in KINDS),
        *forked(size),
        loader_workers(size),
    ]


def of_kind(kind: str, size: Size, methods: Sequence[str] = METHODS) -> Found:
    if kind == "joblib" and find_spec("joblib") is None:
        return not_shown(kind, "joblib is not installed")
    hangs = failed = lost = doubled = 0
    ends: dict[str, list[float]] = {WORKING: [], without_agent(WORKING): []}
    for number in range(size.amount):
        for method in methods:
            tracker = TrackerDouble()
            place = Place(size.folder / f"{kind}-{method}-{number}", tracker.url)
            for script, seconds in ends.items():
                process = place.start(script, kind, method)
                timer = end_after(process, 60)
                said, _ = process.communicate()
                ended = time.monotonic()
                hangs += process.returncode == -signal.SIGKILL
                failed += process.returncode not in (0, -signal.SIGKILL)
                timer.cancel()
                if said.strip():
                    seconds.append(ended - float(said.splitlines()[-1]))
            place.sync()
            expected = {f"child/{n}": 200 for n in range(WORKERS)} | {"parent": 200}
            found = lost_and_doubled(tracker, expected)
            lost, doubled = lost + found[0], doubled + found[1]
            tracker.stop()
    return Found(
        f"{kind}: {', '.join(methods)}; {size.amount} times each",
        [f"from the script's end to the process's {_ends(*ends.values())}"],
        [
            none_of("hangs", hangs),
            none_of("failed", failed),
            none_of("lost", lost),
            none_of("doubled", doubled),
            _end_bound(*ends.values()),
        ],
    )


def without_agent(script: str) -> str:
    """Return the same script without logging."""
    return script.replace("import agent\n", NO_AGENT, 1)


def forked(size: Size) -> list[Found]:
    """CF-11: eight children of os.fork(), with and without logging.

    Python's shutdown frees all imported modules, including inherited ones. So each
    child also pays for the agent's imports.
    """
    bare = [_forked(kind, order, size) for kind in FORKED for order in ORDERS]
    return [*bare, *(_forked_with_torch(kind, size) for kind in FORKED)]


def _forked_with_torch(kind: str, size: Size) -> Found:
    python = python_with_torch()
    if python is None:
        return without_torch(f"8 children of who has imported PyTorch, {FORKED[kind]}")
    order = ORDERS[0]
    return _forked(kind, order, size, imported="import torch\n", python=python)


def _forked(
    kind: str,
    order: str,
    size: Size,
    *,
    imported: str = "",
    python: str = sys.executable,
) -> Found:
    forking = imported + FORKING
    ends: dict[str, list[float]] = {forking: [], without_agent(forking): []}
    processor: dict[str, list[float]] = {script: [] for script in ends}
    hangs = failed = lost = doubled = others = 0
    logging = range(8) if kind == LOGGING else range(0)
    for number in range(size.amount):
        tracker = TrackerDouble()
        name = f"forked-{kind}-{order.replace(' ', '-')}-{bool(imported)}-{number}"
        place = Place(size.folder / name, tracker.url)
        for script, seconds in ends.items():
            done = place.perform(script, kind, order, python=python)
            hangs += done.returncode == -signal.SIGKILL
            answer = answer_of(done)
            failed += answer["failed"] + (done.returncode not in (0, -signal.SIGKILL))
            seconds.extend(answer["seconds"])
            processor[script].extend(answer["processor"])
        place.sync()
        expected = {f"child/{n}": 200 for n in logging} | {"parent": 200}
        found = lost_and_doubled(tracker, expected)
        lost, doubled = lost + found[0], doubled + found[1]
        # One for the parent, and one for each child that logs.
        others += len(tracker.frames) != 1 + len(logging)
        tracker.stop()
    used = [1000 * statistics.median(of_one) for of_one in processor.values()]
    of_what = "8 children of who has imported PyTorch" if imported else "8 children"
    return Found(
        f"{of_what}, of os.fork() {order}, {FORKED[kind]}; {size.amount} times",
        [
            f"from the child's end to its process's {_ends(*ends.values())}",
            f"{used[0]:.0f} ms of processor time each, {used[1]:.0f} without",
        ],
        [
            none_of("hangs", hangs),
            none_of("failed", failed),
            none_of("lost", lost),
            none_of("doubled", doubled),
            none_of("spools that are not of who logs", others),
            _end_bound(*ends.values()),
        ],
    )


def loader_workers(size: Size) -> Found:
    """CF-11: workers of PyTorch's DataLoader, which are forks of the logging process."""
    words = "a DataLoader of PyTorch with 8 fork workers, two epochs"
    python = python_with_torch()
    if python is None:
        return without_torch(words)
    ends: dict[str, list[float]] = {LOADING: [], without_agent(LOADING): []}
    hangs = failed = lost = doubled = others = 0
    for number in range(size.amount):
        tracker = TrackerDouble()
        place = Place(size.folder / f"loader-workers{number}", tracker.url)
        for script, seconds in ends.items():
            done = place.perform(script, python=python)
            hangs += done.returncode == -signal.SIGKILL
            failed += done.returncode not in (0, -signal.SIGKILL)
            answer = answer_of(done)
            seconds.extend(answer["seconds"])
        place.sync()
        found = lost_and_doubled(tracker, {"parent": answer["steps"]})
        lost, doubled = lost + found[0], doubled + found[1]
        others += len(tracker.frames) != 1
        tracker.stop()
    return Found(
        f"{words}; {size.amount} times",
        [f"until all its workers have ended {_ends(*ends.values())}"],
        [
            none_of("hangs", hangs),
            none_of("failed", failed),
            none_of("lost", lost),
            none_of("doubled", doubled),
            none_of("spools of workers", others),
            _end_bound(*ends.values()),
        ],
    )


def _ends(ours: Sequence[float], bare: Sequence[float]) -> str:
    with_agent, without = (
        f"{statistics.median(seconds):.2f} s at the median, {max(seconds):.2f} at most"
        for seconds in (ours, bare)
    )
    return f"{with_agent}; without the agent {without}"


def _end_bound(ours: Sequence[float], bare: Sequence[float]) -> Bound:
    more = statistics.median(ours) - statistics.median(bare)
    return at_most("median more than without", more, END_SECONDS, "s")

"""Child processes of all kinds end, and their points are stored once."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

from tests.slow.faults.place import Place, lost_and_doubled

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

METHODS = {
    "Process": ("fork", "spawn"),
    "Pool": ("fork", "forkserver"),
    "terminated Pool": ("fork",),
    "ProcessPoolExecutor": ("fork", "spawn"),
    "loader": ("fork", "forkserver"),
    "joblib": ("fork", "spawn"),
}
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
"""
# Eight children of os.fork(), which end through sys.exit() and its handlers.
FORKING = """
import os, sys
import agent

run = agent.init("r", monitor=False)
for step in range(200): run["parent"].append(step, step=step)
children = []
for number in range(8):
    child = os.fork()
    if not child:
        if sys.argv[1] == "logging":
            for step in range(200): run[f"child/{number}"].append(step, step=step)
        sys.exit(0)
    children.append(child)
codes = [os.waitpid(child, 0)[1] for child in children]
run.finish()
sys.exit(any(codes))
"""


@pytest.mark.parametrize(
    ("kind", "method"),
    [(kind, method) for kind, methods in METHODS.items() for method in methods],
)
def test_each_kind_of_child_ends_and_loses_nothing(tmp_path, tracker, kind, method):
    if kind == "joblib" and find_spec("joblib") is None:
        pytest.skip("joblib is not installed")
    place = Place(tmp_path / "place", tracker.url)

    done = place.perform(WORKING, kind, method)
    place.sync()

    expected = {f"child/{number}": 200 for number in range(4)} | {"parent": 200}
    assert done.returncode == 0, done.stderr
    assert lost_and_doubled(tracker, expected) == (0, 0)


@pytest.mark.parametrize(("kind", "logging"), [("silent", 0), ("logging", 8)])
def test_children_of_fork_have_queues_only_if_they_log(
    tmp_path, tracker, kind, logging
):
    place = Place(tmp_path / "place", tracker.url)

    done = place.perform(FORKING, kind, python=sys.executable)
    place.sync()

    expected = {f"child/{number}": 200 for number in range(logging)} | {"parent": 200}
    assert done.returncode == 0, done.stderr
    assert lost_and_doubled(tracker, expected) == (0, 0)
    assert len(tracker.frames) == 1 + logging

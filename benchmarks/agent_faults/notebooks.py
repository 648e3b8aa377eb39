"""CF-26: cells of a real kernel begin runs, are interrupted, and the kernel restarts."""

from __future__ import annotations

import json
from importlib.util import find_spec

from benchmarks.agent_faults.case import Bound, Found, Size, none_of, not_shown
from benchmarks.agent_faults.scripts import Place
from tests.agent.kernel import NEEDED, STATE, kernel_in
from tests.agent.tracker_double import TrackerDouble

MAX_THREADS, MAX_FILES = 2, 4
BEGINNING = """
import agent
for number in range({count}):
    run = agent.init(f"r{{number}}", monitor=False)
    run["a"].append(number)
    run.finish()
"""
INTERRUPTED = """
import os, signal, threading, time
run = agent.init("interrupted", monitor=False)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
for step in range(1000):
    run["loop"].append(step)
    time.sleep(0.01)
"""
LEFT = """
import json, time
time.sleep(0.5)
after = state()
print(json.dumps([len(after[0]), after[1] - before[1], after[2:] != before[2:]]))
"""


def notebooks(size: Size) -> list[Found]:
    """Begin so many runs in one kernel, interrupt a cell, restart, and look again."""
    words = f"{size.amount} runs in a kernel, with autoreload; an interrupt; a restart"
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        return [not_shown(words, f"there is no {missing[0]}")]
    tracker = TrackerDouble()
    place = Place(
        size.folder / "notebook", tracker.url, SEAMARK_CAPTURE="console,signals"
    )
    with kernel_in(place.folder, **place.environment) as kernel:
        kernel.run("%load_ext autoreload\n%autoreload 2")
        kernel.run(STATE)
        kernel.run(BEGINNING.format(count=1))
        kernel.run("before = state()")
        kernel.run(BEGINNING.format(count=size.amount))
        threads, files, is_hooked = json.loads(kernel.run(LEFT))
        interrupted = kernel.run(INTERRUPTED, may_fail=True)
        answers = [kernel.run("run.finish(); print(6 * 7)")]
        kernel.restart()
        kernel.run(BEGINNING.format(count=1))
        answers.append(kernel.run("print(6 * 7)"))
    points = len(tracker.values("a"))
    tracker.stop()
    return [
        Found(
            words,
            [f"{threads} threads and {files:+} files of the agent's left"],
            [
                Bound(f"threads ≤ {MAX_THREADS}", threads <= MAX_THREADS),
                Bound(f"files ≤ +{MAX_FILES}", files <= MAX_FILES),
                none_of("hooks left", int(is_hooked)),
                # The agent prints the address of the run first.
                none_of("interrupts lost", "KeyboardInterrupt" not in interrupted),
                none_of(
                    "cells that do not run", sum("42\n" not in each for each in answers)
                ),
                none_of("lost", size.amount + 2 - points),
            ],
        )
    ]

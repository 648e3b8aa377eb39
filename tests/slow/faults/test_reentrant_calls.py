"""Finalizers, signal handlers and logging handlers may log during a logging call."""

from __future__ import annotations

import pytest

from tests.slow.faults.place import Place

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

TURNS = 2_000
# Every call may be interrupted by a finalizer, a signal or the collector, which log, too.
REENTRANT = """
import gc, json, logging, signal, sys, agent
run = agent.init("r", monitor=False)

class Dying:
    def __init__(self): self.me = self
    def __del__(self): run["del"].append(1.0)

class Handler(logging.Handler):
    def emit(self, record):
        run["handler"].append(1.0)
        run["handler"].append(object())

logging.getLogger().addHandler(Handler())
gc.callbacks.append(lambda phase, details: run["collector"].append(1.0))
signal.signal(signal.SIGALRM, lambda *_: run["signal"].append(1.0))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
gc.set_threshold(10)
for number in range(int(sys.argv[1])):
    Dying()
    run["loop"].append(float(number), step=number)
    run[f"bad/{number % 100}"].append("text")
    run[f"bad/{number % 100}"].append(None)
signal.setitimer(signal.ITIMER_REAL, 0)
gc.callbacks.clear()
run.finish()
print(json.dumps({"ended": True}))
"""
PLACES = ("del", "handler", "collector", "signal")


def test_calls_within_calls_neither_hang_nor_lose_points(tmp_path, tracker):
    place = Place(tmp_path / "place", tracker.url, SEAMARK_EXIT_SECONDS="120")

    done = place.perform(REENTRANT, str(TURNS))
    place.sync()

    assert done.returncode == 0, done.stderr
    assert sorted(tracker.steps("loop")) == list(range(TURNS))
    assert all(tracker.values(path) for path in PLACES)

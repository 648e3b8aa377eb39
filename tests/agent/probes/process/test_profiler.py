import json
import os
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from seamark.probes.process import profiler as module
from seamark.probes.process.profiler import FACT, Profiler


class Book:
    is_open = True

    def __init__(self):
        self.facts = {}

    def state(self, facts):
        self.facts |= facts


def recorder(last_step=5.0):
    layouts = SimpleNamespace(last_step=lambda: last_step)
    return SimpleNamespace(layouts=layouts)


def profile_of(work, seconds, last_step=5.0):
    """Return the profile of the calling thread while it works."""
    book = Book()
    profiler = Profiler(book, recorder(last_step))
    profiler.background.ensure()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        work()
    profiler.stop(2.0)
    return json.loads(book.facts[FACT])


def in_python():
    total = 0.0
    for value in range(15_000):
        total += (value * 7 % 13) ** 0.5


def outside_of_python():
    time.sleep(0.001)


def work():
    in_python()
    outside_of_python()


def share_of(profile, function):
    """Return the share of samples in a function."""
    values = profile["trees"]["steps"]
    names = profile["names"]
    inside, below = set(), 0
    for at in range(0, len(values), 3):
        parent, name, count = values[at : at + 3]
        if names[name][0] == function or parent in inside:
            inside.add(at // 3)
            below += count
    return below / profile["samples"]["steps"]


def test_short_computations_in_python_have_their_samples():
    # Half of them, as work and waiting take about as long; without the shorter switch
    # interval there would be none.
    profile = profile_of(work, seconds=4.0)

    assert profile["samples"]["steps"] >= 8
    assert share_of(profile, "in_python") > 0.1
    assert share_of(profile, "work") == pytest.approx(1.0)


def test_what_runs_before_the_second_step_has_its_own_tree():
    profile = profile_of(work, seconds=1.0, last_step=0.0)
    assert set(profile["trees"]) == {"start"}


def test_the_switch_interval_of_the_script_is_kept():
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.004)
    try:
        profile_of(work, seconds=1.0)
        assert sys.getswitchinterval() == pytest.approx(0.004)
    finally:
        sys.setswitchinterval(before)


def test_an_interval_that_the_script_sets_meanwhile_is_kept():
    before = sys.getswitchinterval()
    try:
        with module._short_switch_interval():
            sys.setswitchinterval(0.02)
        assert sys.getswitchinterval() == pytest.approx(0.02)
    finally:
        sys.setswitchinterval(before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_the_usual_interval():
    with module._short_switch_interval():
        assert sys.getswitchinterval() == pytest.approx(module._SWITCH_SECONDS)
        child = os.fork()
        if not child:
            os._exit(0 if sys.getswitchinterval() > 0.001 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_the_random_numbers_of_the_script_stay_the_same():
    import random

    random.seed(7)
    expected = [random.random() for _ in range(3)]
    random.seed(7)
    profile_of(outside_of_python, seconds=0.5)
    assert [random.random() for _ in range(3)] == expected


def test_another_thread_is_not_in_the_profile():
    stop = threading.Event()

    def beside():
        while not stop.is_set():
            outside_of_python()

    other = threading.Thread(target=beside)
    other.start()
    try:
        profile = profile_of(in_python, seconds=1.5)
    finally:
        stop.set()
        other.join()
    assert share_of(profile, "beside") == 0

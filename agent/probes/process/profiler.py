"""Samples what the training thread executes, about ten times a second.

A thread of Python gets the GIL when another one releases it, which happens in calls that wait or
compute outside of Python. Plain sampling would find the training thread in those calls only:
code that keeps the GIL for less than a switch interval, 5 ms by default, would have no sample.
So the switch interval is short for the last milliseconds before each sample.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from seamark.lifecycle.background import Background
from seamark.probes.logbook import Logbook
from seamark.probes.process.call_tree import CallTree, current_frame, profile_text
from seamark.probes.reading import Fact
from seamark.recording.attributes import Recorder

FACT = "facts/code_profile"
INTERVAL_SECONDS = 0.1
_SHORTEST_SECONDS, _LONGEST_SECONDS = 0.02, 5.0
# Limit of its CPU time, as a share of a core.
_ALLOWANCE = 0.001
# About so many samples are averaged.
_COSTS = 100
# Longer than the default switch interval, so that the thread has the GIL before the sample.
_LEAD_SECONDS = 0.006
_SWITCH_SECONDS = 0.0001
_FIRST_WRITE_SECONDS, _LONGEST_WRITE_SECONDS = 5.0, 600.0
# A step shows that training has begun.
_BEGUN_AT_STEP = 1.0
START, STEPS = "start", "steps"


class Profiler:
    """The profiling thread: one tree until the second logged step, one after it."""

    states: ClassVar[tuple[Fact, ...]] = (
        Fact(
            FACT,
            "string",
            "JSON: where the training thread spends its time, by line and function",
        ),
    )

    def __init__(self, logbook: Logbook, recorder: Recorder) -> None:
        self._logbook = logbook
        self._recorder = recorder
        # The thread that starts the run is the one that trains.
        self._thread = threading.get_ident()
        self._folder = _working_folder()
        self._trees = {START: CallTree(), STEPS: CallTree()}
        self._has_begun = False
        self._samples = 0
        self._cost = 0.0  # of a sample, in seconds
        # Its own generator, because the script's must not change.
        self._random = random.Random(0)
        self._sample_at = time.monotonic() + INTERVAL_SECONDS
        self._write_seconds = _FIRST_WRITE_SECONDS
        self._write_at = time.monotonic() + _FIRST_WRITE_SECONDS
        self._is_ending = False
        self.background = Background("seamark-profiler", self.turn)

    def turn(self) -> float:
        """Take a sample; return the seconds until the next one."""
        if not self._logbook.is_open:
            return INTERVAL_SECONDS
        if not self._is_ending:
            self._sample()
        now = time.monotonic()
        if self._samples and (now >= self._write_at or self._is_ending):
            self._write_at = now + self._write_seconds
            self._write_seconds = min(2 * self._write_seconds, _LONGEST_WRITE_SECONDS)
            self._write()
        # Random times cannot coincide with the period of the steps. They do not depend on when
        # the last sample was taken, because that is when the GIL was free.
        self._sample_at += self._seconds_until_next()
        # After a suspension, missed samples are skipped.
        self._sample_at = max(self._sample_at, time.monotonic() + _SHORTEST_SECONDS)
        return max(0.0, self._sample_at - time.monotonic() - _LEAD_SECONDS)

    def stop(self, seconds: float) -> None:
        """Write the profile, and end."""
        self._is_ending = True
        self.background.stop(seconds)

    def _sample(self) -> None:
        with _short_switch_interval():
            left = self._sample_at - time.monotonic()
            if 0 < left <= _LEAD_SECONDS:
                time.sleep(left)
            began = time.thread_time()
            frame = current_frame(self._thread)
        if frame is None:
            return
        if not self._has_begun:
            self._has_begun = self._recorder.layouts.last_step() >= _BEGUN_AT_STEP
        self._trees[STEPS if self._has_begun else START].add(frame)
        del frame  # it keeps the script's variables alive
        # The first sample also looks for the folders of libraries.
        if self._samples:
            cost = time.thread_time() - began
            self._cost += (cost - self._cost) / min(self._samples, _COSTS)
        self._samples += 1

    def _seconds_until_next(self) -> float:
        """Return a random time; its mean keeps the CPU time within its limit."""
        needed = self._cost / _ALLOWANCE
        mean = min(_LONGEST_SECONDS, max(INTERVAL_SECONDS, needed))
        return max(_SHORTEST_SECONDS, self._random.expovariate(1.0 / mean))

    def _write(self) -> None:
        trees = {name: tree for name, tree in self._trees.items() if tree.samples}
        self._logbook.state({FACT: profile_text(trees, self._folder)})


def _working_folder() -> str:
    """Return the folder, or "" if it has been deleted."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""


# The switch interval to restore, while it is shortened.
_usual: list[float] = []


@contextmanager
def _short_switch_interval() -> Iterator[None]:
    """Let this thread get the GIL soon; the script's own setting returns afterwards."""
    usual = sys.getswitchinterval()
    if usual <= _SWITCH_SECONDS:
        yield
        return
    _usual.append(usual)
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        _restore_switch_interval()


def _restore_switch_interval() -> None:
    """Also runs in forked children, which inherit the interval."""
    while _usual:
        usual = _usual.pop()
        # Unless the script has changed it meanwhile.
        if abs(sys.getswitchinterval() - _SWITCH_SECONDS) < _SWITCH_SECONDS / 10:
            sys.setswitchinterval(usual)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restore_switch_interval)

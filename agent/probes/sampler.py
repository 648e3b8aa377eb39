"""Runs every probe once a second; the profiler and probes that may block have threads.

Probes of the machine run half an interval after those of the job: a training step that
coincides with one of them is delayed half as much.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from seamark.lifecycle.background import Background
from seamark.probes.listing import probe_classes
from seamark.probes.logbook import Logbook
from seamark.probes.probe import Job, Probe
from seamark.probes.process.profiler import Profiler
from seamark.probes.rates import Rate, known
from seamark.probes.reading import COUNTED, Fact, Reading, Scope
from seamark.probes.scheduled_probe import OwnThread, ScheduledProbe
from seamark.recording.attributes import Recorder
from seamark.recording.steps import find_framework
from seamark.user_warnings import Notices

INTERVAL_SECONDS = 1.0
# How long the end of a run waits for probes that are running.
_STOP_SECONDS = 0.1


class Sampler:
    """The sampling thread, and the threads of blocking probes."""

    readings: ClassVar[tuple[Reading, ...]] = tuple(
        Reading(f"agent/{name}", unit, Scope.AGENT, "its clocks", COUNTED, meaning)
        for name, unit, meaning in (
            ("cpu_seconds", "s", "CPU time since the start of the process"),
            ("cpu_share", "of a core", "CPU time per second"),
            ("tick_late_seconds", "s", "delay of the sampling"),
            ("probes/<name>_seconds", "s", "duration of the probe's last sample"),
        )
    )
    states: ClassVar[tuple[Fact, ...]] = (
        Fact("facts/framework", "string", "`pytorch`, `tensorflow`, `jax` or `plain`"),
        Fact(
            "facts/readings",
            "string",
            "one line per logged path: path, unit, scope, quality and source, separated by tabs",
        ),
        Fact(
            "facts/readings_of_process",
            "string",
            "the same for metrics that the process itself logs under `seamark run`",
        ),
        Fact(
            "facts/probes/<name>",
            "string",
            "`measured`, `does not answer`, `fails: …` or `not here: …`",
        ),
    )

    def __init__(
        self,
        namespace: str,
        recorder: Recorder,
        notices: Notices,
        *,
        agent_cpu_seconds: Callable[[], float],
        job: Job | None = None,
        interval: float = INTERVAL_SECONDS,
        measured_by: str | None = None,
        profile: bool = False,
        probes: Callable[[], Sequence[type[Probe]]] = probe_classes,
    ) -> None:
        """`measured_by` is the namespace of the process that already measures this
        machine.
        """
        self._is_measured = measured_by is not None
        # Two processes must not log different values to one path.
        self._is_seen = measured_by == namespace
        described = "facts/readings_of_process" if self._is_seen else "facts/readings"
        self._logbook = Logbook(namespace, recorder, interval, describes_at=described)
        self._notices = notices
        self._agent_cpu_seconds = agent_cpu_seconds
        self._job = job or Job()
        self._probes = probes
        # Probes of the job, then those of the machine.
        self._scheduled: list[ScheduledProbe] = []
        self._scheduled_later: list[ScheduledProbe] = []
        self._threads: list[OwnThread] = []
        self._is_made = False
        self._number = -1
        self._next_tick = time.monotonic()
        # Whether the next turn is for the machine's probes.
        self._is_between = False
        self._is_ending = False
        self._cpu = Rate()
        # Frames of another process are out of reach; one rank represents all.
        can_profile = self._job.watched is None and not self._job.local_rank
        self._profiler = (
            Profiler(self._logbook, recorder) if profile and can_profile else None
        )
        self.background = Background("seamark-sampler", self.turn)

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all sampling threads, in seconds."""
        threads = [self.background, *(thread.background for thread in self._threads)]
        if self._profiler is not None:
            threads.append(self._profiler.background)
        return sum(thread.cpu_seconds for thread in threads)

    @property
    def quiet_moment(self) -> float:
        """A time.monotonic() halfway between two turns."""
        turns = 2 if self._scheduled_later else 1
        between = min(self._logbook.interval, INTERVAL_SECONDS) / turns
        return self._next_tick + between / 2

    def turn(self) -> float:
        """Sample half of the probes, or all; return the seconds until the next turn."""
        try:
            return self._sample()
        finally:
            if self._is_ending:
                self._stop_threads()

    def _sample(self) -> float:
        # At the end of a run it is too late to load all probes.
        if not self._logbook.is_open or (self._is_ending and not self._is_made):
            return self._until_next_tick()
        is_first = not self._is_made
        if is_first:
            self._make()
        if self._is_between and not self._is_ending:
            # Before anything can fail: the next turn is for the job in any case.
            self._is_between = False
            self._take(self._scheduled_later)
            self._log_seconds(self._scheduled_later)
            return max(0.0, self._next_tick - time.monotonic())
        now = time.monotonic()
        self._number = self._logbook.number(now, self._number)
        if self._profiler is not None:
            self._profiler.background.ensure()
        for thread in self._threads:
            thread.background.ensure()
            thread.probe.watch(now)
        # Repeated, because frameworks are often imported after init().
        self._logbook.state({"facts/framework": find_framework()})
        self._take(self._scheduled)
        # The first and last samples are complete, so that short runs have all metrics.
        if is_whole := is_first or self._is_ending:
            self._take(self._scheduled_later)
        self._log_costs(now)
        return self._until_next_turn(is_whole=is_whole)

    def _take(self, some: Sequence[ScheduledProbe]) -> None:
        for probe in some:
            probe.take(time.monotonic(), self._number)

    def stop(self, seconds: float) -> None:
        """Take a last sample of the non-blocking probes, and end."""
        self._is_ending = True
        if self._profiler is not None:
            self._profiler.stop(min(seconds, _STOP_SECONDS))
        if self._threads:
            # It stops them, and may have died.
            self.background.ensure()
        self.background.stop(seconds)

    def _stop_threads(self) -> None:
        # In the sampler's thread: a driver may hang when its probe is closed.
        for thread in self._threads:
            thread.stop(0.0)
        deadline = time.monotonic() + _STOP_SECONDS
        for thread in self._threads:
            thread.stop(max(0.0, deadline - time.monotonic()))

    def _make(self) -> None:
        # In this thread, so that init() does not wait.
        self._is_made = True
        is_first = not self._job.local_rank
        for probe in self._probes():
            if not self._is_enabled(probe, is_first=is_first):
                continue
            scheduled = ScheduledProbe(probe, self._job, self._logbook, self._notices)
            if probe.may_hang:
                self._threads.append(OwnThread(scheduled, self._logbook))
            elif probe.is_of_machine:
                self._scheduled_later.append(scheduled)
            else:
                self._scheduled.append(scheduled)

    def _is_enabled(self, probe: type[Probe], *, is_first: bool) -> bool:
        if self._is_measured and not probe.is_of_process:
            return False
        if self._is_seen and probe.is_seen_from_outside:
            return False
        return is_first or not probe.is_of_machine

    def _log_costs(self, now: float) -> None:
        if self._is_seen:
            # The measuring process logs the facts there.
            return
        spent = self._agent_cpu_seconds()
        costs: dict[str, float | None] = {
            "agent/cpu_seconds": spent,
            "agent/cpu_share": self._cpu.of(spent, now),
            "agent/tick_late_seconds": max(0.0, now - self._next_tick),
        }
        readings = known(costs)
        self._logbook.put(readings, self._number)
        own = [*self._scheduled, *self._scheduled_later]
        self._log_seconds([*own, *(thread.probe for thread in self._threads)])
        self._logbook.describe_as(
            (*readings, "agent/probes/<name>_seconds"), self.readings
        )

    def _log_seconds(self, some: Sequence[ScheduledProbe]) -> None:
        # Separately, because they run at different intervals.
        for probe in some:
            seconds, probe.seconds = probe.seconds, None
            if seconds is not None:
                path = f"agent/probes/{probe.name}_seconds"
                self._logbook.put({path: seconds}, self._number)

    def _until_next_turn(self, *, is_whole: bool) -> float:
        until_tick = self._until_next_tick()
        # A complete sample has no second half.
        self._is_between = bool(self._scheduled_later) and not is_whole
        if not self._is_between:
            return until_tick
        return max(0.0, until_tick - self._logbook.interval / 2)

    def _until_next_tick(self) -> float:
        now = time.monotonic()
        self._next_tick += self._logbook.interval
        # After a suspension of the machine, missed samples are skipped.
        if self._next_tick < now:
            self._next_tick = now + self._logbook.interval
        return self._next_tick - now

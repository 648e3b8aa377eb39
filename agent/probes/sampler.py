"""Asks every probe once a second, in one thread, and logs what they read."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from agent.background import Background, importing
from agent.buffer import SetValue
from agent.notices import Notices
from agent.probes.probe import Probe, ProbeUnavailable
from agent.recorder import Recorder
from agent.steps import find_framework
from agent.values import Value

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 1.0
# What one probe may take of a second before it is asked less often.
BUDGET_SECONDS = 0.02
_LONGEST_INTERVAL_SECONDS = 32.0
_FAILED_INTERVAL_SECONDS = 30.0


def make_probes(notices: Notices, *, watched: int | None = None) -> list[Probe]:
    """Return the probes of this machine. A new probe is one line in this list.

    `watched` is the process that is measured with its children; by default this one.
    """
    # Imported here, in the sampler's thread: init() is not kept waiting.
    with importing():
        from agent.probes.cgroup import CgroupProbe  # noqa: PLC0415
        from agent.probes.host import HostProbe  # noqa: PLC0415
        from agent.probes.nvml import NvmlProbe  # noqa: PLC0415
        from agent.probes.process import ProcessProbe  # noqa: PLC0415
        from agent.probes.torch_allocator import TorchAllocatorProbe  # noqa: PLC0415

    makers: list[Callable[[], Probe]] = [
        HostProbe,
        partial(ProcessProbe, watched),
        partial(CgroupProbe, watched),
        NvmlProbe,
        TorchAllocatorProbe,
    ]
    # No longer importing: a driver may take its time, and forks must not wait for it.
    made = [_made(make, notices) for make in makers]
    return [probe for probe in made if probe is not None]


def _made(make: Callable[[], Probe], notices: Notices) -> Probe | None:
    try:
        return make()
    except ProbeUnavailable as reason:
        notices.inform(f"{make}", f"not measured here: {reason}")
    except Exception as error:
        # The rim of a probe, as below.
        logger.debug("the probe %s cannot be made", make, exc_info=True)
        notices.warn(f"{make}", f"not measured: {error!r}")
    return None


class Sampler:
    """The thread that samples."""

    def __init__(
        self,
        namespace: str,
        recorder: Recorder,
        notices: Notices,
        *,
        agent_cpu_seconds: Callable[[], float],
        probes: Callable[[Notices], list[Probe]] = make_probes,
    ) -> None:
        self._namespace = namespace
        self._recorder = recorder
        self._notices = notices
        self._agent_cpu_seconds = agent_cpu_seconds
        self._make_probes = probes
        self._turns: list[_ProbeTurn] | None = None
        self._ticks = 0
        self._next_tick = time.monotonic()
        self._framework: str | None = None
        self.background = Background("seamark-sampler", self.turn)

    def turn(self) -> float:
        """Take one sample of everything, and return when to take the next."""
        # Of a run that is finished nothing is logged any more.
        if not self._recorder.is_awake:
            return self._until_next_tick()
        if self._turns is None:
            self._turns = [
                _ProbeTurn(p, self._notices) for p in self._make_probes(self._notices)
            ]
            for each in self._turns:
                self._state(each.facts())
        self._state_framework()
        readings: dict[str, float] = {}
        for each in self._turns:
            readings.update(each.sample(time.monotonic()))
        readings["agent/cpu_seconds"] = self._agent_cpu_seconds()
        self._put(readings)
        return self._until_next_tick()

    def _put(self, readings: Mapping[str, float]) -> None:
        step = float(self._ticks)
        self._ticks += 1
        named = {f"{self._namespace}/{path}": value for path, value in readings.items()}
        self._recorder.log_measured(named, step)

    def _state(self, facts: Mapping[str, Value]) -> None:
        for path, value in facts.items():
            self._recorder.put(SetValue(f"{self._namespace}/{path}", value))

    def _state_framework(self) -> None:
        # Frameworks are often loaded after init(), so this is asked again.
        framework = find_framework()
        if framework != self._framework:
            self._framework = framework
            self._state({"facts/framework": framework})

    def _until_next_tick(self) -> float:
        now = time.monotonic()
        self._next_tick += INTERVAL_SECONDS
        # After a pause of the machine, missed ticks are not made up for.
        if self._next_tick < now:
            self._next_tick = now + INTERVAL_SECONDS
        return self._next_tick - now


class _ProbeTurn:
    """A probe, how long it takes, and when it may be asked again."""

    def __init__(self, probe: Probe, notices: Notices) -> None:
        self._probe = probe
        self._notices = notices
        self._interval = INTERVAL_SECONDS
        self._not_before = float("-inf")

    def facts(self) -> Mapping[str, Value]:
        with self._failing_quietly():
            return self._probe.facts()
        return {}

    def sample(self, now: float) -> Mapping[str, float]:
        # Half an interval of tolerance: ticks are never exactly on time.
        if now < self._not_before - INTERVAL_SECONDS / 2:
            return {}
        readings: Mapping[str, float] = {}
        self._not_before = now + _FAILED_INTERVAL_SECONDS
        with self._failing_quietly():
            readings = self._probe.sample(now)
            self._keep_within_budget(time.monotonic() - now)
            self._not_before = now + self._interval
        return readings

    def _keep_within_budget(self, seconds: float) -> None:
        if seconds > BUDGET_SECONDS:
            self._interval = min(self._interval * 2, _LONGEST_INTERVAL_SECONDS)
        elif self._interval > INTERVAL_SECONDS:
            self._interval = max(self._interval / 2, INTERVAL_SECONDS)

    @contextlib.contextmanager
    def _failing_quietly(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            # The rim of a probe: drivers fail in ways that nobody has listed,
            # and the other probes go on.
            logger.debug("the probe %s failed", self._probe.name, exc_info=True)
            self._notices.warn(
                f"probe {self._probe.name}",
                f"the probe {self._probe.name} fails ({error!r}); "
                f"it is asked again every {_FAILED_INTERVAL_SECONDS:.0f} s",
            )

"""The interface of probes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from seamark.probes.rates import Growth, Growths
from seamark.probes.reading import Fact, Reading
from seamark.recording.values import Value

Facts = Mapping[str, Value]
Sample = Mapping[str, float]

# Default limit of a probe's CPU time, as a share of a core.
ALLOWANCE = 0.0005


def _nowhere() -> Path | None:
    return None


def _growths_by_owner() -> defaultdict[str, Growths]:
    return defaultdict(lambda: Growths(Growth))


@dataclass(frozen=True)
class Kept:
    """State that outlives a probe, for its replacement.

    `growths` are its counters since the agent began, by device and name; `states` are
    the states of GPUs, by path.
    """

    growths: defaultdict[str, Growths] = field(default_factory=_growths_by_owner)
    states: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """The measured job: a process with its children, by default this one.

    `data` is the folder of its data if known at the start; `find_data` returns it once
    it is known later. `local_rank` is the index of the process on its machine in a
    distributed run. `kept` is the state of an earlier probe of the same kind.
    """

    watched: int | None = None
    data: Path | None = None
    local_rank: int | None = None
    find_data: Callable[[], Path | None] = _nowhere
    kept: Kept | None = None


# This process, without a distributed run.
ANY_JOB = Job()


class ProbeUnavailable(Exception):
    """The probe cannot be used on this machine; the message is the reason.

    Without a message it is not reported: another probe measures the same.
    """


class Probe:
    """Reads one source; paths and units are those of its `readings`."""

    name: ClassVar[str]
    readings: ClassVar[Sequence[Reading]] = ()
    states: ClassVar[Sequence[Fact]] = ()
    # Whether a driver or a network may block it, so that it needs its own thread.
    may_hang: ClassVar[bool] = False
    # Whether it reads the same for all processes of a machine, so only the first one
    # does.
    is_of_machine: ClassVar[bool] = False
    # Whether it reads data available only in this or the watched process.
    is_of_process: ClassVar[bool] = False
    # Whether that data is also visible to a process that watches it.
    is_seen_from_outside: ClassVar[bool] = False
    # The minimum seconds between samples; 0 for the sampler's interval.
    interval_seconds: ClassVar[float] = 0.0

    @classmethod
    def of(cls, job: Job) -> Probe:
        """Create the probe, or raise ProbeUnavailable."""
        del job  # the same for every job
        return cls()

    @property
    def allowance(self) -> float:
        """The limit of its CPU time, as a share of a core."""
        return ALLOWANCE

    @property
    def chosen(self) -> Mapping[str, str]:
        """The source of each path pattern that several sources could supply."""
        return {}

    def facts(self) -> Facts:
        """Return constant facts by path; unknown ones are omitted."""
        return {}

    def news(self) -> Facts:
        """Return facts that have changed since the last call."""
        return {}

    def sample(self, now: float) -> Sample:
        """Return the current metrics by path; `now` is in monotonic seconds."""
        raise NotImplementedError

    def close(self) -> None:
        """Release all resources."""

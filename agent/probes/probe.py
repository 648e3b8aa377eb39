"""What every probe offers to the sampler."""

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

# What a probe may take of a core, if it does not say otherwise.
ALLOWANCE = 0.0005


def _nowhere() -> Path | None:
    return None


def _growths_by_owner() -> defaultdict[str, Growths]:
    return defaultdict(lambda: Growths(Growth))


@dataclass(frozen=True)
class Kept:
    """What outlives a probe, for the one that is made anew in its place.

    `growths` are its counts since the agent began, by what they are of and by name;
    `states` whether GPUs were there and answered, by their places.
    """

    growths: defaultdict[str, Growths] = field(default_factory=_growths_by_owner)
    states: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """What is measured: a process with its children, by default this one.

    `data` is the folder that it reads its data from, where that is known from the
    start, `find_data` says it once it is known later, and `local_rank` is its number
    among the machine's processes of a distributed run. `kept` is what an earlier probe of
    the kind has left to this one.
    """

    watched: int | None = None
    data: Path | None = None
    local_rank: int | None = None
    find_data: Callable[[], Path | None] = _nowhere
    kept: Kept | None = None


# This process, as one that is not of a distributed run.
ANY_JOB = Job()


class ProbeUnavailable(Exception):
    """This machine does not offer what the probe reads; the message says what.

    Without a message, nobody need know: another probe reads it.
    """


class Probe:
    """Reads one source; paths and units are those of its `readings`."""

    name: ClassVar[str]
    readings: ClassVar[Sequence[Reading]] = ()
    states: ClassVar[Sequence[Fact]] = ()
    # A driver or a network may keep it waiting, so it gets a thread of its own.
    may_hang: ClassVar[bool] = False
    # What it reads is the same for all of a machine's processes: the first one reads it.
    is_of_machine: ClassVar[bool] = False
    # It reads what this process, or whatever is watched, alone has to tell.
    is_of_process: ClassVar[bool] = False
    # So it does, and who watches the process sees that, too.
    is_seen_from_outside: ClassVar[bool] = False
    # It is not asked more often; 0 is as often as all are.
    interval_seconds: ClassVar[float] = 0.0

    @classmethod
    def of(cls, job: Job) -> Probe:
        """Make the probe, or raise ProbeUnavailable."""
        del job  # of the machine, whoever uses it
        return cls()

    @property
    def allowance(self) -> float:
        """The share of a core that it may take."""
        return ALLOWANCE

    @property
    def chosen(self) -> Mapping[str, str]:
        """Which source supplies a pattern of paths, where several could."""
        return {}

    def facts(self) -> Facts:
        """What does not change, by path; what is unknown is absent."""
        return {}

    def news(self) -> Facts:
        """Facts that have changed since they were last taken."""
        return {}

    def sample(self, now: float) -> Sample:
        """The present readings by path; `now` is monotonic seconds."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of everything, because the probe is made anew or not needed."""

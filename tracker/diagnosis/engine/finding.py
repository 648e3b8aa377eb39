"""What a rule answers: a finding, an abstention, or None when all is well."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much the fault costs, not how sure the rule is."""

    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"


# How good a measurement is, 0 to 1.
MEASURED = 1.0  # step timers, hardware counters
SAMPLED = 0.8  # NVML and cgroup readings
COARSE = 0.6  # host-wide readings
INFERRED = 0.4  # a guess from something else

# Whether independent signals agree.
AGREEING = 1.0  # two independent signals say the same
ALONE = 0.85  # one signal says it
CONTRADICTED = 0.5  # another signal says the opposite

# Why a rule abstains although its signals are there.
TOO_SHORT = "60 seconds, or 50 steps and 5 seconds, of steady work"
NO_GPU = "a GPU"
ONE_GPU = "more than one GPU"
ONE_PROCESS = "more than one process"
NO_REQUESTS = "requests of a service"
NO_EARLIER_RUN = "an earlier run to compare with"
NO_STAGE_BEFORE = "a stage before this one"

# Lacks that say of a stage that the rule has nothing to do with it.
NOT_APPLICABLE = frozenset(
    {NO_GPU, ONE_GPU, ONE_PROCESS, NO_REQUESTS, NO_EARLIER_RUN, NO_STAGE_BEFORE}
)


class Side(StrEnum):
    """On which side of its limit a value speaks for the finding."""

    ABOVE = "above"
    BELOW = "below"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One measured value and the limit it crossed.

    The engine removes limits that are not crossed. `side` is None in findings of old
    versions. `release` is where the value has to come back to before an open finding
    clears; None: to the limit.
    """

    signal: str  # a name in tracker.diagnosis.signals
    statistic: str  # subject first: "GPU utilization, median"
    value: float
    unit: str
    limit: float | None = None
    side: Side | None = None
    release: float | None = None

    @property
    def is_crossed(self) -> bool:
        if self.limit is None or self.side is None:
            return False
        if self.side is Side.BELOW:
            return self.value <= self.limit
        return self.value >= self.limit

    @property
    def is_held(self) -> bool:
        """Whether it came back over its limit, and not yet so far that it clears."""
        if self.limit is None or self.release is None:
            return False
        if self.side is Side.BELOW:
            return self.limit <= self.value < self.release
        return self.side is Side.ABOVE and self.release <= self.value < self.limit


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One instruction, with the values it changes and the line that changes them."""

    text: str
    current: str = ""
    suggested: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Gain:
    """What a fix is worth as a factor of throughput: 1.5 is half as fast again.

    `recovers` says what a fix is taken to recover a part of ("the difference"), where
    `likely` follows from what fixes usually recover; it is empty where it does not.
    """

    bound: float  # cannot be beaten
    likely: float
    basis: str  # how the two were computed, as a sentence
    next_limit: str = ""  # what binds once this is fixed
    recovers: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's claim about one scope.

    `title` may be left empty: the rule's own is used then. `explains` names the
    rules whose findings are symptoms of this one. `only_beside` names rules of which one must
    have a finding, too: without it this one is worth nothing. `comes_after` names the rules whose
    findings have to be cured first, before the cure of this one changes anything: it
    is shown then as what comes next. `spoils_the_run` is for what no speed makes up for: it
    ended the run, or made its result worthless. `lost_share` is the share of all time
    that is lost, of a finding without a gain. `margin` says how far beyond
    the limit the evidence is (0.5 to 1); the engine multiplies it with quality,
    corroboration and persistence.
    """

    summary: str
    severity: Severity
    evidence: tuple[Evidence, ...]
    recommendations: tuple[Recommendation, ...]
    disproof: str
    title: str = ""
    gain: Gain | None = None
    lost_share: float = 0.0
    explains: tuple[str, ...] = ()
    only_beside: tuple[str, ...] = ()
    comes_after: tuple[str, ...] = ()
    quality: float = MEASURED
    margin: float = 1.0
    corroboration: float = ALONE
    spoils_the_run: bool = False


@dataclass(frozen=True, slots=True)
class Abstention:
    """The rule cannot judge this scope; `lacks` names a signal or says what else."""

    lacks: tuple[str, ...]


Answer = Finding | Abstention | None

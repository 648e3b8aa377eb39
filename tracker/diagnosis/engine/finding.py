"""The answers of a rule: a finding, an abstention, or None if there is no fault."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much the fault costs, independent of the confidence."""

    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"


# Quality of a measurement, 0 to 1.
MEASURED = 1.0  # step timers, hardware counters
SAMPLED = 0.8  # NVML and cgroup samples
COARSE = 0.6  # host-wide samples
INFERRED = 0.4  # inferred from other signals

# Corroboration: whether independent signals agree.
AGREEING = 1.0  # two independent signals agree
ALONE = 0.85  # a single signal
CONTRADICTED = 0.5  # another signal contradicts

# Reasons to abstain although the signals are present.
TOO_SHORT = "60 seconds, or 50 steps and 5 seconds, of steady work"
NO_GPU = "a GPU"
ONE_GPU = "more than one GPU"
ONE_PROCESS = "more than one process"
NO_REQUESTS = "requests of a service"
NO_EARLIER_RUN = "an earlier run to compare with"
NO_STAGE_BEFORE = "a stage before this one"

# With these reasons the rule does not apply to the stage.
NOT_APPLICABLE = frozenset(
    {NO_GPU, ONE_GPU, ONE_PROCESS, NO_REQUESTS, NO_EARLIER_RUN, NO_STAGE_BEFORE}
)


class Side(StrEnum):
    """The side of the limit on which a value supports the finding."""

    ABOVE = "above"
    BELOW = "below"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One measured value and the limit it crossed.

    The engine removes limits that are not crossed. `side` is None in findings of old
    versions. An open finding clears when the value is back at `release`, or at the limit
    if that is None.
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
        """Return whether the value is back across its limit, but not yet at the release."""
        if self.limit is None or self.release is None:
            return False
        if self.side is Side.BELOW:
            return self.limit <= self.value < self.release
        return self.side is Side.ABOVE and self.release <= self.value < self.limit


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One instruction, with the old and new values and the line of code to change."""

    text: str
    current: str = ""
    suggested: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of a fix as a factor of throughput: 1.5 is 50 % faster.

    `recovers` names the time of which a fix usually recovers a part ("the difference") if
    `likely` is derived from usual recoveries; otherwise it is empty.
    """

    bound: float  # maximum speedup
    likely: float
    basis: str  # how both values were computed, as a sentence
    next_limit: str = ""  # the limit after this fix
    recovers: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's claim about one scope.

    An empty `title` stands for the title of the rule. `explains` names rules whose
    findings are symptoms of this one. `only_beside` names rules of which at least one must
    also have a finding; otherwise this one is dropped. `comes_after` names rules whose
    findings have to be fixed before a fix of this one has an effect; this one is then
    shown as the next step. `spoils_the_run` marks faults that ended the run or made its
    result worthless, regardless of speed. `lost_share` is the lost share of all time for a
    finding without a gain. `margin` is the distance of the evidence from the limit (0.5 to
    1); the engine multiplies it with quality, corroboration and persistence.
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
    """The rule cannot judge this scope; `lacks` lists missing signals or reasons."""

    lacks: tuple[str, ...]


Answer = Finding | Abstention | None

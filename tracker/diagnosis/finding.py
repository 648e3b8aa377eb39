"""What a rule says when it sees a fault."""

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


@dataclass(frozen=True, slots=True)
class Evidence:
    """One measured value and the limit it crossed."""

    signal: str  # a name in tracker.diagnosis.signals
    statistic: str  # "share of step time", "median"
    value: float
    unit: str
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Gain:
    """What a fix is worth as a factor of throughput: 1.5 is half as fast again."""

    bound: float  # cannot be beaten
    likely: float
    basis: str  # how the two were computed, as a sentence
    next_limit: str = ""  # what binds once this is fixed


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's claim about one scope.

    `explains` names the rules whose findings are symptoms of this one.
    `margin` says how far beyond the limit the evidence is (0.5 to 1), and
    `corroboration` whether independent signals agree (1, 0.85, or 0.5 when one
    contradicts); the engine multiplies both with quality and persistence.
    """

    title: str
    summary: str
    severity: Severity
    evidence: tuple[Evidence, ...]
    recommendations: tuple[str, ...]
    disproof: str
    gain: Gain | None = None
    explains: tuple[str, ...] = ()
    quality: float = MEASURED
    margin: float = 1.0
    corroboration: float = 0.85

"""All signals by name. A new signal is one line in one of these files."""

from __future__ import annotations

from tracker.diagnosis.signals.derived import DERIVED
from tracker.diagnosis.signals.facts import FACTS
from tracker.diagnosis.signals.gpu import GPU
from tracker.diagnosis.signals.job import JOB
from tracker.diagnosis.signals.machine import MACHINE
from tracker.diagnosis.signals.signal import (
    WORD,
    Array,
    EarlierRun,
    Fact,
    Kind,
    Ranks,
    Samples,
    Signal,
    Times,
    Tracked,
)
from tracker.diagnosis.signals.steps import STEPS
from tracker.diagnosis.signals.trials import TRIALS

__all__ = [
    "SIGNALS",
    "WORD",
    "Array",
    "EarlierRun",
    "Fact",
    "Kind",
    "Ranks",
    "Samples",
    "Signal",
    "Times",
    "Tracked",
]

SIGNALS: dict[str, Signal] = {
    signal.name: signal
    for signal in (*STEPS, *JOB, *MACHINE, *GPU, *FACTS, *TRIALS, *DERIVED)
}

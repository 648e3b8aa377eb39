"""What a likely fix saves in a run: time of a step, GPU time and money (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.breakdown.categories import Ledger, Use
from tracker.diagnosis.engine.finding import Gain
from tracker.diagnosis.engine.speedup import recoverable_share

STEPS = 1_000
HOUR = 3_600.0
# Throughput is that of steps; what lies around them stays as long as it is.
OF_STEPS = (
    Use.COMPUTING,
    Use.IDLE_IN_STEPS,
    Use.DATA_WAIT,
    Use.COMMUNICATION,
    Use.COPY,
    Use.UNATTRIBUTED,
)


@dataclass(frozen=True, slots=True)
class Worth:
    """`seconds` are saved of each 1 000 steps, `gpu_seconds` of the run so far.

    None: not known. Of a stage without a GPU no GPU time is saved.
    """

    seconds: float | None
    gpu_seconds: float | None
    money: float | None
    currency: str


def worth_of(
    gain: Gain | None,
    ledger: Ledger | None,
    steps_per_second: float | None,
    price: float | None,
    currency: str,
) -> Worth | None:
    """Return None where nothing is promised."""
    share = recoverable_share(gain)
    if gain is None or not share > 0:
        return None
    seconds = share * STEPS / steps_per_second if steps_per_second else None
    saved = None
    if ledger is not None and ledger.gpus:
        saved = share * sum(ledger.seconds.get(use, 0.0) for use in OF_STEPS)
    money = None if saved is None or price is None else saved * price / HOUR
    return Worth(seconds, saved, money, currency)

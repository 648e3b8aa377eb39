"""The expected savings of a fix in a run: step time, GPU time and money (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.breakdown.categories import Ledger, Use
from tracker.diagnosis.engine.finding import Gain
from tracker.diagnosis.engine.speedup import recoverable_share

STEPS = 1_000
HOUR = 3_600.0
# A fix speeds up steps only; time in other categories stays the same. Without times of
# steps, the time between kernels counts as idle.
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
    """`seconds` are saved per 1 000 steps, `gpu_seconds` in the run so far.

    None if unknown. A stage without a GPU saves no GPU time.
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
    """Return None without an expected gain, or if none of its savings are known."""
    share = recoverable_share(gain)
    if gain is None or not share > 0:
        return None
    seconds = share * STEPS / steps_per_second if steps_per_second else None
    saved = None
    if ledger is not None and ledger.gpus:
        uses = OF_STEPS if steps_per_second else (*OF_STEPS, Use.IDLE)
        saved = share * sum(ledger.seconds.get(use, 0.0) for use in uses)
    if seconds is None and saved is None:
        return None
    money = None if saved is None or price is None else saved * price / HOUR
    return Worth(seconds, saved, money, currency)

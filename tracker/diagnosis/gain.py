"""What a fix is worth: a bound that cannot be beaten, and what is likely."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.finding import Gain
from tracker.diagnosis.wording import duration, percent

# The part of the recoverable time that fixes recover. A prior from one public pair
# of runs before and after a fix, to be learned from this server's own pairs.
USUAL_RECOVERY = 0.5

# A step without any work of its own would promise a gain without bound.
LARGEST_BOUND = 100.0


@dataclass(frozen=True, slots=True)
class Floor:
    """A time below which a step cannot fall, and what holds it there."""

    seconds: float
    limit: str


def expected_gain(step_seconds: float, floors: tuple[Floor, ...]) -> Gain:
    """Return what lies between a step's time and the highest of its floors."""
    binding = max(floors, key=lambda floor: floor.seconds)
    lowest = max(binding.seconds, step_seconds / LARGEST_BOUND)
    share = max(0.0, 1.0 - lowest / step_seconds)

    return Gain(
        bound=1.0 / (1.0 - share),
        likely=1.0 / (1.0 - USUAL_RECOVERY * share),
        basis=(
            f"A step takes {duration(step_seconds)} and cannot take less than"
            f" {duration(min(lowest, step_seconds))} because of {binding.limit}."
            f" Fixes usually recover {percent(USUAL_RECOVERY)} of the difference."
        ),
        next_limit=binding.limit,
    )


def gain_of_share(
    share: float, what: str, *, recovery: float = USUAL_RECOVERY, next_limit: str = ""
) -> Gain:
    """Return what it is worth to save a share of all time; `what` takes that time."""
    share = min(max(0.0, share), 1.0 - 1.0 / LARGEST_BOUND)
    return Gain(
        bound=1.0 / (1.0 - share),
        likely=1.0 / (1.0 - recovery * share),
        basis=(
            f"{what} takes {percent(share)} of the time. Fixes usually recover"
            f" {percent(recovery)} of that."
        ),
        next_limit=next_limit,
    )


def recoverable_share(gain: Gain | None) -> float:
    """Return the share of time that a likely fix would save."""
    return 1.0 - 1.0 / gain.likely if gain and gain.likely > 0 else 0.0

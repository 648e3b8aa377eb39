"""What a GPU's memory was full of when no more of it could be had."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.engine.wording import size

# What a batch may fill.
SAFE_SHARE = 0.90
# Held by the allocator and unused, as a part of what it holds: pieces that do not fit.
UNUSED_SHARE = 0.20
# From this part on, it is what fills the memory.
LARGEST_PART = 0.50


@dataclass(frozen=True, slots=True)
class Contents:
    """Bytes by name, such as `parameters`; what could not be had, and the allocator's."""

    parts: dict[str, float]
    requested: float | None = None
    allocated: float | None = None
    reserved: float | None = None

    @property
    def total(self) -> float:
        return sum(self.parts.values())

    @property
    def unused(self) -> float:
        """What the allocator held and tensors did not use."""
        if self.reserved is None or self.allocated is None:
            return 0.0
        return max(0.0, self.reserved - self.allocated)

    @property
    def is_fragmented(self) -> bool:
        return (
            self.requested is not None
            and self.unused >= self.requested
            and self.unused >= UNUSED_SHARE * (self.reserved or 0.0)
        )

    def is_mostly(self, name: str) -> bool:
        return self.parts.get(name, 0.0) > LARGEST_PART * self.total

    def batch_that_fits(self, batch_size: float | None) -> float | None:
        """Return the largest batch; None where it is unknown or would not be smaller.

        Activations grow with the batch, and nothing else does.
        """
        activations = self.parts.get("activations", 0.0)
        if not batch_size or not self.reserved or not activations > 0:
            return None
        fixed = self.total - activations
        needed = activations + (self.requested or 0.0)
        room = SAFE_SHARE * self.reserved - fixed
        fits = float(batch_size * room // needed)
        return fits if 1 <= fits < batch_size else None

    @property
    def text(self) -> str:
        if not self.parts:
            return "What it held is unknown."
        ranked = sorted(self.parts.items(), key=lambda part: part[1], reverse=True)
        listed = ", ".join(
            f"{size(value)} of {name.replace('_', ' ')}" for name, value in ranked
        )
        unused = (
            f" Another {size(self.unused)} was free in pieces that were too small."
            if self.is_fragmented
            else ""
        )
        return f"It held {listed}.{unused}"

"""The contents of GPU memory at an out-of-memory error."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.engine.wording import size

# Share of the memory that a batch may fill.
SAFE_SHARE = 0.90
# Unused share of reserved memory at which it is fragmented.
UNUSED_SHARE = 0.20
# A part with this share is the main content.
LARGEST_PART = 0.50


@dataclass(frozen=True, slots=True)
class Contents:
    """Bytes by kind, such as `parameters`; the failed request, and allocator values."""

    parts: dict[str, float]
    requested: float | None = None
    allocated: float | None = None
    reserved: float | None = None

    @property
    def total(self) -> float:
        return sum(self.parts.values())

    @property
    def unused(self) -> float:
        """Return the reserved memory that tensors did not use."""
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
        """Return the largest batch; None if it is unknown or would not be smaller.

        Assumes that only activations grow with the batch.
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
            return "Its contents are unknown."
        ranked = sorted(self.parts.items(), key=lambda part: part[1], reverse=True)
        listed = ", ".join(
            f"{size(value)} of {name.replace('_', ' ')}" for name, value in ranked
        )
        unused = (
            f" Another {size(self.unused)} was free in blocks that were too small."
            if self.is_fragmented
            else ""
        )
        return f"It held {listed}.{unused}"

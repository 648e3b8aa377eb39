"""Measurements of one run of one client (standard library only)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """Times are in seconds, except those of the calls."""

    release: str
    writing: str
    imported: float
    opened: float
    closed: float
    width: int
    # Nanoseconds of each call.
    calls: list[int]
    # CPU time of the whole client, from the first call until it is idle.
    processor: float
    # Growth of resident memory until the last call, in bytes.
    memory: int
    dropped: int = 0
    # Whether its buffer outlives the process, if it reports that.
    has_ring: bool | None = None
    # Points that were not in the ring buffer when their call returned.
    beside_ring: int = 0
    # Whether the client was idle some time after its end.
    is_quiet: bool = True

    @property
    def points(self) -> int:
        return len(self.calls) * self.width

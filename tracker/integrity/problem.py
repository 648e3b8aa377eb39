"""A problem found by a check, with advice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from uuid import UUID


class Severity(IntEnum):
    """Severity; its number is the exit code."""

    NOTE = 0  # informational
    WARNING = 1  # harmless so far
    ERROR = 2  # data is damaged, or at risk in a crash


class Repair(StrEnum):
    """Repairs that neither lose nor invent data."""

    CHUNK_COUNT = "recount the chunks of ticks"
    SUMMARY = "recompute a series' summary from its chunks"
    ROW = "recompute a chunk's row from its points"
    OVERVIEW = "recompute a chunk's drawing buckets from its points"
    TICKS_OVERVIEW = "recompute the drawing buckets of ticks"
    RUN_SUMMARY = "recompute the run summary"
    ENTRY = "set a damaged journal entry aside"


@dataclass(frozen=True, slots=True)
class Problem:
    severity: Severity
    code: str
    where: str
    what: str
    advice: str
    run_id: UUID | None = None
    # The repair, and the id of the affected row.
    repair: Repair | None = None
    row_id: int = 0

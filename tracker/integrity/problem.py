"""What a check may find, and what there is to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from uuid import UUID


class Severity(IntEnum):
    """How bad it is; its number is the exit code it leads to."""

    NOTE = 0  # good to know
    WARNING = 1  # harmless so far
    ERROR = 2  # data is damaged, or would be by a crash


class Repair(StrEnum):
    """What can be made right without losing or inventing anything."""

    CHUNK_COUNT = "count the chunks of ticks anew"
    SUMMARY = "make a series' summary anew from its chunks"
    ROW = "make a chunk's row anew from its points"
    OVERVIEW = "make a chunk's drawing buckets anew from its points"
    TICKS_OVERVIEW = "make the drawing buckets of ticks anew from these"
    GATHERED = "gather anew what columns of the runs table show"
    ENTRY = "set a damaged journal entry aside"


@dataclass(frozen=True, slots=True)
class Problem:
    severity: Severity
    code: str
    where: str
    what: str
    advice: str
    run_id: UUID | None = None
    # How to make it right, and the id of the row that is meant.
    repair: Repair | None = None
    row_id: int = 0

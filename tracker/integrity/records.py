"""Checks chunks of records against their rows and the rows of their series."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tracker.models import Attribute, RecordChunk
from tracker.records import codec


@dataclass(slots=True)
class RecordWhole:
    """The chunks of a series, added up in any order."""

    row: Attribute
    # First position and count of each chunk.
    rooms: list[tuple[int, int]] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def add_row(self, chunk: RecordChunk) -> None:
        self.rooms.append((chunk.first, chunk.count))
        steps = [*self.steps, chunk.first_step, chunk.last_step]
        times = [*self.times, chunk.first_time, chunk.last_time]
        self.steps, self.times = [min(steps), max(steps)], [min(times), max(times)]

    def faults(self) -> Iterator[str]:
        """Yield gaps, overlaps and differences from the series' row."""
        position = 0
        for first, count in sorted(self.rooms):
            if first != position:
                yield f"position {position} is followed by {first}"
            position = first + count
        if position != self.row.count:
            yield f"count is {self.row.count} in its row and {position} in its chunks"
        row_values = [
            *(self.row.first_step, self.row.last_step),
            *(self.row.first_time, self.row.last_time),
        ]
        if self.rooms and row_values != [*self.steps, *self.times]:
            yield "its first and last step and time differ from its chunks"


def record_chunk_faults(chunk: RecordChunk) -> Iterator[str]:
    """Yield differences between a row and its records; raise Damaged if unreadable."""
    records = codec.decode(chunk.data)
    found = {
        "count": len(records),
        "value_bytes": len(records.values),
        "first_step": records.steps.min().item() + 0.0,
        "last_step": records.steps.max().item() + 0.0,
        "first_time": records.times.min().item(),
        "last_time": records.times.max().item(),
    }
    for name, value in found.items():
        stored = getattr(chunk, name)
        if stored != value:
            yield f"{name} is {stored} in its row and {value} in its data"

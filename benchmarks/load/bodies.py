"""The batches that clients send, made once for all of them.

Clients differ in their spools and runs alone, which stand in the address and in the
first frame. So a thousand of them need no more memory than one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks import frames
from benchmarks.load.pacing import Cut
from benchmarks.peers.workload import Block, blocks

PROJECT = "load"
# The first record opens the spool.
FIRST_NUMBER = 2


@dataclass(frozen=True, slots=True)
class Body:
    data: bytes
    points: int


class Bodies:
    """The batches by number, each made at its first use."""

    def __init__(self, cut: Cut, *, metrics: int) -> None:
        self._cut = cut
        self._blocks = blocks(metrics=metrics, steps=cut.steps_in_batch)
        self._next_number = FIRST_NUMBER
        self._made: list[Body] = []

    def __getitem__(self, place: int) -> Body:
        while len(self._made) <= place:
            self._made.append(self._next())
        return self._made[place]

    def first(self, run: str) -> Body:
        """Return the batch that opens a spool."""
        return Body(frames.compress(frames.opening(PROJECT, run)), 0)

    def _next(self) -> Body:
        parts = [*in_parts(next(self._blocks), self._cut.steps_in_frame)]
        if not self._made:
            # The batch that opens a spool has only the first second's data.
            parts = parts[:1]
        made = [
            frames.points(number, part)
            for number, part in enumerate(parts, start=self._next_number)
        ]
        self._next_number += len(made)
        return Body(frames.compress(b"".join(made)), sum(map(len, parts)))


def in_parts(block: Block, steps: int) -> Iterator[Block]:
    """Yield the block in pieces of so many steps, the last perhaps shorter."""
    for low in range(0, len(block.steps), steps):
        part = slice(low, low + steps)
        values = {name: column[part] for name, column in block.values.items()}
        yield Block(block.steps[part], block.times[part], values)


def bytes_a_step(metrics: int, steps_in_frame: int) -> float:
    """Return the bytes per step in a spool."""
    block = next(blocks(metrics=metrics, steps=steps_in_frame))
    return len(frames.points(FIRST_NUMBER, block)) / steps_in_frame

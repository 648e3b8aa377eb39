"""How soon what was logged is moved to the spool, by where it lies until then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import writer as writer_module
from agent.notices import Notices
from agent.recorder import Recorder
from agent.ring import Ring, create_ring
from agent.spool import create_spool
from agent.writer import Writer
from tests.agent.test_spool import ORIGIN


class Place:
    """A spool, and a writer that takes turns when it is told to."""

    def __init__(self, root: Path, ring: bool) -> None:
        self.spool = create_spool(root, ORIGIN, url=None)
        self.ring: Ring | None = create_ring(self.spool.folder) if ring else None
        self.recorder = Recorder(Notices(), wake=lambda: False, strict=True)
        self.recorder.begin(self.ring)
        self.writer = Writer(self.recorder, self.ring, self.spool, Notices())

    def log(self) -> None:
        self.recorder.log({"loss": 0.5}, None, None)

    def is_moved_by_a_turn(self) -> bool:
        before = self.spool.written
        self.writer.turn()
        return self.spool.written > before

    def end(self) -> None:
        if self.ring is not None:
            self.ring.remove()
        self.spool.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in seconds, as the writer sees it."""
    now = [1_000.0]
    monkeypatch.setattr(writer_module.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, ring=True)
    assert made.ring is not None
    yield made
    made.end()


def test_points_in_the_ring_are_moved_every_other_turn(place, clock):
    moved = []
    for _ in range(6):
        place.log()
        moved.append(place.is_moved_by_a_turn())
        clock[0] += 0.25

    assert moved == [True, False, True, False, True, False]


def test_what_lies_beside_the_ring_is_moved_at_once_with_all_points(place, clock):
    place.log()
    assert place.is_moved_by_a_turn()
    place.log()
    place.recorder.append("said", "a text", None, None)

    assert place.is_moved_by_a_turn()
    assert place.writer.is_all_written


def test_a_ring_that_is_half_full_is_moved_at_once(place, clock, monkeypatch):
    place.log()
    assert place.is_moved_by_a_turn()
    monkeypatch.setattr(place.ring, "_call_at", 0)
    place.log()
    place.log()

    assert place.is_moved_by_a_turn()


def test_more_than_one_payload_holds_is_moved_turn_by_turn(place, clock, monkeypatch):
    monkeypatch.setattr(writer_module, "RING_BYTES_AT_ONCE", 1)
    for _ in range(3):
        place.log()

    assert [place.is_moved_by_a_turn() for _ in range(4)] == [True, True, True, False]


def test_without_a_ring_points_are_moved_at_each_turn(tmp_path, clock):
    place = Place(tmp_path, ring=False)
    for _ in range(3):
        place.log()
        assert place.is_moved_by_a_turn()
    place.end()

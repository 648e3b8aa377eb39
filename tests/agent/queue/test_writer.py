"""Delay between logging and the spool, by the buffer in use."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

import agent
from seamark.queue import writer as writer_module
from seamark.queue.frames import HEADER_BYTES
from seamark.queue.grouping import PAYLOAD_BYTES
from seamark.queue.ring import Ring, create_ring
from seamark.queue.spool import create_spool
from seamark.queue.writer import Writer
from seamark.recording.attributes import Recorder
from seamark.user_warnings import Notices
from tests.agent.conftest import wait_until
from tests.agent.queue.test_spool import ORIGIN


class Place:
    """A spool, and a writer that the test steps."""

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


def test_points_in_the_ring_wait_six_seconds_where_nobody_sends_or_syncs(place, clock):
    moved = []
    for _ in range(13):
        place.log()
        moved.append(place.is_moved_by_a_turn())
        clock[0] += 1.0

    assert moved == [True, *[False] * 5, True, *[False] * 5, True]


def test_whoever_sends_moves_what_is_there_in_place_of_the_writer(place, clock):
    moved = []
    for second in range(20):
        place.log()
        if second % 5 == 0:
            place.writer.catch_up()
            assert place.writer.is_all_written
            place.log()
        moved.append(place.is_moved_by_a_turn())
        clock[0] += 1.0

    assert not any(moved)


def test_who_waits_for_the_spool_has_the_ring_moved_by_the_next_turn(place, clock):
    place.writer.turn()
    place.log()
    assert not place.is_moved_by_a_turn()
    place.writer.hurry()

    assert place.is_moved_by_a_turn()


def test_the_writer_sleeps_no_longer_than_until_the_ring_is_due(place, clock):
    place.writer.turn()
    clock[0] += 4.0
    assert place.writer.turn() == pytest.approx(2.0)
    clock[0] += 2.0
    place.log()
    assert place.is_moved_by_a_turn()


def test_the_writer_sleeps_until_something_lies_beside_the_ring(
    place, clock, monkeypatch
):
    calls = []
    monkeypatch.setattr(place.writer.background, "wake", lambda: calls.append(1))
    place.writer.turn()
    assert place.writer.turn() >= 4.5
    place.log()
    assert not calls

    for text in ("one", "two"):
        place.recorder.append("said", text, None, None)
    assert len(calls) == 1
    # While more may come, it looks for it; and then sleeps again.
    assert place.writer.turn() <= 0.25
    place.recorder.append("said", "three", None, None)
    assert place.writer.turn() <= 0.25
    assert place.writer.is_all_written
    assert place.writer.turn() >= 4.5
    assert len(calls) == 1

    place.recorder.set_value("lr", 0.1)
    assert len(calls) == 2


def test_what_is_put_just_before_the_writer_sleeps_keeps_it_awake(place, clock):
    place.writer.turn()

    class Late:
        @property
        def wake(self):
            place.recorder.append("said", "a text", None, None)
            return lambda: None

    place.writer.background = Late()
    assert place.writer.turn() <= 0.25
    assert place.is_moved_by_a_turn()


def test_batches_behind_each_other_move_what_is_there_once(place, clock):
    place.writer.catch_up()
    place.log()
    clock[0] += 0.25
    place.writer.catch_up()

    assert not place.writer.is_all_written
    clock[0] += 0.45
    place.writer.catch_up()
    assert place.writer.is_all_written


def test_a_batch_that_leaves_some_behind_has_the_writer_go_on(
    place, clock, monkeypatch
):
    monkeypatch.setattr(writer_module, "RING_BYTES_AT_ONCE", 1)
    for _ in range(3):
        place.log()
    place.writer.catch_up()

    assert [place.is_moved_by_a_turn() for _ in range(3)] == [True, True, False]


def test_a_batch_that_cannot_be_written_has_the_writer_try_again(
    place, clock, monkeypatch
):
    calls = []
    monkeypatch.setattr(place.writer.background, "wake", lambda: calls.append(1))

    def refuse(payload: bytes) -> None:
        raise OSError(28, "No space left on device")

    place.log()
    with monkeypatch.context() as patch:
        patch.setattr(place.spool, "write", refuse)
        place.writer.catch_up()
    assert len(calls) == 1

    assert place.writer.turn() <= 0.25
    assert place.writer.is_all_written


def test_a_sync_moves_all_that_the_ring_holds():
    run = agent.init("r", monitor=False, capture=(), mode="offline")
    session = run._session
    run["a"].append(0.0)
    wait_until(lambda: session.is_all_written)
    time.sleep(0.8)
    values = {f"m/{number}": 0.5 for number in range(100)}
    # Far more than one turn moves, and less than half of the capacity.
    for _ in range(4_000):
        run.log(values)
    assert not session.is_all_written

    session._sync()

    assert session.is_all_written
    run.finish(timeout=0)


def test_a_run_that_has_ended_keeps_nothing_of_its_session():
    run = agent.init("r", monitor=False, capture=(), mode="offline")
    run["said"].append("a text")
    # The writer sleeps until it is called.
    wait_until(lambda: run._recorder.buffer.call is not None)
    session = weakref.ref(run._session)
    run.finish(timeout=0)
    gc.collect()

    assert session() is None


def test_nothing_is_written_behind_the_end(place):
    place.log()
    assert place.writer.finish(failure=None, seconds=1.0)
    written = place.spool.written
    place.log()
    place.writer.catch_up()
    place.writer.flush()

    assert place.spool.written == written
    assert place.writer.close()


def test_who_sends_and_hangs_in_a_write_holds_up_no_end(place, monkeypatch):
    place.log()
    hangs, goes_on = Event(), Event()
    write = place.spool.write

    def hang(payload: bytes) -> None:
        hangs.set()
        assert goes_on.wait(10)
        write(payload)

    monkeypatch.setattr(place.spool, "write", hang)
    sender = Thread(target=place.writer.catch_up)
    sender.start()
    assert hangs.wait(10)

    # Nor does another batch wait for it.
    place.writer.catch_up()
    assert not place.writer.finish(failure=None, seconds=0.05)
    assert not place.writer.close()

    goes_on.set()
    sender.join()
    assert place.writer.close()


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


def test_a_payload_fits_into_a_request_of_1_mib_without_compression():
    """Proxies such as nginx accept no more by default, and a frame is not divided."""
    assert PAYLOAD_BYTES + HEADER_BYTES < 1_000_000

from contextlib import ExitStack

import pytest

from tracker.errors import Busy
from tracker.ingest.admission import (
    BEHIND_POINTS,
    CROWDED,
    FAR_BEHIND_POINTS,
    FLOOD_SECONDS,
    HALF_LIFE_SECONDS,
    PATIENCE_SECONDS,
    RETRY_SECONDS,
    UNDISTURBED,
    Admission,
)


class World:
    """A backlog and a clock that the test sets."""

    def __init__(self, backlog=0):
        self.backlog = backlog
        self.seconds = 0.0
        self.looks = 0

    def points(self):
        self.looks += 1
        return self.backlog

    def clock(self):
        return self.seconds


def admission_in(world):
    return Admission(world.points, world.clock)


def is_admitted(admission, sender):
    try:
        with admission.admitted(sender):
            return True
    except Busy:
        return False


def test_everybody_is_let_in_while_compaction_keeps_up():
    admission = admission_in(World(BEHIND_POINTS))
    admission.note("heavy", 10**9)

    assert is_admitted(admission, "heavy")


def test_behind_only_those_who_send_the_most_wait():
    admission = admission_in(World(BEHIND_POINTS + 1))
    admission.note("heavy", 1_000_000)
    admission.note("light", 1_000)

    assert not is_admitted(admission, "heavy")
    assert is_admitted(admission, "light")
    assert is_admitted(admission, "new")


def test_a_sender_alone_waits_too():
    admission = admission_in(World(BEHIND_POINTS + 1))
    admission.note("only", 1_000)

    assert not is_admitted(admission, "only")


def test_far_behind_everybody_waits_and_is_told_for_how_long():
    admission = admission_in(World(FAR_BEHIND_POINTS + 1))

    with pytest.raises(Busy) as refusal, admission.admitted("new"):
        pass

    least, most = RETRY_SECONDS
    assert least <= refusal.value.retry_after_seconds <= most


def test_who_has_waited_is_let_in_again():
    world = World(BEHIND_POINTS + 1)
    admission = admission_in(world)
    admission.note("heavy", 1_000)
    admission.note("other", 900)
    assert not is_admitted(admission, "heavy")

    world.seconds += HALF_LIFE_SECONDS
    admission.note("other", 900)

    assert is_admitted(admission, "heavy")
    assert not is_admitted(admission, "other")


def test_the_backlog_is_looked_at_once_a_second():
    world = World()
    admission = admission_in(world)
    for _ in range(10):
        assert is_admitted(admission, "a")
    assert world.looks == 1

    world.seconds += 2
    world.backlog = FAR_BEHIND_POINTS + 1
    assert not is_admitted(admission, "a")
    assert world.looks == 2


@pytest.fixture
def crowd():
    """Return a function that has so many batches of a sender under way for the test."""
    with ExitStack() as stack:

        def have_at_work(admission, sender, count):
            for _ in range(count):
                stack.enter_context(admission.admitted(sender))

        yield have_at_work


def test_many_batches_at_one_moment_are_all_let_in(crowd):
    world = World()
    admission = admission_in(world)
    admission.note("job", 1_000)

    crowd(admission, "job", 4 * CROWDED)
    world.seconds += PATIENCE_SECONDS / 2

    assert is_admitted(admission, "job")


def test_batches_without_a_pause_leave_threads_to_others(crowd):
    world = World()
    admission = admission_in(world)
    admission.note("flood", 1_000_000)
    admission.note("light", 1_000)
    crowd(admission, "flood", CROWDED)
    world.seconds += 2 * PATIENCE_SECONDS

    assert not is_admitted(admission, "flood")
    assert is_admitted(admission, "light")


def test_a_flood_that_is_over_is_forgotten():
    world = World()
    admission = admission_in(world)
    admission.note("flood", 1_000_000)
    with ExitStack() as stack:
        for _ in range(CROWDED):
            stack.enter_context(admission.admitted("flood"))
        world.seconds += 2 * PATIENCE_SECONDS
        assert not is_admitted(admission, "flood")

    with ExitStack() as stack:
        for _ in range(UNDISTURBED):
            stack.enter_context(admission.admitted("flood"))
        assert not is_admitted(admission, "flood")

        world.seconds += 2 * FLOOD_SECONDS
        assert is_admitted(admission, "flood")

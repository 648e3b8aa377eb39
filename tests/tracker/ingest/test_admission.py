import pytest

from tracker.errors import Busy
from tracker.ingest.admission import (
    BEHIND_POINTS,
    FAR_BEHIND_POINTS,
    HALF_LIFE_SECONDS,
    RETRY_SECONDS,
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
        admission.admit(sender)
    except Busy:
        return False
    return True


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

    with pytest.raises(Busy) as refusal:
        admission.admit("new")

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
        admission.admit("a")
    assert world.looks == 1

    world.seconds += 2
    world.backlog = FAR_BEHIND_POINTS + 1
    assert not is_admitted(admission, "a")
    assert world.looks == 2

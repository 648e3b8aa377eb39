from contextlib import ExitStack

import pytest

from tracker.errors import Busy
from tracker.ingest.admission import (
    BEHIND_POINTS,
    FAR_BEHIND_POINTS,
    HALF_LIFE_SECONDS,
    RETRY_SECONDS,
    UNDISTURBED,
    Admission,
)
from tracker.ingest.concurrency import WINDOW_SECONDS
from tracker.server.processes import THREADS


class World:
    """A backlog and a clock that the test controls."""

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


def test_all_clients_are_admitted_while_compaction_keeps_up():
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


def test_far_behind_all_clients_get_a_retry_time():
    admission = admission_in(World(FAR_BEHIND_POINTS + 1))

    with pytest.raises(Busy) as refusal, admission.admitted("new"):
        pass

    least, most = RETRY_SECONDS
    assert least <= refusal.value.retry_after_seconds <= most


def test_a_client_that_has_waited_is_admitted_again():
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
    """Return a function that keeps a number of batches of a sender active."""
    with ExitStack() as stack:

        def have_at_work(admission, sender, count):
            for _ in range(count):
                stack.enter_context(admission.admitted(sender))

        yield have_at_work


def test_many_batches_at_one_moment_are_all_let_in(crowd):
    world = World()
    admission = admission_in(world)
    admission.note("job", 1_000)

    crowd(admission, "job", THREADS)
    world.seconds += WINDOW_SECONDS

    assert is_admitted(admission, "job")


def test_batches_without_a_pause_leave_threads_to_others(crowd):
    world = World()
    admission = admission_in(world)
    admission.note("flood", 1_000_000)
    admission.note("light", 1_000)
    crowd(admission, "flood", THREADS)
    world.seconds += 3 * WINDOW_SECONDS

    assert not is_admitted(admission, "flood")
    assert is_admitted(admission, "light")


def offer(admission, world, *, threads, seconds, batch_seconds=0.1):
    """Offer batches that would keep `threads` threads busy; return those admitted."""
    under_way, let_in, offered = [], 0, 0
    for _ in range(round(seconds * threads / batch_seconds)):
        world.seconds += batch_seconds / threads
        while under_way and under_way[0][0] <= world.seconds:
            under_way.pop(0)[1].__exit__(None, None, None)
        entering = admission.admitted("flood")
        offered += 1
        try:
            entering.__enter__()
        except Busy:
            continue
        let_in += 1
        under_way.append((world.seconds + batch_seconds, entering))
    for _, entering in under_way:
        entering.__exit__(None, None, None)
    return let_in / offered


def test_as_many_are_let_in_as_half_of_the_threads_can_do_while_the_flood_lasts():
    world = World()
    admission = admission_in(world)
    admission.note("flood", 10**12)
    offer(admission, world, threads=16, seconds=3 * WINDOW_SECONDS)

    share = offer(admission, world, threads=16, seconds=15 * WINDOW_SECONDS)

    assert share == pytest.approx(UNDISTURBED / 16, rel=0.15)


def test_the_capacity_of_the_threads_is_admitted_after_a_stall():
    world = World()
    admission = admission_in(world)
    admission.note("flood", 10**12)
    with ExitStack() as stalled:
        for _ in range(THREADS):
            stalled.enter_context(admission.admitted("flood"))
        world.seconds += 2 * WINDOW_SECONDS
        assert not is_admitted(admission, "flood")

    offer(admission, world, threads=5, seconds=5 * WINDOW_SECONDS)
    assert offer(admission, world, threads=5, seconds=10) == 1.0

"""Requests of reliably fast clients are read without another thread, with the same limits."""

from __future__ import annotations

import io
import threading
import time
from contextlib import contextmanager

import pytest
from django.http import UnreadablePostError
from django.test import RequestFactory

from tracker.errors import TooSlow
from tracker.server import body_reader, body_timeouts, fast_clients
from tracker.server.body_reader import UNFINISHED, Arrivals
from tracker.server.body_timeouts import Places
from tracker.server.fast_clients import QUICK_IN_A_ROW, FastClients

CONTENT = bytes(range(256)) * 1_000


class Stalled(io.BytesIO):
    """A body that stops arriving until the test continues it."""

    def __init__(self, content=CONTENT, *, after=0):
        super().__init__(content)
        self._after = after
        self.reader = None
        self.is_waited_for = threading.Event()
        self.goes_on = threading.Event()

    def read(self, size=-1, /):
        self.reader = threading.get_ident()
        if self.tell() >= self._after:
            self.is_waited_for.set()
            assert self.goes_on.wait(30)
        return super().read(size)


def request_with(stream):
    request = RequestFactory().post("/", b"x", content_type="text/plain")
    request._stream = stream
    return request


def read(waiting, stream, *, regular="spool", **options):
    size = len(stream.getvalue())
    body = waiting.read(request_with(stream), size, "token", regular=regular, **options)
    return bytes(body)


def read_apart(waiting, stream, **options):
    """Read in a thread; return a list for the error or the body."""
    came = []

    def work():
        try:
            came.append(read(waiting, stream, **options))
        except TooSlow as error:
            came.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, came


def moved(places):
    """Wait until one of the slots is taken."""
    while not places._taken:
        time.sleep(0.001)


def is_read_here(waiting, regular):
    stream = Stalled(after=len(CONTENT) + 1)
    assert read(waiting, stream, regular=regular) == CONTENT
    return stream.reader == threading.get_ident()


@pytest.fixture
def waiting():
    """Arrivals with a client `spool` whose bodies were always fast."""
    waiting = Arrivals(Places(4, 3), Places(4, 2), wait_seconds=0.01)
    for _ in range(QUICK_IN_A_ROW):
        waiting._regulars.note("spool", was_quick=True)
    return waiting


@pytest.fixture
def little_patience(monkeypatch):
    monkeypatch.setattr(body_timeouts, "QUICK_SECONDS", 0.01)


def test_whose_bodies_came_at_once_is_read_without_another_thread():
    waiting = Arrivals(Places(4, 3), Places(4, 2), wait_seconds=0.01)

    here = [is_read_here(waiting, "spool") for _ in range(QUICK_IN_A_ROW + 1)]

    assert here == [False] * QUICK_IN_A_ROW + [True]
    assert not is_read_here(waiting, "another")
    assert not is_read_here(waiting, None)
    assert not waiting._quick._taken


def test_what_ends_too_early_is_returned_as_it_is(waiting):
    request = request_with(io.BytesIO(b"short"))

    assert waiting.read(request, 100, "token", regular="spool") == b"short"


@pytest.mark.usefixtures("little_patience")
def test_one_that_stalls_takes_a_place_of_slow_ones_and_stands_aside(waiting):
    aside = []

    @contextmanager
    def standing_aside():
        aside.append("left")
        yield
        aside.append("back")

    stream = Stalled()
    thread, came = read_apart(waiting, stream, aside=standing_aside)
    moved(waiting._slow)
    taken, was_aside = dict(waiting._quick._taken), [*aside]
    stream.goes_on.set()
    thread.join()

    assert (taken, was_aside) == ({}, ["left"])
    assert (came, aside) == ([CONTENT], ["left", "back"])
    assert not waiting._slow._taken
    assert not is_read_here(waiting, "spool")


@pytest.mark.usefixtures("little_patience")
def test_one_for_which_there_is_no_place_is_given_up_once_more_of_it_comes(waiting):
    waiting._slow = Places(0, 0)
    stream = Stalled(after=1)
    thread, came = read_apart(waiting, stream)
    moved(body_reader._abandoned)
    assert not waiting._quick._taken
    stream.goes_on.set()
    thread.join()

    assert [type(one) for one in came] == [TooSlow]
    assert not body_reader._abandoned._taken


def test_one_that_drips_is_given_up_when_its_time_is_over(waiting, monkeypatch):
    monkeypatch.setattr(body_timeouts, "PATIENCE_SECONDS", -1_000)

    request = request_with(io.BytesIO(CONTENT))
    with pytest.raises(TooSlow):
        waiting.read(request, len(CONTENT), "token", regular="spool")

    # No thread reads it any more, so the response need not wait.
    assert UNFINISHED not in request.META
    assert not waiting._quick._taken
    assert not is_read_here(waiting, "spool")


def test_what_breaks_off_gives_its_place_back(waiting):
    class Broken(io.BytesIO):
        def read(self, *_):
            raise ConnectionResetError

    with pytest.raises(UnreadablePostError):
        waiting.read(request_with(Broken()), 100, "token", regular="spool")

    assert not waiting._quick._taken


def test_strangers_are_remembered_up_to_a_number(monkeypatch):
    monkeypatch.setattr(fast_clients, "MAX_REMEMBERED", 3)
    known = FastClients()
    for name in range(10):
        for _ in range(QUICK_IN_A_ROW):
            known.note(name, was_quick=True)

    assert known.know(9)
    assert len(known._in_a_row) <= 3


def test_the_thread_that_looks_after_readings_ends_and_begins_again(monkeypatch):
    monkeypatch.setattr(body_timeouts, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(fast_clients, "IDLE_SECONDS", 0.0)
    monkeypatch.setattr(fast_clients, "_watch", watch := fast_clients._Watch())
    waiting = Arrivals(Places(4, 3), Places(4, 2), wait_seconds=0.01)
    for _ in range(3):
        for _ in range(QUICK_IN_A_ROW):
            waiting._regulars.note("spool", was_quick=True)
        stream = Stalled()
        thread, came = read_apart(waiting, stream)
        moved(waiting._slow)
        stream.goes_on.set()
        thread.join()
        assert came == [CONTENT]
        while watch._is_awake:
            time.sleep(0.001)

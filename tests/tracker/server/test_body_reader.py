"""Bodies of requests have a time limit, and slow ones do not block others."""

from __future__ import annotations

import io
import threading
import time
from contextlib import closing, contextmanager

import pytest
from django.db import connection
from django.http import UnreadablePostError
from django.test import RequestFactory

from tracker.errors import TooSlow, Unavailable
from tracker.server import body_reader, body_timeouts
from tracker.server.body_reader import UNFINISHED, Arrivals, Lingering, Reading
from tracker.server.body_timeouts import Places

CONTENT = bytes(range(256)) * 5_000


class Stalled(io.BytesIO):
    """A body that does not arrive until the test continues it."""

    def __init__(self, content=b""):
        super().__init__(content)
        self.is_waited_for = threading.Event()
        self.goes_on = threading.Event()

    def read(self, size=-1, /):
        self.is_waited_for.set()
        assert self.goes_on.wait(30)
        return super().read(size)


class Dripping(Stalled):
    """A body whose next byte arrives when the test continues it."""

    def read(self, _size=-1, /):
        self.goes_on.clear()
        return super().read(1)


def request_with(stream):
    request = RequestFactory().post("/", b"x", content_type="text/plain")
    request._stream = stream
    return request


def arrivals(*, quick=(4, 3), slow=(4, 2)):
    return Arrivals(Places(*quick), Places(*slow), wait_seconds=0.01)


@pytest.fixture(autouse=True)
def little_patience(monkeypatch):
    monkeypatch.setattr(body_timeouts, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(body_timeouts, "PATIENCE_SECONDS", 0.05)


@pytest.fixture
def much_patience(monkeypatch):
    monkeypatch.setattr(body_timeouts, "PATIENCE_SECONDS", 60)


@contextmanager
def slow_ones(waiting, count, sender="slow"):
    """Start slow bodies of one sender; yield the list of their results."""
    streams = [Stalled(CONTENT) for _ in range(count)]
    came = []

    def read(stream):
        try:
            came.append(bytes(waiting.read(request_with(stream), 9, sender)))
        except (TooSlow, Unavailable) as refusal:
            came.append(type(refusal))
        finally:
            stream.is_waited_for.set()

    threads = [threading.Thread(target=read, args=[stream]) for stream in streams]
    try:
        for thread in threads:
            thread.start()
        # Waiting, or already rejected.
        assert all(stream.is_waited_for.wait(30) for stream in streams)
        # All started bodies have been classified as slow.
        while waiting._quick._taken:
            time.sleep(0.001)
        yield came
    finally:
        for stream in streams:
            stream.goes_on.set()
        for thread in threads:
            thread.join()


def read(waiting, sender="quick", content=CONTENT):
    stream = io.BytesIO(content)
    return bytes(waiting.read(request_with(stream), len(content), sender))


def test_a_body_comes_as_it_was_sent_in_pieces_of_any_size():
    assert read(arrivals()) == CONTENT
    pieces = arrivals().pieces(
        request_with(io.BytesIO(CONTENT)), len(CONTENT), "quick", piece_bytes=1_000
    )
    assert b"".join(pieces) == CONTENT


def test_a_truncated_body_is_returned_as_it_is():
    request = request_with(io.BytesIO(b"short"))

    assert arrivals().read(request, 100, "quick") == b"short"


def test_a_broken_connection_raises_in_the_waiting_thread():
    class Broken(io.BytesIO):
        def read(self, *_):
            raise ConnectionResetError

    with pytest.raises(UnreadablePostError):
        arrivals().read(request_with(Broken()), 100, "quick")


@pytest.mark.parametrize("stream", [Stalled(), Dripping(CONTENT)])
def test_a_body_that_arrives_too_slowly_is_given_up(stream):
    request = request_with(stream)
    stop = threading.Event()

    def drip():
        while not stop.wait(0.005):
            stream.goes_on.set()

    dripping = threading.Thread(target=drip)
    if isinstance(stream, Dripping):
        dripping.start()
    with pytest.raises(TooSlow):
        arrivals().read(request, len(CONTENT), "slow")
    # After another byte or a closed connection, its thread is free.
    stream.goes_on.set()
    assert request.META[UNFINISHED].wait(30)
    stop.set()
    if dripping.ident:
        dripping.join()


def test_a_slow_body_above_the_minimum_rate_is_read(monkeypatch):
    monkeypatch.setattr(body_timeouts, "SLOWEST_BYTES_A_SECOND", 0.001)
    stream = Dripping(b"0123456789")
    stop = threading.Event()

    def drip():
        while not stop.wait(0.01):
            stream.goes_on.set()

    dripping = threading.Thread(target=drip)
    dripping.start()
    assert arrivals().read(request_with(stream), 10, "slow") == b"0123456789"
    stop.set()
    dripping.join()


@pytest.mark.usefixtures("much_patience")
def test_slow_bodies_of_one_sender_leave_places_for_others():
    waiting = arrivals()
    # As many as can be waited for or abandoned; more would block a fast slot.
    count = 2 + body_reader.ABANDONED_AT_ONCE // 2
    with slow_ones(waiting, count) as came:
        for _ in range(10):
            assert read(waiting) == CONTENT
    # Two were waited for; some of the others were abandoned, and some were not started.
    assert came.count(CONTENT[:9]) == 2
    assert len(came) == count


@pytest.mark.usefixtures("much_patience")
def test_slow_bodies_leave_places_for_quick_ones_of_the_same_sender():
    waiting = arrivals()
    with slow_ones(waiting, 3, "same"):
        for _ in range(10):
            assert read(waiting, "same") == CONTENT


@pytest.mark.usefixtures("much_patience")
def test_a_request_with_a_slow_body_gives_up_its_slot_while_waiting():
    aside = []

    @contextmanager
    def standing_aside():
        aside.append("left")
        yield
        aside.append("back")

    waiting, stream = arrivals(), Stalled(CONTENT)
    threading.Timer(0.1, stream.goes_on.set).start()
    waiting.read(request_with(stream), 9, "slow", aside=standing_aside)

    assert aside == ["left", "back"]


def test_a_place_is_taken_until_its_thread_is_free():
    waiting = arrivals(quick=(1, 1), slow=(0, 0))
    stream = Stalled()
    request = request_with(stream)
    for place in range(body_reader.ABANDONED_AT_ONCE // 2):
        assert body_reader._abandoned.take("slow"), place
    try:
        with pytest.raises(TooSlow):
            waiting.read(request, 9, "slow")
        with pytest.raises(Unavailable):
            read(waiting)
        stream.goes_on.set()
        assert request.META[UNFINISHED].wait(30)
        assert waiting._quick.take("quick", 30)
    finally:
        for _ in range(body_reader.ABANDONED_AT_ONCE // 2):
            body_reader._abandoned.give_back("slow")


def test_an_answer_ends_no_sooner_than_the_reading():
    stream = Stalled()
    reading = Reading(stream, 9)
    thread = threading.Thread(target=reading.carry_out)

    def application(environ, _start):
        environ[UNFINISHED] = reading
        return [b"answer"]

    answer = iter(Lingering(application)({}, None))
    thread.start()
    assert next(answer) == b"answer"
    threading.Timer(0.05, stream.goes_on.set).start()
    assert next(answer, "over") == "over"
    assert reading.wait(0)


def test_other_answers_are_handed_on_as_they_are():
    answer = [b"answer"]

    assert Lingering(lambda _environ, _start: answer)({}, None) is answer


@pytest.mark.django_db(transaction=True)
@pytest.mark.database
@pytest.mark.postgresql
def test_no_pooled_connection_is_held_while_a_body_arrives():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no pool")
    connection.ensure_connection()

    arrivals().read(request_with(io.BytesIO(b"x")), 1, "sender")

    assert connection.connection is None


def test_an_upload_that_is_given_up_gives_its_place_back():
    places = Places(1, 1)
    files = Arrivals(places, Places(1, 1), wait_seconds=0.01)
    stream = io.BytesIO(b"abc")

    with closing(files.pieces(request_with(stream), 3, "one", piece_bytes=1)) as pieces:
        next(pieces)
        assert not places.are_free_for("one")

    assert places.are_free_for("one")

from __future__ import annotations

import io
import threading
from http import HTTPStatus

import pytest
from django.core.exceptions import BadRequest
from django.http import HttpResponse, UnreadablePostError
from django.test import Client, RequestFactory

from tracker.server import body_timeouts
from tracker.server.body_reader import Arrivals
from tracker.server.body_timeouts import Places
from tracker.server.processes import SLOW_FORMS_AT_ONCE
from web import bodies
from web.bodies import FormBodies

pytestmark = pytest.mark.django_db

FORM = "application/x-www-form-urlencoded"


class Stalled(io.BytesIO):
    """A body that does not arrive until the event is set."""

    def __init__(self, arrive):
        super().__init__()
        self.arrive = arrive
        self.is_waited_for = threading.Event()

    def read(self, *_):
        self.is_waited_for.set()
        self.arrive.wait(10)
        return b""


def request_with(stream, path="/sign-out"):
    request = RequestFactory().post(path, b"x", content_type=FORM)
    request._stream = stream
    return request


def answer(request):
    return FormBodies(lambda request: HttpResponse(request.body))(request)


@pytest.fixture
def stalled():
    """The maximum number of stalled bodies that the server waits for."""
    arrive = threading.Event()
    streams = [Stalled(arrive) for _ in range(SLOW_FORMS_AT_ONCE)]
    threads = [
        threading.Thread(target=answer, args=[request_with(stream)])
        for stream in streams
    ]
    for thread, stream in zip(threads, streams, strict=True):
        thread.start()
        assert stream.is_waited_for.wait(10)
    yield
    arrive.set()
    for thread in threads:
        thread.join()


def test_a_body_is_there_for_whoever_asks():
    request = RequestFactory().post("/sign-out", b"name=x", content_type=FORM)

    assert answer(request).content == b"name=x"
    assert request.POST == {"name": ["x"]}


@pytest.mark.usefixtures("stalled")
def test_bodies_that_never_arrive_leave_threads_for_others():
    # Complete bodies are served meanwhile.
    assert answer(request_with(io.BytesIO(b"x"))).content == b"x"
    # Requests without a body, and batches, which another reader handles, do not wait.
    assert answer(RequestFactory().get("/")).status_code == HTTPStatus.OK
    ingest = request_with(io.BytesIO(b"x"), "/api/v1/ingest/1")
    assert answer(ingest).status_code == HTTPStatus.OK


@pytest.fixture
def no_places(monkeypatch):
    nothing = Arrivals(Places(0, 0), Places(0, 0), wait_seconds=0)
    monkeypatch.setattr(bodies, "_forms", nothing)


@pytest.mark.usefixtures("no_places")
def test_what_cannot_be_read_now_is_refused():
    refused = answer(request_with(io.BytesIO(b"x")))

    assert refused.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert refused["Retry-After"]


def test_a_body_that_comes_too_slowly_is_refused(monkeypatch):
    monkeypatch.setattr(body_timeouts, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(body_timeouts, "PATIENCE_SECONDS", 0.02)
    arrive = threading.Event()

    refused = answer(request_with(Stalled(arrive)))

    arrive.set()
    assert refused.status_code == HTTPStatus.REQUEST_TIMEOUT


@pytest.mark.usefixtures("no_places")
def test_the_api_says_so_in_its_own_way():

    response = Client().post("/api/v1/projects/a/b/ladders", "{}", "application/json")

    assert response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert response.json()["error"]["code"] == "unavailable"
    assert response["Retry-After"]


def test_a_body_that_breaks_off_is_a_bad_request():
    class Broken(io.BytesIO):
        def read(self, *_):
            raise UnreadablePostError("reset")

    with pytest.raises(BadRequest):
        answer(request_with(Broken()))
    assert answer(request_with(io.BytesIO(b"x"))).content == b"x"


def test_a_form_beyond_djangos_limit_is_refused():
    response = Client().post("/sign-out", "x" * 3_000_000, FORM)

    assert response.status_code in (400, 413)

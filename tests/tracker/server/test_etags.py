from __future__ import annotations

import pytest
from django.http import HttpResponse, HttpResponseNotModified
from django.test import RequestFactory

from tracker.server import etags
from tracker.server.caches import Memory
from tracker.server.etags import fresh_answer, is_held, marked, not_modified


def asking(named):
    return RequestFactory().get("/", headers={"If-None-Match": named})


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        pytest.param('W/"v1"', True, id="as it was given"),
        pytest.param('"v1"', True, id="as a proxy makes it"),
        pytest.param('"v0", W/"v1"', True, id="one of several"),
        pytest.param("*", True, id="anything"),
        pytest.param('W/"v2"', False, id="another"),
        pytest.param("v1", False, id="without quotes"),
        pytest.param("", False, id="none"),
    ],
)
def test_a_version_that_is_named_is_held(named, expected):
    assert is_held(asking(named), "v1") == expected


@pytest.mark.parametrize("response", [HttpResponse("points"), not_modified("v1")])
def test_answers_are_kept_by_their_reader_alone_and_asked_about(response):
    found = marked(response, "v1")

    assert found["ETag"] == 'W/"v1"'
    assert found["Cache-Control"] == "no-cache, private"
    assert {"Authorization", "Cookie"} <= set(found["Vary"].split(", "))


def test_a_matching_etag_is_answered_without_a_body():
    assert isinstance(not_modified("v1"), HttpResponseNotModified)
    assert not not_modified("v1").content


@pytest.fixture
def drawn():
    """The rendered content, oldest first."""
    return []


@pytest.fixture
def answer(drawn, monkeypatch):
    monkeypatch.setattr(etags, "_lately", Memory(1_000_000))

    def answer(address="/chart?run=1", *, version="v1", **headers):
        def draw():
            drawn.append(address)
            return HttpResponse(
                f"chart {len(drawn)}", content_type="text/csv", headers={"Link": "next"}
            )

        request = RequestFactory().get(address, headers=headers)
        return fresh_answer(request, version, draw)

    return answer


def test_a_cached_response_is_sent_again_in_full(answer, drawn):
    first, again = answer(), answer()

    assert len(drawn) == 1
    assert again.content == first.content == b"chart 1"
    assert dict(again.items()) == dict(first.items())
    assert {again["Content-Type"], again["Link"]} == {"text/csv", "next"}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"address": "/chart?run=2"}, id="address"),
        pytest.param({"version": "v2"}, id="version"),
        pytest.param({"accept": "application/json"}, id="accepted types"),
    ],
)
def test_another_request_is_not_answered_from_the_cache(other, answer, drawn):
    answer()

    assert answer(**other).content == b"chart 2"


def test_a_held_answer_is_neither_drawn_nor_sent(answer, drawn):
    answer(if_none_match='W/"v1"')

    assert not drawn


def test_incremental_responses_are_not_cached(answer, drawn):
    answer("/chart?since=abc")
    answer("/chart?since=abc")

    assert len(drawn) == 2


def test_an_answer_is_remembered_for_a_minute(answer, drawn, monkeypatch):
    now = 1_000.0
    monkeypatch.setattr(etags.time, "monotonic", lambda: now)
    answer()
    now += 59.0
    answer()
    assert len(drawn) == 1

    now += 2.0
    answer()

    assert len(drawn) == 2

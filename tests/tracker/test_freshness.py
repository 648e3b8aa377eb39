from __future__ import annotations

import pytest
from django.http import HttpResponse, HttpResponseNotModified
from django.test import RequestFactory

from tracker.freshness import is_held, marked, not_modified


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


def test_what_is_held_is_answered_without_a_body():
    assert isinstance(not_modified("v1"), HttpResponseNotModified)
    assert not not_modified("v1").content

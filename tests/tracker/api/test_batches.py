"""Batches are handled by the WSGI server before Django's handler."""

from __future__ import annotations

import json
from io import BytesIO
from uuid import uuid4
from wsgiref.util import setup_testing_defaults

import pytest

from tests.builders import frames, open_message, points_message
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.api import batches
from tracker.api.v1.ingest import CONTENT_TYPE
from tracker.models import JournalEntry
from tracker.wsgi import application

SPOOL = "/api/v1/ingest/00000000-0000-4000-8000-000000000001"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture
def post(member):
    """Return a function that sends a request and returns status, headers and JSON."""
    token = make_token(member, "agent", Scope.LOG)

    def ask(path, body=b"", *, method="POST", **changes):
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "CONTENT_TYPE": CONTENT_TYPE,
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_AUTHORIZATION": f"Bearer {token}",
            "wsgi.input": BytesIO(body),
            **changes,
        }
        setup_testing_defaults(environ)
        begun = []
        answer = application(environ, lambda *head: begun.append(head))
        content = b"".join(answer)
        if hasattr(answer, "close"):
            answer.close()
        [(status, headers)] = begun
        headers = dict(headers)
        assert int(headers.get("Content-Length", len(content))) == len(content)
        return int(status.partition(" ")[0]), headers, json.loads(content)

    return ask


def address(spool_id=None):
    return f"/api/v1/ingest/{spool_id or uuid4()}"


def test_a_batch_is_stored_and_acknowledged(post):
    spool = address()

    answers = [
        post(spool, frames([[open_message()]])),
        post(spool, frames([[points_message("loss", [1.0])]], first=2)),
        post(spool, frames([[points_message("loss", [2.0], steps=[1.0])]], first=3)),
    ]

    assert [status for status, _, _ in answers] == [200] * 3
    assert all("Content-Length" in headers for _, headers, _ in answers)
    assert [answer["stored"] for _, _, answer in answers] == [1, 2, 3]
    assert JournalEntry.objects.count() == 2


def test_a_refusal_says_why(post):
    status, headers, answer = post(address(), b"", HTTP_AUTHORIZATION="Bearer no")

    assert status == 401
    assert headers["WWW-Authenticate"] == "Bearer"
    assert answer["error"]["code"] == "not_authenticated"


def test_a_fault_of_ours_is_logged_and_answered(post, monkeypatch, caplog):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(batches, "take_batch", broken)

    status, headers, answer = post(address())

    assert status == 500
    assert headers["Content-Type"] == "application/json"
    assert answer["error"]["code"] == "internal_error"
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", SPOOL, 405),
        ("POST", "/api/v1/ingest/1", 404),
        ("POST", f"{SPOOL}/x", 404),
        ("GET", "/api/v1/limits", 200),
    ],
)
def test_everything_else_is_answered_by_django(post, method, path, status):
    found, headers, _ = post(path, method=method, HTTP_HOST="localhost")

    assert found == status
    assert "Content-Security-Policy" in headers

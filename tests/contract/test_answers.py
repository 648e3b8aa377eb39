"""The agent understands every server response that can discard a frame."""

from __future__ import annotations

from uuid import uuid4

import pytest

from seamark.upload.responses import Meaning, Reply, judge
from seamark.upload.transport import CONTENT_TYPE
from tests.builders import (
    SECOND,
    START,
    Process,
    close_message,
    frames,
    make_project,
    open_message,
)
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.ingest.limits import LIMITS


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "meaning"),
    [
        pytest.param(b"x", Meaning.MALFORMED, id="no frames"),
        pytest.param(bytes(LIMITS.body_bytes + 1), Meaning.TOO_LARGE, id="too large"),
    ],
)
def test_what_the_server_cannot_store_is_told_from_what_others_refuse(
    member, api, body, meaning
):
    client = api(make_token(member, "agent", Scope.LOG))

    answer = client.post(f"/api/v1/ingest/{uuid4()}", body, content_type=CONTENT_TYPE)

    reply = Reply(answer.status_code, answer.get("Retry-After"), answer.content)
    assert judge(reply, now=0).meaning is meaning


@pytest.mark.django_db
def test_a_finished_run_is_known_to_be_closed(member, api):
    process = Process(make_project(member), "baseline")
    process.send([process.opening], [close_message(time=START)])
    client = api(make_token(member, "agent", Scope.LOG))
    opening = open_message("baseline", time=START + SECOND, resume=True)

    answer = client.post(
        f"/api/v1/ingest/{uuid4()}", frames([[opening]]), content_type=CONTENT_TYPE
    )

    judged = judge(Reply(answer.status_code, None, answer.content), now=0)
    assert (judged.meaning, judged.is_run_closed) == (Meaning.HOLD, True)
    assert "'baseline' is finished. Log to a run with another name" in judged.text

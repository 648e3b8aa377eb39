"""What may cost a frame is said by the server as the agent expects it."""

from __future__ import annotations

from uuid import uuid4

import pytest

from seamark.answers import Meaning, Reply, judge
from seamark.transport import CONTENT_TYPE
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
    client = api(make_token(member, "agent", Scope.INGEST))

    answer = client.post(f"/api/v1/ingest/{uuid4()}", body, content_type=CONTENT_TYPE)

    reply = Reply(answer.status_code, answer.get("Retry-After"), answer.content)
    assert judge(reply, now=0).meaning is meaning

"""Comments on runs over the API."""

from __future__ import annotations

import pytest

from tests.builders import make_member
from tests.tracker.api.v1.people.test_members import send
from tracker.models import Notification, Role, RunComment

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def address(run):
    return f"/api/v1/runs/{run.id}/comments"


@pytest.fixture
def manager(client_with, member, project):
    return client_with(member, "manage")


@pytest.fixture
def bob(member):
    return make_member("bob", Role.MEMBER, workspace=member.workspace)


def test_a_thread_is_begun_answered_resolved_and_deleted(
    client_with, manager, address, bob
):
    begun = send(manager, "post", address, text="Look, @bob").json()["threads"]
    first = begun[0]["id"]
    assert (begun[0]["author"], begun[0]["text"]) == ("ada", "Look, @bob")
    assert Notification.objects.filter(user=bob.user).exists()

    of_bob = client_with(bob, "manage")
    send(of_bob, "post", address, text="Seen", answer_to=first)
    send(of_bob, "patch", f"{address}/{first}", is_resolved=True)
    [thread] = manager.get(address).json()["threads"]
    assert [each["text"] for each in thread["answers"]] == ["Seen"]
    assert (thread["is_resolved"], thread["resolved_by"]) == (True, "bob")
    assert of_bob.delete(f"{address}/{first}").status_code == 403
    [thread] = manager.delete(f"{address}/{first}").json()["threads"]
    assert (thread["text"], thread["is_deleted"]) == ("", True)


def test_only_the_author_changes_a_text(client_with, manager, address, bob):
    [thread] = send(manager, "post", address, text="Draft").json()["threads"]
    comment = f"{address}/{thread['id']}"

    assert (
        send(client_with(bob, "manage"), "patch", comment, text="x").status_code == 403
    )
    [changed] = send(manager, "patch", comment, text="Final").json()["threads"]
    assert changed["text"] == "Final"
    assert changed["edited_at"] is not None


def test_an_invalid_comment_is_refused(client_with, member, manager, address):
    for wanted in ({}, {"text": " "}, {"text": "a\0"}):
        assert send(manager, "post", address, **wanted).status_code == 400
    for wanted in ({"answer_to": 7}, {"answer_to": 10**30}, {"rule": "none"}):
        assert send(manager, "post", address, text="a", **wanted).status_code == 404
    reader = client_with(member, "read")
    assert reader.get(address).json() == {"threads": []}
    assert send(reader, "post", address, text="a").status_code == 403
    assert not RunComment.objects.exists()

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.builders import make_member, make_run
from tracker.models import Follow, Role
from tracker.queries.people.follows import followers_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(project):
    return make_run(project)


def follow(client, run, choice: str):
    return client.post(reverse("run-follow", args=[run.id]), {"follow": choice})


def test_who_starts_a_run_follows_it_until_they_unfollow(client_of, member, run):
    client = client_of(member)
    assert followers_of(run) == {member.user_id}
    assert b"Following" in client.get(f"/runs/{run.id}/").content

    follow(client, run, "0")

    assert followers_of(run) == set()


def test_a_viewer_follows_a_run_or_a_whole_project(client_of, member, run):
    vera = make_member("vera", Role.VIEWER, workspace=member.workspace)
    client = client_of(vera)
    project = run.project
    address = reverse("project-follow", args=[project.workspace.slug, project.slug])

    client.post(address, {"follow": "1"})
    assert vera.user_id in followers_of(run)

    follow(client, run, "0")
    assert vera.user_id not in followers_of(run)


def test_a_stranger_follows_nothing(client_of, stranger, run):
    assert follow(client_of(stranger), run, "1").status_code == 404
    assert not Follow.objects.exists()

from __future__ import annotations

import pytest
from django.utils import timezone

from tests.builders import make_member, make_project, make_run
from tracker.models import Project, Run, State

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def page(signed_in) -> str:
    return signed_in.get("/").content.decode()


def test_shows_what_goes_on_in_each_project(member, client_of):
    project = make_project(member)
    for number, state in enumerate([State.RUNNING, State.FINISHED, State.FAILED]):
        make_run(project, f"run {number}", state)

    summary = client_of(member).get("/").context["projects"][0]

    assert (summary.run_count, summary.running_count, summary.failed_count) == (3, 1, 1)
    assert summary.last_activity_at is not None


def test_leaves_out_what_is_in_the_trash(member, client_of):
    run = make_run(make_project(member))
    Run.objects.filter(id=run.id).update(trashed_at=timezone.now())

    summary = client_of(member).get("/").context["projects"][0]

    assert summary.run_count == 0
    assert summary.last_activity_at is None


def test_a_colleague_sees_the_same_and_a_stranger_nothing(member, stranger, client_of):
    make_project(member, "vision")
    colleague = make_member("bob", "viewer", workspace=member.workspace)

    assert "vision" in page(client_of(colleague))
    assert "vision" not in page(client_of(stranger))


def test_the_project_with_the_newest_activity_comes_first(member, client_of):
    make_project(member, "quiet")
    busy = make_project(member, "busy")
    make_run(busy)

    names = [project.name for project in client_of(member).get("/").context["projects"]]

    assert names == ["busy", "quiet"]


def test_without_projects_says_how_to_log_the_first_run(member, client_of):
    html = page(client_of(member))

    assert "import agent" in html
    assert "python3 manage.py demo" in html


def test_workspaces_are_named_once_there_are_several(member, client_of):
    make_project(member, "vision")
    assert "ada&#x27;s" not in page(client_of(member))

    other = make_member("zoe")
    member.__class__.objects.create(
        workspace=other.workspace, user=member.user, role="viewer"
    )
    make_project(other, "speech")

    assert "zoe&#x27;s" in page(client_of(member))


def test_a_name_is_shown_literally(member, client_of):
    Project.objects.create(
        workspace=member.workspace, name="<script>alert(1)</script>", slug="odd"
    )

    assert "<script>alert" not in page(client_of(member))


def test_costs_the_same_for_many_projects(
    member, client_of, django_assert_max_num_queries
):
    for number in range(20):
        make_run(make_project(member, f"p{number}"))
    signed_in = client_of(member)

    with django_assert_max_num_queries(3):
        signed_in.get("/")

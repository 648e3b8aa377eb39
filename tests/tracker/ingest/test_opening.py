import re

import pytest

from tests.builders import make_member, make_project
from tracker.actions.found_projects import find_or_make_project
from tracker.ingest.opening import from_microseconds
from tracker.models import Project

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_a_project_is_found_by_slug_or_name(member):
    project = make_project(member, "vision")
    project.name = "Vision Net"
    project.save()

    assert find_or_make_project(member.workspace, "vision", member.user_id) == project
    assert (
        find_or_make_project(member.workspace, "Vision Net", member.user_id) == project
    )


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Vision Net", "vision-net"),
        ("resnet_50-b", "resnet_50-b"),
        ("__proto__", "proto"),
        ("Café", "cafe-[0-9a-f]{8}"),
        ("<script>alert(1)</script>", "scriptalert1script-[0-9a-f]{8}"),
        ("../../etc", "etc-[0-9a-f]{8}"),
        ("視覚", "project-[0-9a-f]{8}"),
        ("x" * 200, "x{180}-[0-9a-f]{8}"),
    ],
)
def test_a_new_project_gets_a_readable_slug(member, name, slug):
    project = find_or_make_project(member.workspace, name, member.user_id)

    assert project.name == name
    assert re.fullmatch(slug, project.slug)


def test_names_that_read_alike_are_different_projects(member):
    names = ["C++", "C", "c!", "日本 v2", "中国 v2", "v2"]

    projects = [
        find_or_make_project(member.workspace, name, member.user_id) for name in names
    ]
    again = [
        find_or_make_project(member.workspace, name, member.user_id) for name in names
    ]

    assert len({project.slug for project in projects}) == len(names)
    assert again == projects


def test_another_workspaces_project_is_not_found(member):
    make_project(make_member("mallory"), "vision")

    found = find_or_make_project(member.workspace, "vision", member.user_id)

    assert found.workspace == member.workspace
    assert Project.objects.count() == 2


def test_times_keep_their_microseconds():
    assert from_microseconds(253402300799_999_999).isoformat() == (
        "9999-12-31T23:59:59.999999+00:00"
    )

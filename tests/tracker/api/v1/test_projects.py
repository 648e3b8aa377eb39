import pytest

from tests.builders import make_project

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_lists_the_callers_projects_only(reader, run, stranger):
    make_project(stranger, "secret")

    answer = reader.get("/api/v1/projects").json()

    [project] = answer["projects"]
    assert (project["workspace"], project["slug"]) == ("ada-workspace", "vision")
    assert (project["run_count"], project["running_count"]) == (1, 1)
    assert project["last_activity_at"] is not None

"""A user who may read the project of many runs."""

from __future__ import annotations

from tracker.models import Member, Project, Role, User


def viewer() -> User:
    project = Project.objects.select_related("workspace").get(slug="runs")
    user, _ = User.objects.get_or_create(username="benchmark")
    Member.objects.get_or_create(
        workspace=project.workspace, user=user, defaults={"role": Role.VIEWER}
    )
    return user

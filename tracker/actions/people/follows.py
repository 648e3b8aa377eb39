"""Follows and unfollows runs and projects."""

from __future__ import annotations

from django.db import transaction

from tracker.models import Follow, Project, Run


def follow_run(run: Run, *, user_id: int, is_on: bool) -> None:
    Follow.objects.update_or_create(
        user_id=user_id,
        run=run,
        defaults={"is_on": is_on, "project_id": run.project_id},
    )


def follow_project(project: Project, *, user_id: int, is_on: bool) -> None:
    Follow.objects.update_or_create(
        user_id=user_id, project=project, run=None, defaults={"is_on": is_on}
    )


def begin_to_follow(run: Run, *, user_id: int) -> None:
    """Follow a run unless the user has unfollowed it."""
    with transaction.atomic():
        Follow.objects.bulk_create(
            [Follow(user_id=user_id, run=run, project_id=run.project_id, is_on=True)],
            ignore_conflicts=True,
        )

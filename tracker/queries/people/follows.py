"""The followers of runs and projects."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from tracker.models import Follow, Project, Run


def followers_of(run: Run) -> set[int]:
    """Return the ids of users who follow the run, its project, or started the run.

    A choice about the run overrides one about its project.
    """
    return _following(run, Follow.objects.all())


def follows_run(user_id: int, run: Run) -> bool:
    return user_id in _following(run, Follow.objects.filter(user_id=user_id))


def follows_project(user_id: int, project: Project) -> bool:
    follows = Follow.objects.filter(user_id=user_id, project=project, run=None)
    return follows.filter(is_on=True).exists()


def _following(run: Run, choices: QuerySet[Follow]) -> set[int]:
    of_both = choices.filter(Q(run=run) | Q(project=run.project_id, run=None))
    following = set() if run.made_by_id is None else {run.made_by_id}
    of_run: dict[int, bool] = {}
    for choice in of_both.values_list("user_id", "run_id", "is_on"):
        user_id, run_id, is_on = choice
        if run_id is not None:
            of_run[user_id] = is_on
        elif is_on:
            following.add(user_id)
    following |= {user_id for user_id, is_on in of_run.items() if is_on}
    return following - {user_id for user_id, is_on in of_run.items() if not is_on}

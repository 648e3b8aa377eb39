"""Who follows a run or a project."""

from __future__ import annotations

from tracker.models import Follow, Project, Run


def followers_of(run: Run) -> set[int]:
    """Return the ids of users who follow the run, its project, or started the run."""
    choices = dict(Follow.objects.filter(run=run).values_list("user_id", "is_on"))
    of_project = Follow.objects.filter(project=run.project_id, run=None, is_on=True)
    following = set(of_project.values_list("user_id", flat=True))
    if run.made_by_id is not None:
        following.add(run.made_by_id)
    following |= {user_id for user_id, is_on in choices.items() if is_on}
    return following - {user_id for user_id, is_on in choices.items() if not is_on}


def follows_run(user_id: int, run: Run) -> bool:
    return user_id in followers_of(run)


def follows_project(user_id: int, project: Project) -> bool:
    follows = Follow.objects.filter(user_id=user_id, project=project, run=None)
    return follows.filter(is_on=True).exists()

"""The only way a view gets an object: together with the permission to see it.

What is absent and what is forbidden look the same.
"""

from __future__ import annotations

from uuid import UUID

from tracker.actor import Actor, Scope
from tracker.disclosure import is_seen
from tracker.errors import NotAllowed, NotFound
from tracker.models import Ladder, Member, Project, Run
from tracker.queries.records import RecordSeries, record_series


def readable_project(actor: Actor, workspace: str, project: str) -> Project:
    found = (
        Project.objects.readable_by(actor)
        .filter(workspace__slug=workspace, slug=project)
        .select_related("workspace")
        .first()
    )
    if found is None:
        raise NotFound("project")
    return found


def readable_run(actor: Actor, run_id: UUID) -> Run:
    run = (
        Run.objects.readable_by(actor)
        .not_in_trash()
        .filter(id=run_id)
        .select_related("project__workspace")
        .first()
    )
    if run is None:
        raise NotFound("run")
    return run


def readable_records(actor: Actor, run: Run, path: str) -> RecordSeries:
    """Return a series of records of a readable run, if the actor sees its kind."""
    series = record_series(run, path)
    if not is_seen(actor, series.kind, series.path):
        raise NotFound("series")
    return series


def editable_run(actor: Actor, run_id: UUID) -> Run:
    """Return a run that the actor may pin or move to the trash."""
    run = readable_run(actor, run_id)
    if not may_edit(actor, run.project):
        raise NotAllowed("change runs")
    return run


def trashed_run(actor: Actor, run_id: UUID) -> Run:
    """Return a run of the trash that the actor may bring back."""
    run = (
        Run.objects.readable_by(actor)
        .in_trash()
        .filter(id=run_id)
        .select_related("project__workspace")
        .first()
    )
    if run is None:
        raise NotFound("run in the trash")
    if not may_edit(actor, run.project):
        raise NotAllowed("change runs")
    return run


def doomed_run(actor: Actor, run_id: UUID) -> Run:
    """Return a run of the trash that the actor may delete for good."""
    run = trashed_run(actor, run_id)
    if not may_own(actor, run.project):
        raise NotAllowed("delete runs for good")
    return run


def readable_ladder(actor: Actor, ladder_id: UUID) -> Ladder:
    ladder = (
        Ladder.objects.readable_by(actor)
        .filter(id=ladder_id)
        .select_related("project__workspace")
        .first()
    )
    if ladder is None:
        raise NotFound("ladder")
    return ladder


def comparable_project(actor: Actor, workspace: str, project: str) -> Project:
    """Return the project whose runs are compared; to a link, nothing else of it."""
    if actor.grant is None:
        return readable_project(actor, workspace, project)
    found = (
        Project.objects.filter(
            id=actor.grant.project_id, workspace__slug=workspace, slug=project
        )
        .select_related("workspace")
        .first()
    )
    if found is None:
        raise NotFound("project")
    return found


def comparable_runs(actor: Actor, project: Project, run_ids: list[UUID]) -> list[Run]:
    """Return those of the runs that the actor may compare, in the order asked."""
    runs = Run.objects.readable_by(actor).not_in_trash().filter(project=project)
    found = runs.in_bulk(run_ids)
    return [found[run_id] for run_id in run_ids if run_id in found]


def sharable_project(actor: Actor, workspace: str, project: str) -> Project:
    """Return a project of which the actor may show things to strangers."""
    found = readable_project(actor, workspace, project)
    if not may_edit(actor, found):
        raise NotAllowed("share")
    return found


def editable_project(actor: Actor, workspace: str, project: str) -> Project:
    """Return a project whose ladders the actor may change."""
    found = readable_project(actor, workspace, project)
    if not may_edit(actor, found):
        raise NotAllowed("change ladders")
    return found


def owned_project(actor: Actor, workspace: str, project: str) -> Project:
    """Return a project of which the actor may decide what is kept."""
    found = readable_project(actor, workspace, project)
    if not may_own(actor, found):
        raise NotAllowed("decide what a project keeps")
    return found


def editable_ladder(actor: Actor, ladder_id: UUID) -> Ladder:
    found = readable_ladder(actor, ladder_id)
    if not may_edit(actor, found.project):
        raise NotAllowed("change ladders")
    return found


def readable_by_member(user_id: int, project_id: int) -> bool:
    """Say whether a person may see the project themselves, whatever link they came by."""
    return Project.objects.readable_by(Actor(user_id)).filter(id=project_id).exists()


def may_edit(actor: Actor, project: Project) -> bool:
    """Say whether the actor may change what people arrange, such as ladders."""
    return (
        actor.scope is Scope.FULL
        and Project.objects.writable_by(actor).filter(id=project.id).exists()
    )


def may_own(actor: Actor, project: Project) -> bool:
    """Say whether the actor may decide what cannot be taken back."""
    return (
        actor.scope is Scope.FULL
        and Project.objects.owned_by(actor).filter(id=project.id).exists()
    )


def own_membership(actor: Actor, workspace: str) -> Member:
    """Return the actor's own place in a workspace, for which they may make tokens."""
    member = Member.objects.filter(
        user_id=actor.user_id, workspace__slug=workspace
    ).first()
    if member is None:
        raise NotFound("workspace")
    return member


def runs_of(project: Project, run_ids: list[UUID]) -> list[Run]:
    """Return those runs of a readable project that there are, in the order asked."""
    runs = Run.objects.not_in_trash().filter(project=project).in_bulk(run_ids)
    return [runs[run_id] for run_id in run_ids if run_id in runs]

"""Checked access to stored objects: views load every object through these functions.

An absent object and a forbidden one raise the same error.
"""

from __future__ import annotations

from typing import Any, TypeVar
from uuid import UUID

from django.core.validators import slug_re
from django.db.models import Exists, OuterRef, Q, QuerySet

from tracker.actor import Actor, Scope
from tracker.boards.board import Board, stored
from tracker.boards.frozen import Frozen
from tracker.disclosure import is_seen
from tracker.errors import Archived, NotAllowed, NotFound
from tracker.models import (
    Annotation,
    Dashboard,
    Ladder,
    Member,
    MetricRule,
    Project,
    Report,
    ReportComment,
    Run,
    RunComment,
    SavedView,
    Workspace,
)
from tracker.models.project import ROLE_IN_PROJECT
from tracker.queries.projects.deletions import MADE, Made, deleted_rows
from tracker.queries.series.records import RecordSeries, record_series
from tracker.server.statements import every_row, key_read, moment_read

# The fields of a run that decide which of its points are shown.
SHAPING_FIELDS = ("id", "project_id", "state", "started_at", "ended_at", "rewound_at")
# The conditions of `Project.readable_by` in SQL: building them with the ORM takes
# longer than the query itself.
READABLE_RUNS = f"""
SELECT {", ".join(f"run.{name}" for name in SHAPING_FIELDS)}, project.slug
FROM tracker_run AS run
JOIN tracker_project AS project ON project.id = run.project_id
JOIN tracker_workspace AS workspace ON workspace.id = project.workspace_id
JOIN tracker_member AS member ON member.workspace_id = workspace.id
WHERE run.id IN ({{runs}}) AND project.deleted_at IS NULL AND run.trashed_at IS NULL AND run.purging_at IS NULL
  AND workspace.slug = %s AND member.user_id = %s
  AND workspace.id = COALESCE(%s, workspace.id) AND {ROLE_IN_PROJECT} <> ''
"""
# Answers that keep a deleted comment visible as a placeholder.
KEPT_ANSWERS = ReportComment.objects.filter(thread=OuterRef("pk"), deleted_at=None)


def readable_project(actor: Actor, workspace: str, project: str) -> Project:
    return _named(Project.objects.readable_by(actor), workspace, project)


def readable_run(actor: Actor, run_id: UUID) -> Run:
    runs = Run.objects.readable_by(actor).not_in_trash()
    return _one(runs.select_related("made_by"), run_id, "run")


def readable_run_of_spool(actor: Actor, spool_id: UUID) -> Run:
    """Return the run to which the process with this spool logs."""
    runs = Run.objects.readable_by(actor).not_in_trash()
    found = runs.filter(spools=spool_id).first()
    if found is None:
        raise NotFound("run")
    return found


def readable_records(actor: Actor, run: Run, path: str) -> RecordSeries:
    """Return a record series of a readable run if the actor may see its kind."""
    series = record_series(run, path)
    if not is_seen(actor, series.kind, series.path):
        raise NotFound("series")
    return series


def editable_run(actor: Actor, run_id: UUID) -> Run:
    """Return a run that the actor may pin or move to the trash."""
    run = readable_run(actor, run_id)
    if not may_edit(actor, run.project):
        raise _refusal(run.project, "change runs")
    return run


def own_annotation(actor: Actor, run_id: UUID, annotation_id: int) -> Annotation:
    """Return an annotation by the actor; project owners may change any."""
    run = editable_run(actor, run_id)
    found = Annotation.objects.filter(run=run, id=annotation_id).first()
    if found is None:
        raise NotFound("annotation")
    if found.author_id != actor.user_id and not may_own(actor, run.project):
        raise _refusal(run.project, "change what others wrote")
    return found


def deleted_annotation(actor: Actor, run_id: UUID, annotation_id: int) -> Annotation:
    """Return an annotation that the actor deleted; project owners may restore any."""
    run = editable_run(actor, run_id)
    deleted = Annotation.with_deleted.filter(deleted_at__isnull=False, run=run)
    found = deleted.filter(id=annotation_id).first()
    if found is None:
        raise NotFound("annotation")
    if found.deleted_by_id != actor.user_id and not may_own(actor, run.project):
        raise _refusal(run.project, "bring back what others deleted")
    found.run = run
    return found


def trashed_run(actor: Actor, run_id: UUID) -> Run:
    """Return a trashed run that the actor may restore."""
    run = _one(Run.objects.readable_by(actor).in_trash(), run_id, "run in the trash")
    if not may_edit(actor, run.project):
        raise _refusal(run.project, "change runs")
    return run


def doomed_run(actor: Actor, run_id: UUID) -> Run:
    """Return a trashed run that the actor may delete permanently."""
    run = trashed_run(actor, run_id)
    if not may_own(actor, run.project):
        raise _refusal(run.project, "delete runs for good")
    return run


def readable_ladder(actor: Actor, ladder_id: UUID) -> Ladder:
    return _one(Ladder.objects.readable_by(actor), ladder_id, "ladder")


def comparable_project(actor: Actor, workspace: str, project: str) -> Project:
    """Return the project whose runs are compared, also for a share link to comparisons."""
    if actor.grant is None:
        return readable_project(actor, workspace, project)
    projects = Project.objects.filter(id=actor.grant.project_id)
    return _named(projects, workspace, project)


def comparable_runs(actor: Actor, project: Project, run_ids: list[UUID]) -> list[Run]:
    """Return the runs that the actor may compare, in the requested order.

    They may belong to any project of the workspace; `project` is loaded for each.
    """
    runs = Run.objects.readable_by(actor).not_in_trash()
    runs = runs.filter(project__workspace=project.workspace_id)
    found = runs.select_related("project").in_bulk(run_ids)
    return [found[run_id] for run_id in run_ids if run_id in found]


def projects_in_reach(actor: Actor, project: Project) -> QuerySet[Project]:
    """Return the workspace's projects that the actor may read, directly or by a link.

    A link may show runs of every project that the user who created it can read.
    """
    projects = Project.objects.filter(workspace=project.workspace_id)
    if actor.grant is None:
        return projects.readable_by(actor)
    return projects.of_link(actor)


def projects_beside(actor: Actor, project: Project) -> QuerySet[Project]:
    """Return the other projects of the workspace that the actor may read, by name."""
    projects = Project.objects.readable_by(actor).exclude(id=project.id)
    return projects.filter(workspace=project.workspace_id).order_by("name", "id")


def projects_of_workspace(actor: Actor, workspace: Workspace) -> QuerySet[Project]:
    """Return the projects of a workspace that the actor may read, by name."""
    projects = Project.objects.readable_by(actor).filter(workspace=workspace)
    return projects.order_by("name", "id")


def project_beside(actor: Actor, project: Project, slug: str) -> Project:
    """Return a project of the same workspace by its slug."""
    if slug == project.slug:
        return project
    return _named(projects_in_reach(actor, project), project.workspace.slug, slug)


def editable_project(actor: Actor, workspace: str, project: str, *, to: str) -> Project:
    """Return a project that the actor may change; `to` completes the error message."""
    found = readable_project(actor, workspace, project)
    if not may_edit(actor, found):
        raise _refusal(found, to)
    return found


def owned_project(actor: Actor, workspace: str, project: str) -> Project:
    """Return a project whose retention the actor may change."""
    found = readable_project(actor, workspace, project)
    if not may_own(actor, found):
        raise _refusal(found, "decide what a project keeps")
    return found


def editable_ladder(actor: Actor, ladder_id: UUID) -> Ladder:
    found = readable_ladder(actor, ladder_id)
    if not may_edit(actor, found.project):
        raise _refusal(found.project, "change ladders")
    return found


def readable_view(actor: Actor, view_id: UUID) -> SavedView:
    return _one(SavedView.objects.readable_by(actor), view_id, "view")


def editable_view(actor: Actor, view_id: UUID) -> SavedView:
    """Return one of the actor's own views, or a shared view that they may change."""
    view = readable_view(actor, view_id)
    if not _is_private(actor, view) and not may_edit(actor, view.project):
        raise _refusal(view.project, "change shared views")
    return view


def deleted_item(actor: Actor, kind: str, thing_id: UUID) -> Made:
    """Return a deleted object other than a run that the actor may restore.

    The actor needs the same permission as for deleting it.
    """
    if kind not in MADE:
        raise NotFound("kind of thing in the trash")
    found: Made = _one(deleted_rows(kind, actor), thing_id, f"{kind} in the trash")
    if not _is_private(actor, found) and not may_edit(actor, found.project):
        raise _refusal(found.project, f"change {kind}s")
    return found


def purgeable_item(actor: Actor, kind: str, thing_id: UUID) -> Made:
    """Return a deleted object other than a run that the actor may delete permanently."""
    found = deleted_item(actor, kind, thing_id)
    if not _is_private(actor, found) and not may_own(actor, found.project):
        raise _refusal(found.project, f"delete {kind}s for good")
    return found


def _is_private(actor: Actor, item: Made) -> bool:
    """Return whether the object is a view that only the actor can see."""
    return (
        isinstance(item, SavedView)
        and actor.scope is Scope.MANAGE
        and item.owner_id == actor.user_id
        and not item.is_shared
    )


def frozen_for(actor: Actor) -> Frozen | None:
    """Return the saved state that a share link shows instead of the current one."""
    return actor.grant.frozen if actor.grant is not None else None


def readable_rule(actor: Actor, project: Project, rule_id: int) -> MetricRule:
    """Return a metric rule of a readable project: the actor's own, or a shared one."""
    rules = MetricRule.objects.filter(project=project, id=rule_id)
    seen = Q(is_shared=True) | Q(owner_id=actor.user_id)
    found = rules.filter(seen).select_related("run").first()
    if found is None or not may_comment(actor):
        raise NotFound("rule")
    found.project = project
    return found


def editable_rule(actor: Actor, project: Project, rule_id: int) -> MetricRule:
    found = readable_rule(actor, project, rule_id)
    if found.owner_id != actor.user_id and not may_own(actor, project):
        raise _refusal(project, "change the rules of other members")
    return found


def readable_dashboard(actor: Actor, dashboard_id: UUID) -> Dashboard:
    dashboards = Dashboard.objects.readable_by(actor).select_related("changed_by")
    dashboard = _one(dashboards, dashboard_id, "dashboard")
    frozen = frozen_for(actor)
    if frozen is not None:
        dashboard.name, dashboard.changed_at = frozen.name, frozen.saved_at
        dashboard.content = stored(frozen.board or Board())
    return dashboard


def editable_dashboard(actor: Actor, dashboard_id: UUID) -> Dashboard:
    dashboard = readable_dashboard(actor, dashboard_id)
    if not may_edit(actor, dashboard.project):
        raise _refusal(dashboard.project, "change dashboards")
    return dashboard


def readable_report(actor: Actor, report_id: UUID) -> Report:
    reports = Report.objects.readable_by(actor)
    reports = reports.select_related("created_by", "changed_by")
    report = _one(reports, report_id, "report")
    frozen = frozen_for(actor)
    if frozen is not None:
        report.name, report.changed_at = frozen.name, frozen.saved_at
        report.text, report.version = frozen.text, frozen.number
    return report


def editable_report(actor: Actor, report_id: UUID) -> Report:
    report = readable_report(actor, report_id)
    if not may_edit(actor, report.project):
        raise _refusal(report.project, "change reports")
    return report


def commentable_report(actor: Actor, report_id: UUID) -> Report:
    """Return a report that the actor, as a member, may comment on."""
    report = readable_report(actor, report_id)
    if not may_comment(actor):
        raise NotAllowed("comment on reports")
    return report


def readable_comment(actor: Actor, report_id: UUID, comment_id: int) -> ReportComment:
    """Return a comment, or the placeholder of a deleted one that has answers."""
    report = commentable_report(actor, report_id)
    comments = ReportComment.objects.filter(report=report).select_related("thread")
    shown = Q(deleted_at=None) | Q(Exists(KEPT_ANSWERS))
    found = comments.filter(shown, id=comment_id).first()
    if found is None:
        raise NotFound("comment")
    found.report = report
    return found


def own_comment(actor: Actor, report_id: UUID, comment_id: int) -> ReportComment:
    found = readable_comment(actor, report_id, comment_id)
    if found.deleted_at is not None:
        raise NotFound("comment")
    if found.author_id != actor.user_id:
        raise NotAllowed("change what others wrote")
    return found


def deletable_comment(actor: Actor, report_id: UUID, comment_id: int) -> ReportComment:
    """Return a comment by the actor; project owners may delete any."""
    found = readable_comment(actor, report_id, comment_id)
    if found.deleted_at is not None:
        raise NotFound("comment")
    if found.author_id != actor.user_id and not may_own(actor, found.report.project):
        raise _refusal(found.report.project, "delete what others wrote")
    return found


def deleted_comment(actor: Actor, report_id: UUID, comment_id: int) -> ReportComment:
    """Return a comment that the actor deleted; project owners may restore any."""
    report = commentable_report(actor, report_id)
    deleted = ReportComment.objects.filter(report=report, deleted_at__isnull=False)
    # A comment without text is purged and remains only as a placeholder for its
    # answers.
    found = deleted.exclude(text="").filter(id=comment_id).first()
    if found is None:
        raise NotFound("comment")
    if found.deleted_by_id != actor.user_id and not may_own(actor, report.project):
        raise _refusal(report.project, "bring back what others deleted")
    found.report = report
    return found


def settleable_thread(actor: Actor, report_id: UUID, comment_id: int) -> ReportComment:
    """Return a thread that the actor may resolve: their own, or on a report they edit."""
    found = readable_comment(actor, report_id, comment_id)
    if found.thread_id is not None:
        raise NotFound("thread")
    if found.author_id != actor.user_id and not may_edit(actor, found.report.project):
        raise _refusal(found.report.project, "resolve what others began")
    return found


def commentable_run(actor: Actor, run_id: UUID) -> Run:
    """Return a run that the actor, as a member, may comment on."""
    run = readable_run(actor, run_id)
    if not may_comment(actor):
        raise NotAllowed("comment on runs")
    return run


def readable_run_comment(actor: Actor, run_id: UUID, comment_id: int) -> RunComment:
    """Return a comment on a run, or the placeholder of a deleted one that has answers."""
    run = commentable_run(actor, run_id)
    answers = RunComment.objects.filter(thread=OuterRef("pk"), deleted_at=None)
    shown = Q(deleted_at=None) | Q(Exists(answers))
    found = RunComment.objects.filter(shown, run=run, id=comment_id).first()
    if found is None:
        raise NotFound("comment")
    found.run = run
    return found


def own_run_comment(actor: Actor, run_id: UUID, comment_id: int) -> RunComment:
    found = readable_run_comment(actor, run_id, comment_id)
    if found.deleted_at is not None:
        raise NotFound("comment")
    if found.author_id != actor.user_id:
        raise NotAllowed("change the comments of other members")
    return found


def deletable_run_comment(actor: Actor, run_id: UUID, comment_id: int) -> RunComment:
    """Return a comment by the actor; project owners may delete any."""
    found = readable_run_comment(actor, run_id, comment_id)
    if found.deleted_at is not None:
        raise NotFound("comment")
    if found.author_id != actor.user_id and not may_own(actor, found.run.project):
        raise _refusal(found.run.project, "delete the comments of other members")
    return found


def deleted_run_comment(actor: Actor, run_id: UUID, comment_id: int) -> RunComment:
    """Return a comment that the actor deleted; project owners may restore any."""
    run = commentable_run(actor, run_id)
    deleted = RunComment.objects.filter(run=run, deleted_at__isnull=False)
    found = deleted.exclude(text="").filter(id=comment_id).first()
    if found is None:
        raise NotFound("comment")
    if found.deleted_by_id != actor.user_id and not may_own(actor, run.project):
        raise _refusal(run.project, "restore the comments of other members")
    found.run = run
    return found


def settleable_run_thread(actor: Actor, run_id: UUID, comment_id: int) -> RunComment:
    """Return a thread that the actor may resolve: their own, or on a run they edit."""
    found = readable_run_comment(actor, run_id, comment_id)
    if found.thread_id is not None:
        raise NotFound("thread")
    if found.author_id != actor.user_id and not may_edit(actor, found.run.project):
        raise _refusal(found.run.project, "resolve the threads of other members")
    return found


def readable_by_member(user_id: int, project_id: int) -> bool:
    """Return whether the user can read the project without a share link."""
    return Project.objects.readable_by(Actor(user_id)).filter(id=project_id).exists()


def may_comment(actor: Actor) -> bool:
    """Return whether the actor may write comments; visitors by link may not."""
    return actor.grant is None and actor.scope is Scope.MANAGE


def may_edit(actor: Actor, project: Project) -> bool:
    """Return whether the actor may change shared content of the project."""
    return (
        actor.scope is Scope.MANAGE
        and project.archived_at is None
        and Project.objects.writable_by(actor).filter(id=project.id).exists()
    )


def may_own(actor: Actor, project: Project) -> bool:
    """Return whether the actor may do irreversible things in the project."""
    return project.archived_at is None and may_manage_project(actor, project)


def targets_of_moves(actor: Actor, project: Project) -> QuerySet[Project]:
    """Return the projects to which the actor may move runs from this one, by name."""
    projects = Project.objects.writable_by(actor).exclude(id=project.id)
    projects = projects.filter(workspace=project.workspace_id, archived_at=None)
    return projects.select_related("workspace").order_by("name", "id")


def moving_target(actor: Actor, project: Project, target: str) -> Project:
    return _named(targets_of_moves(actor, project), project.workspace.slug, target)


def may_manage_project(actor: Actor, project: Project) -> bool:
    """Return whether the actor may archive, restore or delete the project."""
    return (
        actor.scope is Scope.MANAGE
        and Project.objects.managed_by(actor).filter(id=project.id).exists()
    )


def managed_project(actor: Actor, workspace: str, project: str) -> Project:
    """Return a project that the actor may archive, restore or delete."""
    found = readable_project(actor, workspace, project)
    if not may_manage_project(actor, found):
        raise NotAllowed("manage projects")
    return found


def _refusal(project: Project, to: str) -> NotAllowed:
    return NotAllowed(to) if project.archived_at is None else Archived()


def own_membership(actor: Actor, workspace: str) -> Member:
    """Return the actor's membership in a workspace, for which they may create tokens."""
    if not _is_slug(workspace):
        raise NotFound("workspace")
    members = Member.objects.active().filter(user_id=actor.user_id)
    member = members.filter(workspace__slug=workspace).first()
    if member is None:
        raise NotFound("workspace")
    return member


def readable_runs(
    actor: Actor, workspace: str, project: str, run_ids: list[UUID]
) -> list[Run]:
    """Return runs of a project or of others of its workspace, in the requested order.

    One statement loads them with the fields that affect their points, because clients
    poll charts of many runs.
    """
    found: dict[UUID, Run] = {}
    are_of_project = False
    is_named = _is_slug(workspace) and _is_slug(project)
    if is_named and actor.may_read and actor.grant is None:
        values = [workspace, actor.user_id, actor.workspace_id]
        rows = every_row(READABLE_RUNS, values, run_ids=run_ids)
        found = {run.id: run for run in map(_shaped, rows) if _is_of_key(actor, run)}
        are_of_project = all(row[-1] == project for row in rows)
    if len(found) < len(run_ids) or not are_of_project:
        # Find out whether the project or a run is missing.
        readable_project(actor, workspace, project)
    if len(found) < len(run_ids):
        raise NotFound("run")
    return [found[run_id] for run_id in run_ids]


# Any: column values.
def _shaped(row: tuple[Any, ...]) -> Run:
    run_id, project_id, state, *times, _ = row
    values = (key_read(run_id), project_id, state, *map(moment_read, times))
    return Run.from_db(None, SHAPING_FIELDS, values)


def _is_of_key(actor: Actor, run: Run) -> bool:
    return actor.project_ids is None or run.project_id in actor.project_ids


def runs_of(
    project: Project, run_ids: list[UUID], *, with_trash: bool = False
) -> list[Run]:
    """Return the existing runs of a readable project, in the requested order."""
    return _those(Run.objects.filter(project=project), run_ids, with_trash)


def runs_beside(
    actor: Actor, project: Project, run_ids: list[UUID], *, with_trash: bool = False
) -> list[Run]:
    """Return the readable runs of the workspace with their projects, in order."""
    runs = Run.objects.filter(project__in=projects_in_reach(actor, project))
    return _those(runs.select_related("project"), run_ids, with_trash)


def _those(runs: QuerySet[Run], run_ids: list[UUID], with_trash: bool) -> list[Run]:
    runs = runs.filter(purging_at=None)
    if not with_trash:
        runs = runs.filter(trashed_at=None)
    found = runs.in_bulk(run_ids)
    return [found[run_id] for run_id in run_ids if run_id in found]


# A model with a project.
Thing = TypeVar("Thing", Dashboard, Ladder, Report, Run, SavedView)


def _one(things: QuerySet[Thing], thing_id: UUID, what: str) -> Thing:
    """Return the object with this id and its project; raise NotFound if absent."""
    found = things.filter(id=thing_id).select_related("project__workspace").first()
    if found is None:
        raise NotFound(what)
    return found


def _named(projects: QuerySet[Project], workspace: str, project: str) -> Project:
    if not (_is_slug(workspace) and _is_slug(project)):
        raise NotFound("project")
    named = projects.filter(workspace__slug=workspace, slug=project)
    found = named.select_related("workspace").first()
    if found is None:
        raise NotFound("project")
    return found


def _is_slug(text: str) -> bool:
    # Return whether the text is a slug; PostgreSQL rejects NUL in unchecked input.
    return slug_re.fullmatch(text) is not None

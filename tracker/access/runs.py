"""Checked access to runs: views load every run through these functions.

An absent run and a forbidden one raise the same error.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from tracker.access.projects import (
    is_slug,
    loaded,
    may_edit,
    may_own,
    projects_in_reach,
    readable_project,
    refusal,
)
from tracker.actor import Actor
from tracker.disclosure import is_seen
from tracker.errors import NotFound
from tracker.models import Annotation, Project, Run
from tracker.models.project import ROLE_IN_PROJECT
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


def readable_run(actor: Actor, run_id: UUID) -> Run:
    runs = Run.objects.readable_by(actor).not_in_trash()
    return loaded(runs.select_related("made_by"), run_id, "run")


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
        raise refusal(run.project, "change runs")
    return run


def trashed_run(actor: Actor, run_id: UUID) -> Run:
    """Return a trashed run that the actor may restore."""
    run = loaded(Run.objects.readable_by(actor).in_trash(), run_id, "run in the trash")
    if not may_edit(actor, run.project):
        raise refusal(run.project, "change runs")
    return run


def doomed_run(actor: Actor, run_id: UUID) -> Run:
    """Return a trashed run that the actor may delete permanently."""
    run = trashed_run(actor, run_id)
    if not may_own(actor, run.project):
        raise refusal(run.project, "permanently delete runs")
    return run


def own_annotation(actor: Actor, run_id: UUID, annotation_id: int) -> Annotation:
    """Return an annotation by the actor; project owners may change any."""
    run = editable_run(actor, run_id)
    found = Annotation.objects.filter(run=run, id=annotation_id).first()
    if found is None:
        raise NotFound("annotation")
    if found.author_id != actor.user_id and not may_own(actor, run.project):
        raise refusal(run.project, "change the notes of other members")
    return found


def deleted_annotation(actor: Actor, run_id: UUID, annotation_id: int) -> Annotation:
    """Return an annotation that the actor deleted; project owners may restore any."""
    run = editable_run(actor, run_id)
    deleted = Annotation.with_deleted.filter(deleted_at__isnull=False, run=run)
    found = deleted.filter(id=annotation_id).first()
    if found is None:
        raise NotFound("annotation")
    if found.deleted_by_id != actor.user_id and not may_own(actor, run.project):
        raise refusal(run.project, "restore notes that other members deleted")
    found.run = run
    return found


def comparable_runs(actor: Actor, project: Project, run_ids: list[UUID]) -> list[Run]:
    """Return the runs that the actor may compare, in the requested order.

    They may belong to any project of the workspace; `project` is loaded for each.
    """
    runs = Run.objects.readable_by(actor).not_in_trash()
    runs = runs.filter(project__workspace=project.workspace_id)
    found = runs.select_related("project").in_bulk(run_ids)
    return [found[run_id] for run_id in run_ids if run_id in found]


def readable_runs(
    actor: Actor, workspace: str, project: str, run_ids: list[UUID]
) -> list[Run]:
    """Return runs of a project or of others of its workspace, in the requested order.

    One statement loads them with the fields that affect their points, because clients
    poll charts of many runs.
    """
    found: dict[UUID, Run] = {}
    are_of_project = False
    is_named = is_slug(workspace) and is_slug(project)
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


# Any: column values.
def _shaped(row: tuple[Any, ...]) -> Run:
    run_id, project_id, state, *times, _ = row
    values = (key_read(run_id), project_id, state, *map(moment_read, times))
    return Run.from_db(None, SHAPING_FIELDS, values)


def _is_of_key(actor: Actor, run: Run) -> bool:
    return actor.project_ids is None or run.project_id in actor.project_ids

"""Checked access to what members make: dashboards, reports, ladders, views and rules.

An absent object and a forbidden one raise the same error.
"""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q

from tracker.access.projects import loaded, may_comment, may_edit, may_own, refusal
from tracker.actor import Actor, Scope
from tracker.boards.board import Board, stored
from tracker.boards.frozen import Frozen
from tracker.errors import NotFound
from tracker.models import Dashboard, Ladder, MetricRule, Project, Report, SavedView
from tracker.queries.projects.deletions import MADE, Made, deleted_rows


def readable_ladder(actor: Actor, ladder_id: UUID) -> Ladder:
    return loaded(Ladder.objects.readable_by(actor), ladder_id, "ladder")


def editable_ladder(actor: Actor, ladder_id: UUID) -> Ladder:
    found = readable_ladder(actor, ladder_id)
    if not may_edit(actor, found.project):
        raise refusal(found.project, "change ladders")
    return found


def readable_view(actor: Actor, view_id: UUID) -> SavedView:
    return loaded(SavedView.objects.readable_by(actor), view_id, "view")


def editable_view(actor: Actor, view_id: UUID) -> SavedView:
    """Return one of the actor's own views, or a shared view that they may change."""
    view = readable_view(actor, view_id)
    if not _is_private(actor, view) and not may_edit(actor, view.project):
        raise refusal(view.project, "change shared views")
    return view


def deleted_item(actor: Actor, kind: str, thing_id: UUID) -> Made:
    """Return a deleted object other than a run that the actor may restore.

    The actor needs the same permission as for deleting it.
    """
    if kind not in MADE:
        raise NotFound("kind of thing in the trash")
    found: Made = loaded(deleted_rows(kind, actor), thing_id, f"{kind} in the trash")
    if not _is_private(actor, found) and not may_edit(actor, found.project):
        raise refusal(found.project, f"change {kind}s")
    return found


def purgeable_item(actor: Actor, kind: str, thing_id: UUID) -> Made:
    """Return a deleted object other than a run that the actor may delete permanently."""
    found = deleted_item(actor, kind, thing_id)
    if not _is_private(actor, found) and not may_own(actor, found.project):
        raise refusal(found.project, f"permanently delete {kind}s")
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
        raise refusal(project, "change the rules of other members")
    return found


def readable_dashboard(actor: Actor, dashboard_id: UUID) -> Dashboard:
    dashboards = Dashboard.objects.readable_by(actor).select_related("changed_by")
    dashboard = loaded(dashboards, dashboard_id, "dashboard")
    frozen = frozen_for(actor)
    if frozen is not None:
        dashboard.name, dashboard.changed_at = frozen.name, frozen.saved_at
        dashboard.content = stored(frozen.board or Board())
    return dashboard


def editable_dashboard(actor: Actor, dashboard_id: UUID) -> Dashboard:
    dashboard = readable_dashboard(actor, dashboard_id)
    if not may_edit(actor, dashboard.project):
        raise refusal(dashboard.project, "change dashboards")
    return dashboard


def readable_report(actor: Actor, report_id: UUID) -> Report:
    reports = Report.objects.readable_by(actor)
    reports = reports.select_related("created_by", "changed_by")
    report = loaded(reports, report_id, "report")
    frozen = frozen_for(actor)
    if frozen is not None:
        report.name, report.changed_at = frozen.name, frozen.saved_at
        report.text, report.version = frozen.text, frozen.number
    return report


def editable_report(actor: Actor, report_id: UUID) -> Report:
    report = readable_report(actor, report_id)
    if not may_edit(actor, report.project):
        raise refusal(report.project, "change reports")
    return report

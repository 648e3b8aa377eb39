"""The dashboards of a project."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tracker.boards.board import board_from
from tracker.models import Dashboard

TITLES_SHOWN = 6


@dataclass(frozen=True, slots=True)
class DashboardSummary:
    id: UUID
    name: str
    widget_count: int
    titles: tuple[tuple[str, str], ...]  # kind and title of the first widgets
    changed_at: datetime
    changed_by: str


def dashboard_summaries(project_id: int) -> list[DashboardSummary]:
    """Return a project's dashboards, the last changed first, in one query."""
    dashboards = Dashboard.objects.filter(project_id=project_id).select_related(
        "changed_by"
    )
    return [_summary(each) for each in dashboards.order_by("-changed_at", "id")]


def _summary(dashboard: Dashboard) -> DashboardSummary:
    widgets = board_from(dashboard.content).widgets
    return DashboardSummary(
        id=dashboard.id,
        name=dashboard.name,
        widget_count=len(widgets),
        titles=tuple((each.kind, each.title) for each in widgets[:TITLES_SHOWN]),
        changed_at=dashboard.changed_at,
        changed_by=dashboard.changed_by.username if dashboard.changed_by else "",
    )

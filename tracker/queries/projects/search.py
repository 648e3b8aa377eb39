"""Finds projects, runs, ladders, dashboards and reports by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Model, Q, QuerySet
from django.utils import timezone

from tracker.actor import Actor
from tracker.models import Dashboard, Ladder, Project, Report, Run
from tracker.queries.run.run import silent_for
from tracker.queries.runs.columns import holds

LONGEST_TEXT = 200
MAX_WORDS = 8
SHOWN = 8

# Any: tables whose rows have a name and belong to a project.
MADE: dict[str, Any] = {"ladder": Ladder, "dashboard": Dashboard, "report": Report}

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class ProjectPlace:
    name: str
    slug: str
    workspace_name: str
    workspace_slug: str


@dataclass(frozen=True, slots=True)
class RunPlace:
    id: UUID
    name: str
    state: str
    is_silent: bool  # running, but not responding
    project_name: str


@dataclass(frozen=True, slots=True)
class MadePlace:
    """A ladder, dashboard or report, with the name of its page."""

    kind: str
    id: UUID
    name: str
    project_name: str


def find_projects(actor: Actor, text: str) -> list[ProjectPlace]:
    """Return projects whose name has all words, the newest first."""
    found = _with_words(Project.objects.readable_by(actor), text)
    return [
        ProjectPlace(each.name, each.slug, each.workspace.name, each.workspace.slug)
        for each in found.select_related("workspace").order_by("-id")[:SHOWN]
    ]


def find_runs(actor: Actor, text: str, *, near: int | None) -> list[RunPlace]:
    """Return runs whose name has all words, those of the project `near` first."""
    runs = _with_words(Run.objects.readable_by(actor).not_in_trash(), text)
    rows, now = _near_first(runs.select_related("project"), near), timezone.now()
    return [
        RunPlace(
            each.id,
            each.name,
            each.state,
            silent_for(each, now=now) is not None,
            each.project.name,
        )
        for each in rows.order_by("-is_near", "-created_at", "id")[:SHOWN]
    ]


def find_made(actor: Actor, text: str, *, near: int | None) -> list[MadePlace]:
    """Return ladders, dashboards and reports whose name has all words."""
    found = []
    for kind, model in MADE.items():
        named = _with_words(model.objects.readable_by(actor), text)
        rows = _near_first(named.select_related("project"), near)
        found += [
            MadePlace(kind, each.id, each.name, each.project.name)
            for each in rows.order_by("-is_near", "-created_at", "id")[:SHOWN]
        ]
    return found


def _with_words(rows: QuerySet[Row], text: str) -> QuerySet[Row]:
    # No database stores a NUL character, and PostgreSQL rejects one in a query.
    words = text[:LONGEST_TEXT].replace("\0", " ").split()[:MAX_WORDS]
    for word in words:
        rows = rows.filter(holds("name", word))
    return rows


# Any: rows with an annotation.
def _near_first(rows: Any, near: int | None) -> Any:
    is_near = ExpressionWrapper(Q(project_id=near), output_field=BooleanField())
    return rows.annotate(is_near=is_near)

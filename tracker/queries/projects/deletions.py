"""Deleted ladders, dashboards, reports and views in a project's trash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db.models import (
    BooleanField,
    CharField,
    ExpressionWrapper,
    Q,
    QuerySet,
    Value,
)

from tracker.actor import Actor
from tracker.models import Dashboard, Ladder, Project, Report, SavedView
from tracker.queries.projects.trash import kept_until

Made = Ladder | Dashboard | Report | SavedView
# The models by kind. Any: their tables have a name, belong to a project and are hidden
# before they are purged.
MADE: Mapping[str, Any] = MappingProxyType(
    {"ladder": Ladder, "dashboard": Dashboard, "report": Report, "view": SavedView}
)


@dataclass(frozen=True, slots=True)
class DeletedThing:
    """`deleted_by` is empty if the account is deleted.

    `is_private` is true for a view that was not shared.
    """

    kind: str
    id: UUID
    name: str
    deleted_at: datetime
    deleted_by: str
    is_private: bool

    @property
    def deleted_after(self) -> datetime:
        return kept_until(self.deleted_at)


@dataclass(frozen=True, slots=True)
class DeletedPage:
    """A page of deleted objects, the last deleted first."""

    total: int
    things: list[DeletedThing]


def deleted_page(
    project: Project, actor: Actor, *, offset: int, limit: int
) -> DeletedPage:
    """Return objects that the actor could read; private views of other users are excluded."""
    tables = [
        _rows(deleted_rows(kind, actor).filter(project=project), kind) for kind in MADE
    ]
    every = tables[0].union(*tables[1:], all=True)
    some = every.order_by("-deleted_at", "id")[offset : offset + limit]
    return DeletedPage(
        total=every.count(),
        things=[
            DeletedThing(kind, thing_id, name, deleted_at, by or "", is_private)
            for kind, thing_id, name, deleted_at, by, is_private in some
        ],
    )


def deleted_rows(kind: str, actor: Actor) -> Any:
    """Return deleted objects of a kind that the actor could read before."""
    return MADE[kind].with_deleted.readable_by(actor).filter(deleted_at__isnull=False)


# Any: rows of tuples.
def _rows(rows: QuerySet[Any], kind: str) -> Any:
    is_private = Q(is_shared=False) if kind == "view" else Value(False)
    annotated = rows.annotate(
        kind=Value(kind, output_field=CharField()),
        is_private=ExpressionWrapper(is_private, output_field=BooleanField()),
    )
    return annotated.values_list(
        "kind", "id", "name", "deleted_at", "deleted_by__username", "is_private"
    )

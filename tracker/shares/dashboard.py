"""Share links to a dashboard and its widgets, without the pages of its runs."""

from __future__ import annotations

from collections.abc import Collection

from django.urls import reverse

from tracker.errors import NotFound
from tracker.models import Dashboard, Project
from tracker.shares.kind import Chosen, Kind, Shared, as_id, things_of


def choose(project: Project, of: str) -> Chosen:
    found = Dashboard.objects.filter(project=project, id=as_id(of, "dashboard"))
    if not found.exists():
        raise NotFound("dashboard")
    return Chosen(str(as_id(of, "dashboard")))


def read(project: Project, chosen: Collection[Chosen]) -> dict[str, Shared]:
    dashboards = Dashboard.objects.filter(project=project, id__in=things_of(chosen))
    return {
        str(dashboard_id): Shared(name, {"dashboard": frozenset({dashboard_id})})
        for dashboard_id, name in dashboards.values_list("id", "name")
    }


def address(_project: Project, shared: Shared, _query: str) -> str:
    (dashboard_id,) = shared.things["dashboard"]
    return reverse("dashboard", args=[dashboard_id])


DASHBOARD = Kind(
    name="dashboard",
    noun="dashboard",
    contents="The content of its widgets, and nothing else of their runs. Names, titles"
    " and text are shown as written.",
    choose=choose,
    read=read,
    address=address,
    can_freeze=True,
)

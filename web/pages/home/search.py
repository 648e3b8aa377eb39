"""Search results of the command palette, as JSON."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from tracker.access.projects import readable_project
from tracker.errors import NotFound
from tracker.queries.projects.search import (
    MadePlace,
    find_made,
    find_projects,
    find_runs,
)
from web.session import PageRequest, signed_in
from web.texts import gettext_lazy

PAGES = {
    "runs": gettext_lazy("Runs"),
    "compare": gettext_lazy("Compare"),
    "ladders": gettext_lazy("Ladders"),
    "dashboards": gettext_lazy("Dashboards"),
    "reports": gettext_lazy("Reports"),
    "gpu-hours": gettext_lazy("GPU hours"),
    "alerts": gettext_lazy("Alerts"),
    "trash": gettext_lazy("Trash"),
    "project-settings": gettext_lazy("Settings"),
    "rule-settings": gettext_lazy("Rule limits"),
}
ACCOUNT = {"projects": gettext_lazy("All projects"), "keys": gettext_lazy("API keys")}


@require_safe
@signed_in
def places(request: PageRequest) -> HttpResponse:
    """Answer the pages and other items whose names match `q`."""
    actor, text = request.actor, request.GET.get("q", "").strip()
    project = _project(request)
    near = project.id if project else None
    found = [
        *(_page(name, label, project) for name, label in PAGES.items() if project),
        *_projects(find_projects(actor, text)),
        # Without a word, the newest of thousands are as good as none.
        *((_run(run) for run in find_runs(actor, text, near=near)) if text else ()),
        *((_made(each) for each in find_made(actor, text, near=near)) if text else ()),
        *(_place("action", label, "", name) for name, label in ACCOUNT.items()),
        {
            "kind": "action",
            "label": "API",
            "hint": gettext("documentation"),
            "url": "/api/v1/docs",
        },
    ]
    body = orjson.dumps({"places": found})
    return HttpResponse(body, content_type="application/json")


# Any: a row of the projects table, which pages do not import.
def _project(request: PageRequest) -> Any:
    """Return the project of the open page; None without one or if it was deleted."""
    workspace, project = (
        request.GET.get("workspace", ""),
        request.GET.get("project", ""),
    )
    if not project:
        return None
    try:
        return readable_project(request.actor, workspace, project)
    except NotFound:
        return None


def _page(name: str, label: str, project: Any) -> dict[str, str]:
    return _place(
        "page", label, project.name, name, project.workspace.slug, project.slug
    )


def _projects(found: list[Any]) -> list[dict[str, str]]:
    """Name the workspace of each where there are several."""
    names_workspace = len({each.workspace_slug for each in found}) > 1
    return [
        _place(
            "project",
            each.name,
            each.workspace_name if names_workspace else "",
            "runs",
            each.workspace_slug,
            each.slug,
        )
        for each in found
    ]


def _run(run: Any) -> dict[str, str]:
    state = gettext("not responding") if run.is_silent else run.state
    return _place("run", run.name, f"{run.project_name}, {state}", "run", run.id)


def _made(place: MadePlace) -> dict[str, str]:
    return _place(place.kind, place.name, place.project_name, place.kind, place.id)


def _place(
    kind: str, label: str, hint: str, name: str, *arguments: object
) -> dict[str, str]:
    address = reverse(name, args=arguments)
    return {"kind": kind, "label": str(label), "hint": hint, "url": address}

"""The first page: the projects and what goes on in them."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tracker.queries.projects import project_summaries
from web.session import PageRequest, signed_in
from web.snippets import first_run


@require_safe
@signed_in
def projects_page(request: PageRequest) -> HttpResponse:
    projects = project_summaries(request.actor)
    context = {
        "projects": projects,
        "shows_workspaces": len({project.workspace_slug for project in projects}) > 1,
        "snippet": first_run("my-project"),
    }
    return render(request, "projects/projects.html", context)

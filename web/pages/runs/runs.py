"""The runs of a project: the page, and the blocks of rows for its table."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from tracker.access.projects import may_edit, readable_project
from tracker.actions.runs.many_runs import MAX_RUNS
from tracker.queries.compare.comparison import RUNS_AT_MOST
from tracker.queries.compare.values import OWN_DIMENSIONS
from tracker.queries.runs.column_search import search_columns
from tracker.queries.runs.newest_runs import makers_of, project_tags
from tracker.queries.runs.saved_views import saved_views
from tracker.queries.runs.table import has_runs
from tracker.server.etags import is_held
from web.cached_rows import rows_answer, version_of
from web.numbers import whole_number
from web.pages.charts.arrangement import SIZES
from web.pages.compare.frame import COLOUR_NAMES
from web.pages.compare.state import AXES, SMOOTHERS, read_state
from web.pages.home.first_run import first_run_context
from web.pages.runs.blocks import asked_block, asked_groups, first_groups
from web.pages.runs.table_state import CHARTS, says_nothing, with_view
from web.polling import wait_answer
from web.session import PageRequest, signed_in
from web.templatetags.people import avatar_of

FILTER_FIELDS = ("state", "tag", "by")


@require_safe
@signed_in
def runs(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = readable_project(request.actor, workspace, project)
    if request.htmx:
        # A page without runs waits for the first.
        return wait_answer(is_there=has_runs(found.id))
    views = saved_views(found, request.actor)
    view = _view(views, request.GET)
    asked = with_view(request.GET, view.state if view else "")
    may_change = may_edit(request.actor, found)
    is_own = view is not None and view.owner_id == request.actor.user_id
    block = asked_block(found.id, asked, offset=0)
    makers = makers_of(found.id)
    tags = project_tags(found.id)
    context = {
        "project": found,
        "tab": "runs",
        "may_edit": may_change,
        "filter": asked,
        "first_block": {**block, "tag": f'"{version_of(block)}"'},
        "first_groups": first_groups(found.id, asked),
        "table": {
            "kept": view.state if view else "",
            "view": str(view.id) if view else "",
            "hasDefault": any(each.is_default for each in views),
        },
        "view": view,
        "may_change_view": view is not None
        and (may_change or (is_own and not view.is_shared)),
        "views": views,
        "own_id": request.actor.user_id,
        "is_view_gone": bool(request.GET.get("view")) and view is None,
        "tags": tags,
        "avatars": {each.username: avatar_of(each) for each in makers},
        # Filters with separate parameters, from older addresses and views.
        "filter_fields": [(name, asked.get(name, "")) for name in FILTER_FIELDS],
        "known_values": {
            "tags": tags,
            "made_by": sorted(
                (each.username for each in makers),
                key=lambda username: username != request.user.get_username(),
            ),
        },
        "is_charts": asked.get("as") == CHARTS,
        "runs_at_most": RUNS_AT_MOST,
        "changed_at_most": MAX_RUNS,
        "axes": AXES.items(),
        "smoothers": SMOOTHERS.items(),
        "sizes": SIZES,
        "state": read_state(asked),
        "colour_names": COLOUR_NAMES,
        "own_dimensions": " ".join(OWN_DIMENSIONS),
        "paths_url": reverse("api-v1:read_attribute_paths", args=[workspace, project]),
    }
    if not context["first_block"]["total"]:
        context |= first_run_context(
            request.actor, project=found.slug, workspace=workspace
        )
        # An archived project takes no runs; guests can be members of this project.
        context["may_log"] = may_change
    return render(request, "runs/runs.html", context)


@require_safe
@signed_in
def runs_json(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Return the rows of a block that the browser lacks, or 304."""
    found = readable_project(request.actor, workspace, project)
    offset = whole_number(request.GET.get("offset", "0"), "offset")
    return rows_answer(request, asked_block(found.id, request.GET, offset=offset))


@require_safe
@signed_in
def groups_json(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer the groups of the table's runs, or 304."""
    found = readable_project(request.actor, workspace, project)
    return _fresh(request, asked_groups(found.id, request.GET))


@require_safe
@signed_in
def columns_json(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Return attributes for columns, by a part of their paths."""
    found = readable_project(request.actor, workspace, project)
    rows = search_columns(found.id, request.GET.get("search", "").strip())
    return _fresh(request, {"paths": [[row.path, row.kind] for row in rows]})


# Any: a row of the views table; pages do not import tables.
def _view(views: list[Any], asked: QueryDict) -> Any:
    """Return the view in the address, or the project's default view."""
    if says_nothing(asked):
        return next((view for view in views if view.is_default), None)
    named = asked.get("view", "")
    return next((view for view in views if str(view.id) == named), None)


def _fresh(request: HttpRequest, content: dict[str, Any]) -> HttpResponse:
    body = orjson.dumps(content)
    version = hashlib.sha256(body).hexdigest()[:32]
    headers = {"ETag": f'"{version}"'}
    if is_held(request, version):
        return HttpResponseNotModified(headers=headers)
    return HttpResponse(body, content_type="application/json", headers=headers)

"""The runs of a project: the page, and the blocks of rows its table asks for."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson
from django.http import HttpResponse, HttpResponseNotModified, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from tracker.access import may_edit, readable_project
from tracker.errors import InvalidInput
from tracker.queries.attributes import AttributeRow
from tracker.queries.diagnoses import MainFinding
from tracker.queries.run_filter import InvalidQuery, RunFilter, read_query
from tracker.queries.run_order import PATH_MARK, RunOrder
from tracker.queries.runs import (
    RunRow,
    changed_params,
    metric_paths,
    project_tags,
    runs_page,
)
from web.session import PageRequest, signed_in
from web.snippets import first_run
from web.templatetags.format import LARGEST_EXACT, number

BLOCK = 100
STATES = ("running", "finished", "failed", "crashed", "preempted")
OFFSET_DIGITS = 9


@require_safe
@signed_in
def runs(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = readable_project(request.actor, workspace, project)
    first_block = _asked_block(found.id, request.GET, offset=0)
    context = {
        "project": found,
        "tab": "runs",
        "may_edit": may_edit(request.actor, found),
        "filter": request.GET,
        "first_block": first_block,
        "states": STATES,
        "tags": project_tags(found.id),
        "snippet": first_run(found.slug),
        "paths_url": reverse("api-v1:read_attribute_paths", args=[workspace, project]),
    }
    return render(request, "runs/runs.html", context)


@require_safe
@signed_in
def runs_json(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer one block of rows, or 304 when it is what the browser has."""
    found = readable_project(request.actor, workspace, project)
    block = _asked_block(found.id, request.GET, offset=_offset(request.GET))

    body = orjson.dumps(block)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    if request.headers.get("If-None-Match") == tag:
        return HttpResponseNotModified(headers={"ETag": tag})
    return HttpResponse(body, content_type="application/json", headers={"ETag": tag})


def _asked_block(project_id: int, query: QueryDict, *, offset: int) -> dict[str, Any]:
    """Return the rows asked for, or the mistake in the query and no rows.

    A query that is being typed is full of mistakes, and none of them is an error.
    """
    order = _order(query)
    wanted = RunFilter(
        text=query.get("q", "").strip(),
        state=query.get("state", ""),
        tag=query.get("tag", ""),
    )
    try:
        wanted = replace(wanted, query=read_query(query.get("query", "")))
    except InvalidQuery as error:
        mistake = {
            "message": error.reason,
            "position": error.position,
            "length": error.length,
        }
        return {
            **_block(project_id, wanted, order, offset=0, limit=0),
            "matching": 0,
            "mistake": mistake,
        }
    return _block(project_id, wanted, order, offset=offset)


def _order(query: QueryDict) -> RunOrder:
    """Read the order; "-started" is started, descending."""
    sort = query.get("sort", "") or "-started"
    return RunOrder(sort.removeprefix("-"), is_descending=sort.startswith("-"))


def _offset(query: QueryDict) -> int:
    text = query.get("offset", "0")
    if not (text.isascii() and text.isdigit() and len(text) <= OFFSET_DIGITS):
        raise InvalidInput("offset", "must be a whole number")
    return int(text)


def _block(
    project_id: int,
    wanted: RunFilter,
    order: RunOrder,
    *,
    offset: int,
    limit: int = BLOCK,
) -> dict[str, Any]:
    metrics, params = metric_paths(project_id), changed_params(project_id)
    page = runs_page(
        project_id,
        wanted=wanted,
        order=order,
        paths=[*metrics, *params],
        offset=offset,
        limit=limit,
    )
    return {
        "offset": offset,
        "total": page.total,
        "matching": page.matching,
        "columns": [
            *({"key": PATH_MARK + path, "kind": "metric"} for path in metrics),
            *({"key": PATH_MARK + path, "kind": "param"} for path in params),
        ],
        "rows": [_row(row) for row in page.rows],
    }


def _row(row: RunRow) -> dict[str, Any]:
    """Present a run as JSON; lists rather than maps, so that no path is a key."""
    return {
        "id": str(row.id),
        "url": reverse("run", args=[row.id]),
        "name": row.name,
        "state": row.state,
        "started": _milliseconds(row.started_at),
        "ended": _milliseconds(row.ended_at),
        "stages": row.stages,
        "tags": row.tags,
        "finding": _finding(row.main_finding),
        "gpu": row.gpu_percent,
        "cpu": row.cpu_percent,
        "values": [_value(value) for value in row.values],
    }


def _finding(finding: MainFinding | None) -> dict[str, str] | None:
    if finding is None:
        return None
    return {"severity": finding.severity, "title": finding.title}


def _value(row: AttributeRow | None) -> Any:
    """Return what a cell shows: null where the run has no such attribute."""
    value = None if row is None else row.value
    if isinstance(value, datetime):
        return {"time": _milliseconds(value)}
    # JSON has no word for NaN, and a browser's numbers skip large integers.
    if isinstance(value, float) and not math.isfinite(value):
        return {"special": number(value)}
    if isinstance(value, int) and abs(value) > LARGEST_EXACT:
        return {"special": number(value)}
    return value


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1_000)

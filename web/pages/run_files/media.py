"""A run's media: pictures, sounds, videos, tables and figures, step by step."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from tracker.access.projects import may_edit
from tracker.access.runs import readable_run
from tracker.errors import NotFound
from tracker.files import downloads
from tracker.queries.run.files import FileRow, read_file
from tracker.queries.run.media import (
    MAX_STEPS,
    list_media,
    media_at,
    media_row,
    media_steps,
)
from tracker.queries.run.run import may_go_on, may_resume
from web.pages.charts.chart_options import named_path
from web.pages.run.frame import news_of, run_frame
from web.pages.run_files.media_items import (
    HTML,
    POINTS,
    Panel,
    items_of,
    sections_of,
    steps_json,
)
from web.polling import poll_answer, poll_unless, seconds_between
from web.session import PageRequest, signed_in
from web.snippets import FIRST_PICTURES

MAX_PANELS = 100
ITEMS_ON_PAGE = 24
POLL_SECONDS = 10
# A head of 20 bytes, and 100,000 points with values.
POINTS_BYTES = 20 + 100_000 * 16
HTML_BYTES = 8 * 1024 * 1024
# Scripts run without the origin of the pages, and nothing is loaded from a network.
HTML_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline';"
    " style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:;"
    " font-src data:; frame-ancestors 'self'"
)


@require_safe
@signed_in
def media(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    if not request.htmx:
        context = {**_context(request, run), **run_frame(request, run, "media")}
        return render(request, "run/media.html", context)
    return poll_unless(
        request,
        news_of(request, run),
        lambda: render_to_string(
            "run/media_body.html", _context(request, run), request
        ),
    )


# Any: a row of the runs table, and a template's context.
def _context(request: PageRequest, run: Any) -> dict[str, Any]:
    search = request.GET.get("search", "").strip()
    rows = list_media(run)
    needle = search.casefold()
    found = [row for row in rows if needle in row.path.casefold()]
    shown = found[:MAX_PANELS]
    steps = sorted({*chain.from_iterable(media_steps(run, shown).values())})
    step = _step(request)
    return {
        "run": run,
        "sections": sections_of(
            Panel(row.path, _address(run, "run-media-panel", row.path)) for row in shown
        ),
        "has_media": bool(rows),
        "count": len(found),
        "most": MAX_PANELS,
        "search": search,
        "steps": steps[-MAX_STEPS:],
        "steps_json": steps_json(steps[-MAX_STEPS:]),
        "step": step,
        "step_text": "" if step is None else f"{step:.15g}",
        "again": _again(run),
        "may_go_on": may_go_on(run),
        "may_resume": may_resume(run),
        "may_edit": SimpleLazyObject(lambda: may_edit(request.actor, run.project)),
        "first_pictures": FIRST_PICTURES,
    }


@require_safe
@signed_in
def media_panel(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Return one path's items at a step, or the nearest step before it."""
    run = readable_run(request.actor, run_id)
    row = media_row(run, named_path(request.GET))
    requested = _step(request)
    found = media_at(run, row, math.inf if requested is None else requested)
    items = items_of(found.items)
    page = min(_page(request), max(0, (len(items) - 1) // ITEMS_ON_PAGE))
    first = page * ITEMS_ON_PAGE
    steps = media_steps(run, [row]).get(row.path, [])
    context = {
        "run": run,
        "panel": Panel(row.path, _address(run, "run-media-panel", row.path)),
        "items": items[first : first + ITEMS_ON_PAGE],
        "item_count": len(items),
        "first": first + 1,
        "last": min(first + ITEMS_ON_PAGE, len(items)),
        "previous": page - 1 if page else None,
        "next": page + 1 if first + ITEMS_ON_PAGE < len(items) else None,
        "at": found.step,
        "place": sum(found.step is not None and step <= found.step for step in steps)
        - 1,
        "begins": steps[0] if steps else None,
        "steps": steps,
        "steps_json": steps_json(steps),
        "step_text": "" if requested is None else f"{requested:.15g}",
        "again": _again(run),
    }
    text = render_to_string("run/_media_panel.html", context, request)
    return poll_answer(request, text)


@require_safe
@signed_in
def media_file(request: PageRequest, run_id: UUID) -> HttpResponseBase:
    """Return a range of a sound or video."""
    run = readable_run(request.actor, run_id)
    row = read_file(run, named_path(request.GET), request.GET.get("digest", ""))
    return downloads.recording(request, row)


@require_safe
@xframe_options_exempt
@signed_in
def media_html(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Return stored HTML for a sandboxed frame."""
    run = readable_run(request.actor, run_id)
    row = read_file(run, named_path(request.GET), request.GET.get("digest", ""))
    return html_answer(row)


def html_answer(row: FileRow) -> HttpResponse:
    """Return stored HTML with a policy that isolates it."""
    if row.media_type != HTML or row.size > HTML_BYTES:
        raise NotFound("HTML")
    text = downloads.beginning(row, HTML_BYTES).decode("utf-8", "replace")
    headers = {
        "Content-Security-Policy": HTML_POLICY,
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    return HttpResponse(text, headers=headers)


@require_safe
@signed_in
def media_points(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Return a point cloud for the viewer."""
    run = readable_run(request.actor, run_id)
    digest = request.GET.get("digest", "")
    return points_answer(read_file(run, named_path(request.GET), digest))


def points_answer(row: FileRow) -> HttpResponse:
    """Return the bytes of a point cloud, which the viewer checks."""
    if row.media_type != POINTS or row.size > POINTS_BYTES:
        raise NotFound("point cloud")
    data = downloads.beginning(row, POINTS_BYTES)
    headers = {
        "Content-Disposition": "inline",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": f"private, max-age={downloads.PICTURE_SECONDS}",
    }
    return HttpResponse(data, "application/octet-stream", headers=headers)


# Any: as above.
def _address(run: Any, route: str, path: str) -> str:
    return f"{reverse(route, args=[run.id])}?{urlencode({'path': path})}"


# Any: as above.
def _again(run: Any) -> int:
    return seconds_between(POLL_SECONDS, soon=may_go_on(run), seldom=may_resume(run))


def _step(request: PageRequest) -> float | None:
    """Return the requested step; None for the last one."""
    try:
        step = float(request.GET.get("step", ""))
    except ValueError:
        return None
    return step if math.isfinite(step) else None


def _page(request: PageRequest) -> int:
    text = request.GET.get("page", "")
    return int(text[:6]) if text.isascii() and text.isdigit() else 0

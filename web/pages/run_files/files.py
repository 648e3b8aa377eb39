"""A run's files: a tree, an image gallery, and a preview pane."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.functional import SimpleLazyObject
from django.utils.http import content_disposition_header
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from tracker.access.projects import may_edit
from tracker.access.runs import readable_run
from tracker.errors import InvalidInput, NotFound
from tracker.files import downloads
from tracker.files.pictures import Picture
from tracker.queries.run.files import (
    FileRow,
    file_paths,
    file_totals,
    files_at,
    picture_candidates,
    read_file,
)
from tracker.queries.run.run import may_go_on, may_resume
from tracker.queries.series.records import picture_steps
from web.pages.charts.standalone import figure_page
from web.pages.run.frame import news_of, run_frame
from web.pages.run_files.attribute_tree import (
    MAX_SHOWN,
    found_level,
    level_below,
    trail,
)
from web.pages.run_files.previews import (
    FIGURE_BYTES,
    MAX_BYTES,
    Kind,
    Preview,
    figure,
    is_figure,
    preview,
)
from web.polling import poll_answer, poll_unless
from web.session import PageRequest, signed_in
from web.snippets import FIRST_FILES, download_file

PICTURES_ON_PAGE = 60
STEPS_ON_PAGE = 1_000
# A file that is only saved.
SANDBOX = "default-src 'none'; sandbox; frame-ancestors 'none'"


@dataclass(frozen=True, slots=True)
class Shown:
    """A file with its preview."""

    row: FileRow
    preview: Preview
    picture: Picture | None = None
    # Steps and digests of a series of pictures.
    steps: tuple[tuple[float, str], ...] = ()

    @property
    def steps_json(self) -> str:
        return json.dumps(self.steps)

    @property
    def last_step(self) -> int:
        return len(self.steps) - 1


@require_safe
@signed_in
def files(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    is_gallery = request.GET.get("view") == "gallery"
    if request.htmx and (is_gallery or {"open", "whole"} & request.GET.keys()):
        return _again(request, run, is_gallery=is_gallery)
    if request.htmx:
        return render(request, "run/files_level.html", _level(request, run))
    context = _context(request, run, is_gallery=is_gallery)
    return render(request, "run/files.html", context)


# Any: a row of the runs table; pages do not import tables.
def _again(request: PageRequest, run: Any, *, is_gallery: bool) -> HttpResponse:
    """Answer a part that refreshes itself: the whole tab, its tree or its gallery."""
    totals = file_totals(run)

    def drawn() -> str:
        if "whole" in request.GET:
            context = _context(request, run, is_gallery=is_gallery)
            return render_to_string("run/files_body.html", context, request)
        found = _pictures(request, run) if is_gallery else _level(request, run)
        context = {
            **found,
            **_life(run),
            "totals": totals,
            "is_poll": True,
            "may_edit": SimpleLazyObject(lambda: may_edit(request.actor, run.project)),
        }
        template = "run/files_gallery.html" if is_gallery else "run/files_tree.html"
        return render_to_string(template, context, request)

    return poll_unless(request, (news_of(request, run), totals), drawn)


# Any: as above, and a template's context.
def _context(request: PageRequest, run: Any, *, is_gallery: bool) -> dict[str, Any]:
    path = "" if is_gallery else _plain(request, "path")
    found = _pictures(request, run) if is_gallery else _level(request, run)
    return {
        **found,
        **_life(run),
        "totals": file_totals(run),
        "first_files": FIRST_FILES,
        "is_gallery": is_gallery,
        "whole_address": "?whole=1" + ("&view=gallery" if is_gallery else ""),
        "shown": _shown(run, read_file(run, path)) if path else None,
        "snippet": _snippet(run, path) if path else "",
        **run_frame(request, run, "files"),
    }


# Any: as above.
def _life(run: Any) -> dict[str, bool]:
    return {"may_go_on": may_go_on(run), "may_resume": may_resume(run)}


# Any: as above.
def _level(request: PageRequest, run: Any) -> dict[str, Any]:
    prefix, after = _plain(request, "prefix"), request.GET.get("after", "")
    search = request.GET.get("search", "").strip()
    paths = file_paths(run, prefix)
    if search:
        needle = search.casefold()
        matching = [path for path in paths if needle in path.casefold()]
        level = found_level(matching, after=after)
    else:
        opened = frozenset(request.GET.getlist("open"))
        level = level_below(paths, prefix, after=after, opened=opened)
    query = {"prefix": prefix, "search": search, "after": level.after}
    return {
        "run": run,
        "level": level.filled(files_at(run, level.paths)),
        "prefix": prefix,
        "search": search,
        "trail": trail(prefix),
        "is_part": bool(prefix or after),
        "following": urlencode({name: text for name, text in query.items() if text}),
        "next_count": min(level.hidden, MAX_SHOWN),
    }


@require_safe
@signed_in
def file_preview(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Return the content of one file, for the pane next to the tree."""
    run = readable_run(request.actor, run_id)
    path = _plain(request, "path")
    context = {
        "run": run,
        "shown": _shown(run, read_file(run, path)),
        "snippet": _snippet(run, path),
    }
    # The pane refreshes until the upload is complete.
    text = render_to_string("run/file_preview.html", context, request)
    return poll_answer(request, text)


@require_safe
@signed_in
def file_picture(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Return a picture to be shown, recognized as one by its bytes."""
    run = readable_run(request.actor, run_id)
    row = read_file(run, _plain(request, "path"), request.GET.get("digest", ""))
    return downloads.picture(row)


@require_safe
@signed_in
def file_figure(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Return the Plotly figure of a file."""
    run = readable_run(request.actor, run_id)
    row = read_file(run, _plain(request, "path"), _plain(request, "digest"))
    return figure_answer(row)


def figure_answer(row: FileRow) -> HttpResponse:
    """Return a stored Plotly figure as JSON, or the reason why there is none."""
    if row.size > FIGURE_BYTES:
        return JsonResponse(
            {"note": gettext("The figure is too large to display. Download the file.")}
        )
    drawn, note = figure(downloads.beginning(row, FIGURE_BYTES))
    return JsonResponse({"figure": drawn or None, "note": note})


@require_safe
@signed_in
def file_html(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Return a figure as one HTML file, to be saved."""
    run = readable_run(request.actor, run_id)
    row = read_file(run, _plain(request, "path"))
    if row.size > FIGURE_BYTES:
        raise InvalidInput("figure", f"is larger than {FIGURE_BYTES:,} bytes")
    page = figure_page(downloads.beginning(row, FIGURE_BYTES), row.path)
    name = row.path.rpartition("/")[2] or "figure"
    disposition = content_disposition_header(True, f"{name}.html")
    headers = {"Content-Disposition": disposition, "Content-Security-Policy": SANDBOX}
    return HttpResponse(page, headers=headers)


# Any: as above.
def _pictures(request: PageRequest, run: Any) -> dict[str, Any]:
    cursor = _plain(request, "cursor")
    page = picture_candidates(run, cursor=cursor, limit=PICTURES_ON_PAGE)
    pictures = [
        Shown(row, Preview(Kind.PICTURE), found)
        for row in page.files
        if (found := downloads.picture_of(row))
    ]
    return {
        "run": run,
        "pictures": pictures,
        "next": urlencode({"view": "gallery", "cursor": page.next})
        if page.next
        else "",
    }


# Any: as above.
def _shown(run: Any, row: FileRow) -> Shown:
    if not row.is_stored:
        return Shown(row, Preview(Kind.NOTHING))
    try:
        found = downloads.picture_of(row)
        if found is not None:
            steps = tuple(picture_steps(run, row.path, STEPS_ON_PAGE))
            if steps:
                row = read_file(run, row.path, steps[-1][1])
            return Shown(row, Preview(Kind.PICTURE), found, steps)
        if is_figure(row.name, row.media_type):
            return Shown(row, Preview(Kind.FIGURE))
        head = downloads.beginning(row, MAX_BYTES)
    except NotFound:
        return Shown(row, Preview(Kind.NOTHING))
    return Shown(row, preview(row.name, head, is_whole=len(head) == row.size))


# Any: as above.
def _snippet(run: Any, path: str) -> str:
    return download_file(run.name, run.project.slug, path)


def _plain(request: PageRequest, name: str) -> str:
    text = request.GET.get(name, "")
    return "" if "\0" in text else text

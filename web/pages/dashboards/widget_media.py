"""Files of runs in media widgets, for visitors by share link, who cannot open the runs.

The path is that of the widget and the run one of its runs, so that no address can
select another file.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from tracker.actor import Part
from tracker.boards.board import RunSet, Widget
from tracker.errors import NotFound
from tracker.files import downloads
from tracker.queries.run.files import FileRow, read_file
from web.pages.dashboards.widget_drawing import Audience, scene_of
from web.pages.run_files.files import figure_answer
from web.pages.run_files.media import html_answer, points_answer
from web.pages.run_files.media_tables import csv_of_table, table_answer
from web.widgets import media


def medium_answer(
    request: HttpRequest,
    widget: Widget | None,
    run_set: RunSet,
    audience: Audience,
    *,
    run_id: UUID,
    form: str,
) -> HttpResponseBase:
    """Send a file that a media widget shows, in a form of `media_items.ROUTES`."""
    if widget is None or widget.kind != media.KIND.name or audience.medium is None:
        raise NotFound("widget")
    row = _file(request, widget, run_set, audience, run_id)
    if form in ANSWERS:
        return ANSWERS[form](row)
    if form == "recording":
        return downloads.recording(request, row)
    if form != "table":
        raise NotFound("file")
    query = urlencode({"digest": row.digest})
    address, csv_address = (
        f"{audience.medium(widget.id, run_id, each)}?{query}"
        for each in ("table", "csv")
    )
    return table_answer(request, row, address, csv_address)


def _framed_html(row: FileRow) -> HttpResponse:
    response = html_answer(row)
    # Its own policy isolates it in the frame; Django has no type for this attribute.
    setattr(response, "xframe_options_exempt", True)  # noqa: B010
    return response


ANSWERS: dict[str, Callable[[FileRow], HttpResponseBase]] = {
    "picture": downloads.picture,
    "html": _framed_html,
    "figure": figure_answer,
    "points": points_answer,
    "csv": csv_of_table,
}


def _file(
    request: HttpRequest,
    widget: Widget,
    run_set: RunSet,
    audience: Audience,
    run_id: UUID,
) -> FileRow:
    if not audience.actor.sees(Part.FILES):
        raise NotFound("file")
    runs = scene_of(widget, run_set, audience).runs
    run = next((each for each in runs if each.id == run_id), None)
    if run is None:
        raise NotFound("run")
    path, digest = widget.settings.get("path", ""), request.GET.get("digest", "")
    return read_file(run, str(path), digest)

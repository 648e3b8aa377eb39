"""Files of runs in media widgets, for visitors by share link, who cannot open the runs.

The path is that of the widget and the run one of its runs, so that no address can
select another file.
"""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase

from tracker.actor import Part
from tracker.boards.board import RunSet, Widget
from tracker.errors import NotFound
from tracker.files import downloads
from tracker.queries.run.files import FileRow, read_file
from web.pages.dashboards.widget_drawing import Audience, scene_of
from web.pages.run_files.files import figure_answer
from web.pages.run_files.media import html_answer
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
    match form:
        case "picture":
            return downloads.picture(row)
        case "recording":
            return downloads.recording(request, row)
        case "figure":
            return figure_answer(row)
        case "csv":
            return csv_of_table(row)
        case "html":
            response = html_answer(row)
            # Its own policy isolates it in the frame.
            response.xframe_options_exempt = True
            return response
        case "table":
            query = urlencode({"digest": row.digest})
            address, csv_address = (
                f"{audience.medium(widget.id, run_id, form)}?{query}"
                for form in ("table", "csv")
            )
            return table_answer(request, row, address, csv_address)
    raise NotFound("file")


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

"""Pictures, texts, histograms and files of compared runs, side by side by path.

The page has an empty row for each path. A row loads when it becomes visible, with the
content of all runs at the slider's step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from tracker.disclosure import seen_by
from tracker.errors import NotFound
from tracker.queries.compare.media import around, media_at, media_paths
from web.pages.charts.chart_options import named_path
from web.pages.compare.frame import Comparison, read_comparison
from web.pages.compare.media_cells import cells_of, slider_of
from web.pages.compare.values import fields_but
from web.pages.reports.blocks import key_of
from web.pages.run_files.logs import is_named_log
from web.pages.runs.path_search import find_paths
from web.polling import poll_answer, seconds_between
from web.session import PageRequest, signed_in
from web.snippets import FIRST_MEDIA

# With more rows, use the filter.
MAX_ROWS = 100
# Each refresh reads the content of all runs.
AGAIN_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Row:
    path: str
    address: str

    @property
    def key(self) -> str:
        return key_of(self.path)


def media_context(comparison: Comparison) -> dict[str, Any]:
    state = comparison.state
    runs = [run.id for run in comparison.runs]
    every = {
        path: steps
        for path, steps in media_paths(runs, seen_by(comparison.actor)).items()
        if not is_named_log(path)
    }
    found = find_paths(every, state.text, is_regex=state.regex)
    shown = found.paths[:MAX_ROWS]
    return {
        "rows": [Row(path, _row_address(comparison, path)) for path in shown],
        "row_count": len(found.paths),
        "rows_at_most": MAX_ROWS,
        "has_media": bool(every),
        "again": _again(comparison),
        "mistake": found.mistake,
        "slider": slider_of(around([every[path] for path in shown])),
        "hidden_fields": fields_but(comparison, "text", "regex", "at"),
        "media_snippet": FIRST_MEDIA,
    }


@require_safe
@signed_in
def compare_media(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Return one row: the content of each shown run at a path."""
    path = named_path(request.GET)
    comparison = read_comparison(request, workspace, project)
    step = math.inf if comparison.state.at is None else comparison.state.at
    media = media_at(comparison.runs, path, step, seen_by(comparison.actor))
    if not any(media):
        raise NotFound("path of pictures, texts or histograms")
    ends = [each.ends for each in media if each and each.ends is not None]
    context = {
        "row": Row(path, _row_address(comparison, path)),
        "again": _again(comparison),
        "ends": max(ends, default=None),
        "cells": cells_of(comparison.shown, media),
        "requested_step": comparison.state.at,
    }
    row = render_to_string("compare/_media_row.html", context, request)
    return poll_answer(request, row)


def _row_address(comparison: Comparison, path: str) -> str:
    """Return where a row comes from; the page's slider adds the step."""
    project = comparison.project
    address = reverse("compare-media", args=[project.workspace.slug, project.slug])
    runs = ",".join(str(run.id) for run in comparison.runs)
    slots = ".".join(map(str, comparison.slots))
    parameters = {"runs": runs, "colours": slots, "path": path}
    return f"{address}?{urlencode(parameters, safe=',')}"


def _again(comparison: Comparison) -> int:
    """Return after how many seconds a row that is seen looks for news; 0 for never."""
    return seconds_between(
        AGAIN_SECONDS, soon=comparison.is_live, seldom=comparison.may_resume
    )

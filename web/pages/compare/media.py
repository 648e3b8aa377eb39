"""Pictures, texts, histograms and files of compared runs, side by side by path.

The page has an empty row for each path. A row loads when it becomes visible, with the
content of all runs at the slider's step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from tracker.disclosure import seen_by
from tracker.errors import NotFound
from tracker.files import downloads
from tracker.files.pictures import Picture
from tracker.queries.compare.media import Medium, Steps, around, media_at, media_paths
from tracker.queries.run.files import FileRow
from tracker.records.search import plain
from web.figures.bars import HEIGHT, WIDTH, Bars, bars_in_row
from web.pages.charts.chart_options import named_path
from web.pages.compare.frame import ComparedRun, Comparison, read_comparison
from web.pages.compare.values import fields_but
from web.pages.reports.blocks import key_of
from web.pages.run_files.logs import SHOWN_CHARACTERS, is_named_log
from web.pages.run_files.previews import (
    NOTHING,
    TEXT_BYTES,
    Kind,
    Preview,
    is_figure,
    preview,
)
from web.pages.runs.path_search import find_paths
from web.polling import poll_answer, seconds_between
from web.session import PageRequest, signed_in
from web.snippets import FIRST_MEDIA

# With more rows, use the filter.
MAX_ROWS = 100
# Places of the slider, about as many as it has pixels.
MAX_PLACES = 1_000
# Each refresh reads the content of all runs.
AGAIN_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Row:
    path: str
    address: str

    @property
    def key(self) -> str:
        return key_of(self.path)


@dataclass(frozen=True, slots=True)
class Slider:
    """Round steps that cover the steps of all rows."""

    low: float
    high: float
    width: float


@dataclass(frozen=True, slots=True)
class Cell:
    """The content of a row for one run."""

    each: ComparedRun
    medium: Medium | None
    text: str = ""
    is_cut: bool = False
    bars: Bars | None = None
    file: FileRow | None = None
    picture: Picture | None = None
    preview: Preview = NOTHING

    @property
    def kind(self) -> str:
        return "" if self.medium is None else str(self.medium.kind)

    @property
    def count(self) -> int:
        """Return the number that selects the plural form; counts may be fractions."""
        return 1 if self.bars is not None and self.bars.count == 1 else 2

    @property
    def is_awaited(self) -> bool:
        """Return whether a content is referenced but not uploaded yet."""
        return self.file is not None and not self.file.is_stored


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
        "slider": _slider(around([every[path] for path in shown])),
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
    drawn = bars_in_row([each.histogram for each in media if each and each.histogram])
    ends = [each.ends for each in media if each and each.ends is not None]
    context = {
        "row": Row(path, _row_address(comparison, path)),
        "again": _again(comparison),
        "ends": max(ends, default=None),
        "cells": _cells(comparison.shown, media, drawn.bars),
        "at": comparison.state.at,
        "low": drawn.low,
        "high": drawn.high,
        "bars_width": WIDTH,
        "bars_height": HEIGHT,
    }
    row = render_to_string("compare/_media_row.html", context, request)
    return poll_answer(request, row)


def _row_address(comparison: Comparison, path: str) -> str:
    """Return where a row comes from; the page's slider adds the step."""
    project = comparison.project
    address = reverse("compare-media", args=[project.workspace.slug, project.slug])
    runs = ",".join(str(run.id) for run in comparison.runs)
    slots = ".".join(map(str, comparison.slots))
    asked = {"runs": runs, "colours": slots, "path": path}
    return f"{address}?{urlencode(asked, safe=',')}"


def _again(comparison: Comparison) -> int:
    """Return after how many seconds a row that is seen looks for news; 0 for never."""
    return seconds_between(
        AGAIN_SECONDS, soon=comparison.is_live, seldom=comparison.may_resume
    )


def _slider(steps: Steps | None) -> Slider | None:
    """Return a slider of round steps; None if there is only one step."""
    span = steps.last - steps.first if steps else 0.0
    if steps is None or not 0 < span < math.inf:
        return None
    width = _round_width(span / MAX_PLACES)
    low = math.floor(steps.first / width) * width
    return Slider(low, low + math.ceil((steps.last - low) / width) * width, width)


def _round_width(least: float) -> float:
    """Return 1, 2 or 5 times a power of ten that is enough, and from 1 on if it can be."""
    if least * MAX_PLACES >= 1:
        least = max(least, 1.0)
    power: float = 10.0 ** math.floor(math.log10(least))
    return next(power * part for part in (1, 2, 5, 10, 20) if power * part >= least)


def _cells(
    runs: Iterable[ComparedRun], media: Sequence[Medium | None], bars: Sequence[Bars]
) -> list[Cell]:
    drawn = iter(bars)
    return [
        _cell(run, medium, next(drawn) if medium and medium.histogram else None)
        for run, medium in zip(runs, media, strict=True)
    ]


def _cell(run: ComparedRun, medium: Medium | None, bars: Bars | None) -> Cell:
    if medium is None:
        return Cell(run, None)
    if bars is not None:
        return Cell(run, medium, bars=bars)
    if medium.file is None:
        text = plain(medium.text.decode(errors="replace"))
        return Cell(
            run, medium, text[:SHOWN_CHARACTERS], is_cut=len(text) > SHOWN_CHARACTERS
        )
    return _cell_of_file(run, medium, medium.file)


def _cell_of_file(run: ComparedRun, medium: Medium, row: FileRow) -> Cell:
    if not row.is_stored:
        return Cell(run, medium, file=row)
    picture = downloads.picture_of(row)
    if picture is not None:
        return Cell(run, medium, file=row, picture=picture)
    if is_figure(row.name, row.media_type):
        return Cell(run, medium, file=row, preview=Preview(Kind.FIGURE))
    try:
        head = downloads.beginning(row, TEXT_BYTES)
    except NotFound:
        return Cell(run, medium, file=row)
    whole = len(head) == row.size
    return Cell(run, medium, file=row, preview=preview(row.name, head, is_whole=whole))

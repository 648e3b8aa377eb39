"""A run's texts: logs as long lists of lines, and a few texts as tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tracker.access import readable_run
from tracker.queries.records import RecordSeries, list_texts, read_page
from tracker.records.search import plain
from web.session import PageRequest, signed_in
from web.views.run_frame import run_frame

# A series of no more texts, outside of logs/, is shown whole.
FEW = 50
MOST_TABLES = 20
# Paths that are logs however short they are yet.
LOGS = "logs/"
STREAMS = ("stdout", "stderr")
ERRORS = ("stderr", "err", "error", "errors")
SHOWN_CHARACTERS = 2_000
# What who has no script sees.
WITHOUT_SCRIPT = 200


@dataclass(frozen=True, slots=True)
class Log:
    path: str
    count: int
    is_errors: bool
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Text:
    step: float
    time: datetime
    text: str
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Texts:
    path: str
    rows: list[Text]


@require_safe
@signed_in
def logs(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    found = list_texts(run)
    long = [series for series in found if is_log(series)]
    chosen = _chosen(long, request.GET.get("path", ""))
    short = [series for series in found if not is_log(series)]
    context = {
        **run_frame(request, run_id, "logs"),
        "logs": [_log(series, chosen) for series in long],
        "log": None if chosen is None else _log(chosen, chosen),
        "without_script": _last_lines(chosen),
        "start": _start(run, chosen),
        "tables": [_table(series) for series in short[:MOST_TABLES]],
        "hidden": max(0, len(short) - MOST_TABLES),
    }
    return render(request, "run/logs.html", context)


def is_log(series: RecordSeries) -> bool:
    """Tell what is read as lines from a few texts that stand beside their steps."""
    name = series.path.rpartition("/")[2].lower()
    is_named_so = series.path.startswith(LOGS) or name in STREAMS
    return is_named_so or series.count > FEW


def is_errors(path: str) -> bool:
    return path.rpartition("/")[2].lower() in ERRORS


def _chosen(found: list[RecordSeries], path: str) -> RecordSeries | None:
    """Return the log of this path, or else the one that people look at first."""
    named = [series for series in found if series.path == path]
    ordered = sorted(found, key=lambda s: (not s.path.endswith("stdout"), s.path))
    return next(iter([*named, *ordered]), None)


def _log(series: RecordSeries, chosen: RecordSeries | None) -> Log:
    is_chosen = chosen is not None and chosen.path == series.path
    return Log(series.path, series.count, is_errors(series.path), is_chosen)


# Any: a row of the runs table; pages do not import tables.
def _start(run: Any, chosen: RecordSeries | None) -> float:
    """Return what relative times count from, in milliseconds since 1970."""
    if run.started_at is not None:
        return float(run.started_at.timestamp() * 1_000)
    first = chosen.first_time if chosen is not None else None
    return 0.0 if first is None else first / 1_000


def _last_lines(series: RecordSeries | None) -> list[str]:
    if series is None:
        return []
    page = read_page(series, max(0, series.count - WITHOUT_SCRIPT), WITHOUT_SCRIPT)
    return [
        plain(value.decode(errors="replace"))[:SHOWN_CHARACTERS]
        for value in page.records.listed()
    ]


def _table(series: RecordSeries) -> Texts:
    page = read_page(series, 0, FEW)
    columns = zip(
        page.records.steps.tolist(),
        page.records.times.tolist(),
        page.records.listed(),
        strict=True,
    )
    return Texts(series.path, [_text(*row) for row in columns])


def _text(step: float, time: int, value: bytes) -> Text:
    text = plain(value.decode(errors="replace"))
    return Text(
        step,
        datetime.fromtimestamp(time / 1e6, UTC),
        text[:SHOWN_CHARACTERS],
        len(text) > SHOWN_CHARACTERS,
    )

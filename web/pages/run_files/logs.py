"""A run's texts: logs as long lists of lines, and a few texts as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from tracker.access.runs import readable_run
from tracker.queries.run.namespaces import MONITORING
from tracker.queries.series.records import RecordSeries, list_texts, read_page
from tracker.records.search import plain
from web.figures.writers import lines_note
from web.pages.reports.blocks import key_of
from web.pages.run.frame import run_frame, tab_answer
from web.pages.run_files.log_lists import LABELS, choices, nearest, place_of
from web.session import PageRequest, signed_in

# More logs than this, as of many ranks, are chosen from a list.
MAX_BESIDE = 6
# A series of no more texts, outside of logs/, is shown whole.
FEW = 50
MAX_TABLES = 20
BROKEN = ("failed", "crashed")
TRACEBACK = "Traceback (most recent call last)"
# Error logs of ranks that are searched for a traceback.
MAX_SEARCHED = 8
# Paths that are logs however short they are yet.
LOGS = "logs/"
STREAMS = ("stdout", "stderr")
ERRORS = ("stderr", "err", "error", "errors")
SHOWN_CHARACTERS = 2_000
# Lines shown without JavaScript.
WITHOUT_SCRIPT = 200


@dataclass(frozen=True, slots=True)
class Log:
    path: str
    count: int
    is_errors: bool
    is_chosen: bool
    # The process that wrote it, if several did concurrently.
    note: str

    @property
    def name(self) -> str:
        return self.path.removeprefix(MONITORING)

    @property
    def key(self) -> str:
        return key_of(self.path)


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
    note: str

    @property
    def key(self) -> str:
        return key_of(self.path)


@require_safe
@signed_in
def logs(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    return tab_answer(request, run, "logs", lambda: _context(request, run))


# Any: a row of the runs table, which pages do not import, and a template's context.
def _context(request: PageRequest, run: Any) -> dict[str, Any]:
    found = list_texts(run)
    long = [series for series in found if is_log(series)]
    labels = {name: request.GET.get(name, "") for name in LABELS}
    chosen = _chosen(run, long, request.GET.get("path", ""), labels)
    short = [series for series in found if not is_log(series)]
    has_many = len(long) > MAX_BESIDE
    places = [place_of(series.path) for series in long]
    return {
        **run_frame(request, run, "logs"),
        # Keep the open log, even if another one has newer lines.
        "address": "" if chosen is None else f"?{urlencode({'path': chosen.path})}",
        "logs": [_log(series, chosen) for series in long],
        "choices": choices(places, chosen.path) if chosen and has_many else [],
        "text": request.GET.get("text", ""),
        "log": None if chosen is None else _log(chosen, chosen),
        "without_script": [] if request.htmx else _last_lines(chosen),
        "start": _start(run, chosen),
        "tables": [_table(series) for series in short[:MAX_TABLES]],
        "hidden": max(0, len(short) - MAX_TABLES),
    }


def is_log(series: RecordSeries) -> bool:
    """Return whether the texts are read as lines, not as a few texts by step."""
    return is_named_log(series.path) or series.count > FEW


def is_named_log(path: str) -> bool:
    return path.startswith(LOGS) or path.rpartition("/")[2].lower() in STREAMS


def is_errors(path: str) -> bool:
    return path.rpartition("/")[2].lower() in ERRORS


def _chosen(
    run: Any, found: list[RecordSeries], path: str, labels: Mapping[str, str]
) -> RecordSeries | None:
    """Return the log with this path or index, or else the one written last."""
    named = [series for series in found if series.path == path]
    if named or not found:
        return next(iter(named), None)
    if any(labels.values()):
        places = [place_of(series.path) for series in found]
        return found[nearest(places, labels)]
    return _with_traceback(run, found) or max(found, key=_newest)


# Any: a row of the runs table, which pages do not import.
def _with_traceback(run: Any, found: list[RecordSeries]) -> RecordSeries | None:
    """Return the newest error log of a failed run that ends in a traceback."""
    if run.state not in BROKEN:
        return None
    errors = [series for series in found if is_errors(series.path)]
    for series in sorted(errors, key=_newest, reverse=True)[:MAX_SEARCHED]:
        if any(line.startswith(TRACEBACK) for line in _last_lines(series)):
            return series
    return None


def _newest(series: RecordSeries) -> tuple[bool, int, bool]:
    """Sort key: the log with the newest line first, then the lowest rank."""
    is_first = place_of(series.path).rank == "0"
    return series.path.endswith("stdout"), series.last_time or 0, is_first


def _log(series: RecordSeries, chosen: RecordSeries | None) -> Log:
    is_chosen = chosen is not None and chosen.path == series.path
    return Log(
        series.path, series.count, is_errors(series.path), is_chosen, _note(series)
    )


def _note(series: RecordSeries) -> str:
    ranks = [writer.rank for writer in series.writers]
    return lines_note(ranks, is_measured=series.path.startswith(MONITORING))


# Any: a row of the runs table; pages do not import tables.
def _start(run: Any, chosen: RecordSeries | None) -> float:
    """Return the origin of relative times, in milliseconds since 1970."""
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
    return Texts(series.path, [_text(*row) for row in columns], _note(series))


def _text(step: float, time: int, value: bytes) -> Text:
    text = plain(value.decode(errors="replace"))
    return Text(
        step,
        datetime.fromtimestamp(time / 1e6, UTC),
        text[:SHOWN_CHARACTERS],
        len(text) > SHOWN_CHARACTERS,
    )

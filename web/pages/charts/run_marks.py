"""Annotations of the compared runs, for all their charts at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import orjson
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from tracker.actor import Actor
from tracker.disclosure import seen_annotations, seen_notes
from tracker.queries.run.annotations import annotations_of_runs
from tracker.queries.run.notes import notes_of_runs
from web.pages.compare.frame import ComparedRun, read_comparison
from web.pages.run.stage_bars import milliseconds
from web.session import PageRequest, signed_in


@require_safe
@signed_in
def compare_marks(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer annotations and notes of the runs that are shown, each with its places."""
    comparison = read_comparison(request, workspace, project)
    ids = [run.id for run in comparison.runs]
    annotations, notes = annotations_of_runs(ids), notes_of_runs(comparison.runs)
    marks = [
        mark
        for each in comparison.shown
        for mark in _marks(
            request.actor, each, annotations[each.run.id], notes[each.run.id]
        )
    ]
    body = orjson.dumps({"marks": marks})
    return HttpResponse(body, content_type="application/json")


# Any: rows of query results, and JSON values.
def _marks(
    actor: Actor, each: ComparedRun, annotations: list[Any], notes: list[Any]
) -> Iterator[dict[str, Any]]:
    for row in seen_annotations(actor, {"": annotations})[""]:
        yield _mark(each, row, path=row.path, author=row.author)
    for note in seen_notes(actor, notes):
        # It is of no series, and so shown on all of the run's.
        yield _mark(each, note, path=None, author="")


def _mark(
    each: ComparedRun, said: Any, *, path: str | None, author: str
) -> dict[str, Any]:
    return {
        "slot": each.slot,
        "name": each.name,
        "path": path,
        "step": said.step,
        "time": milliseconds(said.time),
        "relative": _since(each.run.started_at, said.time),
        "text": said.text,
        "author": author,
    }


def _since(start: datetime | None, time: datetime) -> float | None:
    return None if start is None else (time - start).total_seconds()

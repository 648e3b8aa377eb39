"""Bulk actions on runs: tags, the trash and restoring.

Runs are selected by id, or by a table query and the number of matches shown to the
user.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse, QueryDict
from django.views.decorators.http import require_GET, require_POST

from tracker.access.projects import editable_project
from tracker.actions.runs.many_runs import (
    MAX_RUNS,
    Change,
    change_all,
    end_change,
    remembered,
)
from tracker.actions.runs.tags import change_tags
from tracker.actions.runs.trash import move_many_to_trash, restore_many
from tracker.errors import InvalidInput
from tracker.queries.runs.bulk_changes import changed_by
from tracker.queries.runs.requested import read_runs
from tracker.queries.runs.table import runs_in_order
from web.numbers import whole_number
from web.pages.compare.state import as_id
from web.session import PageRequest, signed_in


@require_POST
@signed_in
def tag(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = editable_project(request.actor, workspace, project, to="change runs")
    add, remove = request.POST.getlist("add"), request.POST.getlist("remove")
    change = partial(change_tags, found, add=add, remove=remove)
    return _change(request, found.id, change, by_question="question" in request.POST)


@require_POST
@signed_in
def move(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = editable_project(request.actor, workspace, project, to="change runs")
    change = partial(move_many_to_trash, found)
    return _change(request, found.id, change, by_question="question" in request.POST)


@require_POST
@signed_in
def put_back(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = editable_project(request.actor, workspace, project, to="change runs")
    back = partial(restore_many, found)
    return _change(request, found.id, back, by_question=False)


@require_GET
@signed_in
def changed(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Return the result of an earlier request by its key, for clients that missed it."""
    found = editable_project(request.actor, workspace, project, to="change runs")
    by = changed_by(found.id, _name(request.GET.get("change", "")))
    return _json({"changed": by.run_ids, "is_over": by.is_over})


def _change(
    request: PageRequest, project_id: int, change: Change, *, by_question: bool
) -> HttpResponse:
    """Apply a bulk change, and store its result under the client's key, if any."""
    name = request.POST.get("change")
    if name is None:
        return _change_named(request, project_id, change, by_question=by_question)
    known = _name(name)
    change = remembered(project_id, known, change)
    try:
        return _change_named(request, project_id, change, by_question=by_question)
    finally:
        end_change(project_id, known)


def _change_named(
    request: PageRequest, project_id: int, change: Change, *, by_question: bool
) -> HttpResponse:
    if by_question:
        return _change_matching(request, project_id, change)
    return _done(change(named_runs(request)))


def _name(text: str) -> UUID:
    if (found := as_id(text)) is None:
        raise InvalidInput("change", "must be a UUID")
    return found


def named_runs(request: PageRequest) -> list[UUID]:
    found = [as_id(text) for text in request.POST.get("runs", "").split(",")]
    if None in found:
        raise InvalidInput("runs", "must be ids of runs, with commas between them")
    return [run_id for run_id in dict.fromkeys(found) if run_id is not None]


def _change_matching(
    request: PageRequest, project_id: int, change: Change
) -> HttpResponse:
    """Change the runs that match the query, if their number is as confirmed.

    The runs are selected once: those that stop matching meanwhile are changed, too.
    """
    agreed = whole_number(request.POST.get("matching", ""), "matching")
    wanted, order = read_runs(QueryDict(request.POST["question"]))
    limit = MAX_RUNS + 1
    ids = runs_in_order(project_id, wanted=wanted, order=order, limit=limit)
    if len(ids) > MAX_RUNS:
        raise InvalidInput("runs", f"must be at most {MAX_RUNS:,} at once")
    if len(ids) != agreed:
        message = (
            f"{len(ids):,} runs match now, and {agreed:,} did before; nothing changed."
        )
        answer = {
            "error": {"code": "changed", "message": message},
            "matching": len(ids),
        }
        return _json(answer, status=HTTPStatus.CONFLICT)
    done = change_all(ids, change)
    return _json({"changed": done.changed, "refusal": done.refusal, "rest": done.rest})


def _done(changed: Sequence[UUID]) -> HttpResponse:
    """Answer the runs that changed: undoing is about these alone."""
    return _json({"changed": changed})


# Any: JSON values.
def _json(content: dict[str, Any], status: int = HTTPStatus.OK) -> HttpResponse:
    body = orjson.dumps(content)
    return HttpResponse(body, content_type="application/json", status=status)

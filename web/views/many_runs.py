"""What is done to many runs at once: tags, the trash and back."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import orjson
from django.http import HttpResponse
from django.views.decorators.http import require_POST

from tracker.access import editable_project
from tracker.actions.tags import change_tags
from tracker.actions.trash import move_many_to_trash, restore_many
from tracker.errors import InvalidInput
from web.compare_state import as_id
from web.session import PageRequest, signed_in


@require_POST
@signed_in
def tag(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = editable_project(request.actor, workspace, project, to="change runs")
    add, remove = request.POST.getlist("add"), request.POST.getlist("remove")
    return _done(change_tags(found, _runs(request), add=add, remove=remove))


@require_POST
@signed_in
def move(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = editable_project(request.actor, workspace, project, to="change runs")
    return _done(move_many_to_trash(found, _runs(request)))


@require_POST
@signed_in
def put_back(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = editable_project(request.actor, workspace, project, to="change runs")
    return _done(restore_many(found, _runs(request)))


def _runs(request: PageRequest) -> list[UUID]:
    found = [as_id(text) for text in request.POST.get("runs", "").split(",")]
    if None in found:
        raise InvalidInput("runs", "must be ids of runs, with commas between them")
    return [run_id for run_id in dict.fromkeys(found) if run_id is not None]


def _done(changed: Sequence[UUID]) -> HttpResponse:
    """Answer the runs that changed: undoing is about these alone."""
    body = orjson.dumps({"changed": changed})
    return HttpResponse(body, content_type="application/json")

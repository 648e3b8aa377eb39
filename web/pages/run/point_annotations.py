"""Annotations at points of charts."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from tracker.access.runs import deleted_annotation, editable_run, own_annotation
from tracker.actions.runs.annotations import (
    annotate,
    change_annotation,
    delete_annotation,
    restore_annotation,
)
from tracker.errors import InvalidInput
from web.pages.charts.chart_options import named_path, read_number
from web.session import PageRequest, signed_in


@require_POST
@signed_in
def add_annotation(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = editable_run(request.actor, run_id)
    step = read_number(request.POST, "step")
    if step is None:
        raise InvalidInput("step", "must be a finite number")
    text = request.POST.get("text", "")
    annotate(run, named_path(request.POST), step, text, request.actor)
    return HttpResponse(status=204)


@require_POST
@signed_in
def edit_annotation(
    request: PageRequest, run_id: UUID, annotation_id: int
) -> HttpResponse:
    annotation = own_annotation(request.actor, run_id, annotation_id)
    change_annotation(annotation, request.POST.get("text", ""))
    return HttpResponse(status=204)


@require_POST
@signed_in
def remove_annotation(
    request: PageRequest, run_id: UUID, annotation_id: int
) -> HttpResponse:
    annotation = own_annotation(request.actor, run_id, annotation_id)
    delete_annotation(annotation, user_id=request.actor.user_id)
    return HttpResponse(status=204)


@require_POST
@signed_in
def put_back_annotation(
    request: PageRequest, run_id: UUID, annotation_id: int
) -> HttpResponse:
    restore_annotation(deleted_annotation(request.actor, run_id, annotation_id))
    return HttpResponse(status=204)

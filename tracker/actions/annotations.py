"""Writes, changes and deletes texts at points of a series."""

from __future__ import annotations

import math

from django.db import transaction
from django.utils import timezone

from tracker.actions.names import expect_room
from tracker.actor import Actor
from tracker.errors import InvalidInput, NotFound
from tracker.models import Annotation, Run
from tracker.queries.points_near import point_near
from tracker.texts import storable_part

LONGEST_TEXT = 1_000
MOST_OF_A_RUN = 2_000


def annotate(run: Run, path: str, step: float, text: str, actor: Actor) -> Annotation:
    """Put a text at the point of the series that is nearest to the step."""
    text = _checked(text)
    if not math.isfinite(step):
        raise InvalidInput("step", "must be a finite number")
    point = point_near(run, path, step)
    if point is None:
        raise NotFound("series")
    with transaction.atomic():
        own = Annotation.objects.filter(run=run)
        expect_room(run.project, own, MOST_OF_A_RUN, "text")
        return Annotation.objects.create(
            run=run,
            path=path,
            step=point[0],
            time=point[1],
            text=text,
            author_id=actor.user_id,
            written_at=timezone.now(),
        )


def change_annotation(annotation: Annotation, text: str) -> None:
    annotation.text = _checked(text)
    annotation.edited_at = timezone.now()
    annotation.save(update_fields=["text", "edited_at"])


def delete_annotation(annotation: Annotation) -> None:
    annotation.delete()


def _checked(text: str) -> str:
    text = storable_part(text).strip()
    if not 1 <= len(text) <= LONGEST_TEXT:
        raise InvalidInput("text", f"must have 1 to {LONGEST_TEXT} characters")
    return text

"""Creates, changes and deletes annotations at points of a series."""

from __future__ import annotations

import math
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from tracker.actions.names import expect_room
from tracker.actions.people.follows import begin_to_follow
from tracker.actions.people.mentions import Written, notify_of_comment
from tracker.actor import Actor
from tracker.errors import InvalidInput, NotFound
from tracker.models import Annotation, Run
from tracker.queries.people.follows import followers_of
from tracker.queries.projects.trash import UNDO_HOURS
from tracker.queries.series.points_near import point_near
from tracker.texts import storable_part

LONGEST_TEXT = 1_000
MAX_OF_A_RUN = 2_000
# Rows purged per statement.
PURGED_AT_ONCE = 500


def annotate(run: Run, path: str, step: float, text: str, actor: Actor) -> Annotation:
    """Annotate the point of the series that is nearest to the step."""
    text = _checked(text)
    if not math.isfinite(step):
        raise InvalidInput("step", "must be a finite number")
    point = point_near(run, path, step)
    if point is None:
        raise NotFound("series")
    with transaction.atomic():
        _expect_room(run)
        annotation = Annotation.objects.create(
            run=run,
            path=path,
            step=point[0],
            time=point[1],
            text=text,
            author_id=actor.user_id,
            written_at=timezone.now(),
        )
        _notify(annotation, also=followers_of(run))
        begin_to_follow(run, user_id=actor.user_id)
    return annotation


def change_annotation(annotation: Annotation, text: str) -> None:
    """Change the text; notify newly mentioned users."""
    annotation.text = _checked(text)
    annotation.edited_at = timezone.now()
    with transaction.atomic():
        annotation.save(update_fields=["text", "edited_at"])
        if annotation.author_id is not None:
            _notify(annotation)


def delete_annotation(
    annotation: Annotation, *, user_id: int, now: datetime | None = None
) -> None:
    """Hide an annotation, which can be restored for a while."""
    kept = Annotation.objects.filter(id=annotation.id)
    kept.update(deleted_at=now or timezone.now(), deleted_by_id=user_id)


def restore_annotation(annotation: Annotation) -> None:
    """Restore an annotation at its point."""
    with transaction.atomic():
        _expect_room(annotation.run)
        deleted = Annotation.with_deleted.filter(id=annotation.id)
        if not deleted.update(deleted_at=None, deleted_by=None):
            raise NotFound("annotation")


def purge_annotations(now: datetime | None = None) -> int:
    """Delete annotations past their restore period; return their number."""
    limit = (now or timezone.now()) - timedelta(hours=UNDO_HOURS)
    due = Annotation.with_deleted.filter(deleted_at__lt=limit)
    purged = 0
    while ids := list(due.values_list("id", flat=True)[:PURGED_AT_ONCE]):
        purged += due.filter(id__in=ids).delete()[0]
    return purged


def _notify(annotation: Annotation, *, also: Collection[int] = ()) -> None:
    run = annotation.run
    notify_of_comment(
        Written(
            text=annotation.text,
            author_id=annotation.author_id or 0,
            incident=f"annotation:{annotation.id}",
            where=f"{run.name}: {annotation.path}",
            address=f"/runs/{run.id}/charts",
        ),
        project=run.project,
        run=run,
        also=also,
    )


def _expect_room(run: Run) -> None:
    own = Annotation.objects.filter(run=run)
    expect_room(run.project, own, MAX_OF_A_RUN, "text")


def _checked(text: str) -> str:
    text = storable_part(text).strip()
    if not 1 <= len(text) <= LONGEST_TEXT:
        raise InvalidInput("text", f"must have 1 to {LONGEST_TEXT} characters")
    return text

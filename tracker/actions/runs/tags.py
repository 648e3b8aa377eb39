"""Adds tags to many runs, and removes them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from tracker.actions.runs.many_runs import RUNS_AT_ONCE
from tracker.actions.runs.run_summaries import TAGS, gather
from tracker.errors import InvalidInput
from tracker.models import Attribute, Kind, Project, Run
from tracker.queries.run.namespaces import TAGS_PATH
from tracker.queries.runs.columns import each_of
from tracker.texts import is_storable

LONGEST_TAG = 1_024
# The same limit as for agents.
MAX_TAGS = 1_000


def change_tags(
    project: Project,
    run_ids: Sequence[UUID],
    *,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> list[UUID]:
    """Change tags; return the runs that changed, for undo.

    A run with another kind of value at the tags path stays unchanged; if all have one,
    InvalidInput is raised.
    """
    if len(run_ids) > RUNS_AT_ONCE:
        raise InvalidInput("runs", f"must be at most {RUNS_AT_ONCE:,} runs")
    new = {_plain(tag) for tag in add} - {""}
    # Both as typed and as a script has written it.
    removed = {*map(_plain, remove), *remove} - {""}
    for tag in (*new, *removed):
        if len(tag) > LONGEST_TAG or not is_storable(tag):
            raise InvalidInput("tag", f"must be text of 1 to {LONGEST_TAG} characters")
    if not new and not removed:
        raise InvalidInput("tag", "is required")
    with transaction.atomic():
        runs = Run.objects.not_in_trash().filter(project=project, id__in=run_ids)
        ids = list(runs.order_by("id").values_list("id", flat=True))
        if new:
            _register(project, ids)
        changed, rows = [], _locked(ids)
        if new and ids and not rows:
            raise InvalidInput(
                "tag", f"cannot be added: another value is stored at {TAGS_PATH!r}"
            )
        # Runs with the same tags are updated together.
        same: dict[tuple[str, ...], list[UUID]] = {}
        for row in rows:
            tags = sorted((set(row.items or ()) | new) - removed)
            if tags == row.items:
                continue
            if len(tags) > MAX_TAGS:
                raise InvalidInput(
                    "tag", f"cannot be added; a run can have {MAX_TAGS:,} tags"
                )
            same.setdefault(tuple(tags), []).append(row.run_id)
            changed.append(row.run_id)
        for items, own in same.items():
            _own(own).update(items=list(items), updated_at=timezone.now())
        gather(changed, TAGS)
    return changed


def _plain(tag: str) -> str:
    return " ".join(tag.split())


def _register(project: Project, run_ids: Sequence[UUID]) -> None:
    """Create the tags attribute of each run that has none at that path."""
    Attribute.objects.bulk_create(
        [
            Attribute(
                run_id=run_id,
                project=project,
                path=TAGS_PATH,
                kind=Kind.STRING_SET,
                items=[],
            )
            for run_id in run_ids
        ],
        ignore_conflicts=True,
    )


def _locked(run_ids: Sequence[UUID]) -> list[Attribute]:
    # Return the tag rows in order of their runs, locked like a batch that changes tags.
    rows = Attribute.objects.select_for_update(no_key=True).filter(
        run_id__in=each_of(run_ids), path=TAGS_PATH, kind=Kind.STRING_SET
    )
    return list(rows.order_by("run_id"))


def _own(run_ids: Sequence[UUID]) -> QuerySet[Attribute]:
    # Select tag rows by run, which determines the table's partition.
    return Attribute.objects.filter(run_id__in=each_of(run_ids), path=TAGS_PATH)

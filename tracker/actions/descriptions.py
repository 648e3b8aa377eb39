"""What people say of a run on its page: a description, and tags.

Both are attributes, which the run's scripts may set as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db import transaction

from tracker.errors import InvalidInput
from tracker.models import Attribute, Kind, Run
from tracker.queries.run import DESCRIPTION_PATH
from tracker.queries.run_filter import TAGS_PATH

LONGEST_DESCRIPTION = 10_000
MOST_TAGS, LONGEST_TAG = 1_000, 200


def describe(run: Run, text: str) -> None:
    """Give a run a description; an empty one takes it away."""
    text = _clean(text.replace("\r\n", "\n")).strip()
    if len(text) > LONGEST_DESCRIPTION:
        raise InvalidInput(
            "description", f"may have at most {LONGEST_DESCRIPTION:,} characters"
        )
    with transaction.atomic():
        row = _locked(run, DESCRIPTION_PATH, Kind.STRING, "description")
        if text:
            row.text = text
            row.save(update_fields=["text", "updated_at"])
        else:
            row.delete()


def change_tags(
    run: Run, *, add: Iterable[str] = (), remove: Collection[str] = ()
) -> None:
    """Give a run some tags and take others away."""
    wanted = {" ".join(_clean(tag).split()) for tag in add} - {""}
    if any(len(tag) > LONGEST_TAG for tag in wanted):
        raise InvalidInput("tags", f"may have at most {LONGEST_TAG} characters each")
    with transaction.atomic():
        row = _locked(run, TAGS_PATH, Kind.STRING_SET, "tags")
        tags = ({*(row.items or [])} - {*remove}) | wanted
        if len(tags) > MOST_TAGS:
            raise InvalidInput("tags", f"may be at most {MOST_TAGS:,}")
        row.items = sorted(tags)
        row.save(update_fields=["items", "updated_at"])


def _locked(run: Run, path: str, kind: Kind, field: str) -> Attribute:
    """Return the attribute, made if need be, as nobody else changes it meanwhile."""
    Attribute.objects.bulk_create(
        [Attribute(run=run, project_id=run.project_id, path=path, kind=kind)],
        ignore_conflicts=True,
    )
    row = Attribute.objects.select_for_update(no_key=True).get(run=run, path=path)
    if row.kind != kind:
        raise InvalidInput(
            field, f"cannot be changed: the run keeps something else at {path!r}"
        )
    return row


def _clean(text: str) -> str:
    # PostgreSQL has no NUL, and half of a surrogate pair is no character.
    return text.replace("\0", "").encode("utf-8", "ignore").decode()

"""A run's description and tags, as edited on its page.

Both are attributes, which the run's scripts may set as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from tracker.actions.runs.tags import change_tags
from tracker.errors import InvalidInput
from tracker.models import Attribute, Kind, Run
from tracker.queries.run.run import DESCRIPTION_PATH
from tracker.texts import storable_part

LONGEST_DESCRIPTION = 10_000


def describe(
    run: Run, text: str | None, *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> None:
    """Set a run's description and change its tags, in one transaction.

    An empty description removes it; None keeps it.
    """
    with transaction.atomic():
        if text is not None:
            _set_description(run, text)
        if any(remove) or any(tag.strip() for tag in add):
            change_tags(run.project, [run.id], add=add, remove=remove)


def _set_description(run: Run, text: str) -> None:
    text = storable_part(text.replace("\r\n", "\n")).strip()
    if len(text) > LONGEST_DESCRIPTION:
        raise InvalidInput(
            "description", f"may have at most {LONGEST_DESCRIPTION:,} characters"
        )
    own = Attribute.objects.filter(run=run, path=DESCRIPTION_PATH)
    if not text:
        own.filter(kind=Kind.STRING).delete()
        return
    Attribute.objects.bulk_create(
        [
            Attribute(
                run=run,
                project_id=run.project_id,
                path=DESCRIPTION_PATH,
                kind=Kind.STRING,
            )
        ],
        ignore_conflicts=True,
    )
    row = own.select_for_update(no_key=True).get()
    if row.kind != Kind.STRING:
        raise InvalidInput(
            "description",
            f"cannot be changed: the run has another value at {row.path!r}",
        )
    row.text = text
    row.save(update_fields=["text", "updated_at"])

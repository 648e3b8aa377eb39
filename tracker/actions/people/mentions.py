"""Notifies mentioned users and followers of comments."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models.functions import Lower

from tracker.actions.people.notifications import News, notify
from tracker.models import NotificationKind, Project, Run, User
from tracker.queries.people.readers import readers_of

# A username after an @ that is not part of a word or mail address.
MENTION = re.compile(r"(?<![\w@.+-])@([\w.+-]+(?:@[\w.-]+)?)")
MAX_MENTIONS = 20
SUMMARY_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Written:
    """A comment: `incident` identifies it, `where` names its subject."""

    text: str
    author_id: int
    incident: str
    where: str
    address: str


def mentioned_in(text: str, project: Project) -> set[int]:
    """Return the ids of project readers mentioned in the text."""
    names: set[str] = set()
    for found in MENTION.findall(text):
        # A trailing period may belong to the sentence or to the name.
        names |= {found.lower(), found.rstrip(".-+").lower()}
        if len(names) > 2 * MAX_MENTIONS:
            break
    if not names:
        return set()
    readers = readers_of(project).annotate(lower=Lower("username"))
    return set(readers.filter(lower__in=names).values_list("id", flat=True))


def notify_of_comment(
    written: Written,
    *,
    project: Project,
    run: Run | None = None,
    also: Collection[int] = (),
) -> None:
    """Notify mentioned users, then the others in `also`; never the author."""
    author = User.objects.get(id=written.author_id).display_name
    mentioned = mentioned_in(written.text, project) - {written.author_id}
    others = set(also) - mentioned - {written.author_id}
    for user_ids, kind, title in (
        (mentioned, NotificationKind.MENTION, f"{author} mentioned you"),
        (others, NotificationKind.COMMENT, f"{author} commented"),
    ):
        notice = News(
            kind=kind,
            incident=written.incident,
            title=f"{title} on {written.where}",
            summary=written.text[:SUMMARY_LENGTH],
            address=written.address,
        )
        notify(user_ids, notice, project=project, run=run)

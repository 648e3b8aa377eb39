"""A project's share links, the newest first, with their current targets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from tracker.actor import Part
from tracker.models import Project, ShareLink
from tracker.queries.projects.deletions import MADE

MAX_LISTED = 500


@dataclass(frozen=True, slots=True)
class ListedLink:
    """`why_ended` is empty while the link works."""

    id: int
    prefix: str
    kind: str
    thing: str
    query: str
    parts: tuple[Part, ...]
    label: str
    made_by: str  # "" if the account is deleted
    made_at: datetime
    expires_at: datetime | None
    last_opened_at: datetime | None
    open_count: int
    ended_at: datetime | None
    why_ended: str
    is_frozen: bool

    @property
    def is_live(self) -> bool:
        return not self.why_ended


def project_links(
    project: Project, *, kind: str = "", target_id: str = ""
) -> list[ListedLink]:
    """Return active links before ended ones."""
    filters = {"kind": kind, "thing": target_id} if kind else {}
    links = ShareLink.objects.filter(project=project, **filters)
    with_makers = set(links.of_editors().values_list("id", flat=True))
    frozen = set(links.filter(frozen__isnull=False).values_list("id", flat=True))
    # Frozen content may be a whole dashboard and is not needed for the list.
    rows = links.defer("frozen").select_related("made_by", "ended_by")
    rows = rows.order_by("-made_at", "-id")
    now = timezone.now()
    listed = [
        _listed(row, row.id in with_makers, now, is_frozen=row.id in frozen)
        for row in rows[:MAX_LISTED]
    ]
    return sorted(listed, key=lambda link: not link.is_live)


def live_count(project: Project) -> int:
    links = ShareLink.objects.filter(project=project).live(timezone.now())
    targets = list(links.values_list("kind", "thing"))
    hidden = things_in_trash(project, targets)
    return sum(target not in hidden for target in targets)


def things_in_trash(
    project: Project, things: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], str]:
    """Return the names of targets in the trash, whose links work again after a restore.

    Trashed runs are not included, because their links end.
    """
    ids_by_kind: dict[str, set[str]] = {}
    for kind, target_id in things:
        if kind in MADE:
            ids_by_kind.setdefault(kind, set()).add(target_id)
    found: dict[tuple[str, str], str] = {}
    for kind, ids in ids_by_kind.items():
        rows = MADE[kind].with_deleted.filter(project=project, id__in=ids)
        deleted = rows.filter(deleted_at__isnull=False).values_list("id", "name")
        found |= {(kind, str(thing_id)): name for thing_id, name in deleted}
    return found


def _listed(
    link: ShareLink, has_maker: bool, now: datetime, *, is_frozen: bool
) -> ListedLink:
    made_by, why_ended = link.made_by, ""
    if link.ended_at is not None:
        by = link.ended_by.username if link.ended_by else ""
        why_ended = (
            f"revoked by {by}"
            if by
            else "revoked by a former member, or its target was deleted"
        )
    elif link.expires_at is not None and link.expires_at <= now:
        why_ended = "expired"
    elif not has_maker:
        why_ended = "its author can no longer share in this project"
    return ListedLink(
        id=link.id,
        prefix=link.prefix,
        kind=link.kind,
        thing=link.thing,
        query=link.query,
        parts=tuple(part for part in Part if part in link.parts),
        label=link.label,
        made_by=made_by.username if made_by else "",
        made_at=link.made_at,
        expires_at=link.expires_at,
        last_opened_at=link.last_opened_at,
        open_count=link.open_count,
        ended_at=link.ended_at,
        why_ended=why_ended,
        is_frozen=is_frozen,
    )

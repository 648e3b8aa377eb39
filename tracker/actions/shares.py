"""Creates, opens and ends share links.

A link is looked up at each use, so that ending it takes effect at once in every
process. It stops working when its creator may no longer edit the project.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from tracker.actions.access import SECRET_BYTES, SHOWN_LENGTH, digest
from tracker.actions.people.audit import Action, note
from tracker.actor import NOBODY, Actor, Grant, Part, actor_of_link
from tracker.boards.frozen import Frozen, frozen_from, plain
from tracker.errors import InvalidInput, NotFound
from tracker.models import Project, ShareLink
from tracker.shares import KINDS
from tracker.shares.kind import Chosen, Shared
from tracker.texts import storable_part

SHARE_MARK = "sml_"
LONGEST_LABEL = 200
# How often a link's use is recorded, so that visitors cause few writes.
OPENING_RESOLUTION = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """The object and parts to share, and the expiry; None: until revoked.

    Without `frozen` the link shows the current state.
    """

    kind: str
    of: str
    parts: frozenset[Part] = frozenset()
    label: str = ""
    expires_at: datetime | None = None
    frozen: Frozen | None = None


@dataclass(frozen=True, slots=True)
class OpenedLink:
    """A share link that a visitor has opened."""

    actor: Actor
    link: ShareLink
    shared: Shared

    def address(self) -> str:
        """Return the page's address under the current URL prefix."""
        kind = KINDS[self.link.kind]
        return kind.address(self.link.project, self.shared, self.link.query)

    @property
    def parts(self) -> frozenset[Part]:
        return self.actor.grant.parts if self.actor.grant else frozenset()

    @property
    def project_id(self) -> int:
        return self.link.project_id

    @property
    def project_name(self) -> str:
        return self.link.project.name

    @property
    def expires_at(self) -> datetime | None:
        return self.link.expires_at

    @property
    def frozen_at(self) -> datetime | None:
        return None if self.link.frozen is None else self.link.made_at


@transaction.atomic
def make_link(
    project: Project, actor: Actor, request: LinkRequest, *, address: str = ""
) -> str:
    """Return a new link's secret, which cannot be shown again."""
    kind = KINDS.get(request.kind)
    if kind is None:
        raise NotFound("kind of thing that can be shared")
    label = " ".join(storable_part(request.label).split())
    if len(label) > LONGEST_LABEL:
        raise InvalidInput("label", f"may have at most {LONGEST_LABEL} characters")
    if request.expires_at is not None and request.expires_at <= timezone.now():
        raise InvalidInput("the date", "must be in the future")
    if request.frozen is not None and not kind.can_freeze:
        raise InvalidInput(f"a {kind.noun}", "cannot be frozen")
    chosen = kind.choose(project, request.of)
    secret = SHARE_MARK + secrets.token_urlsafe(SECRET_BYTES)
    note(
        Action.SHARED,
        f"{kind.noun} {chosen.thing}",
        workspace=project.workspace_id,
        by=actor.user_id,
        address=address,
        project=project.slug,
        parts=sorted(request.parts),
        expires_at=request.expires_at and request.expires_at.isoformat(),
    )
    ShareLink.objects.create(
        project=project,
        kind=kind.name,
        thing=chosen.thing,
        query=kind.kept(chosen.query, request.parts),
        parts=sorted(request.parts),
        frozen=None if request.frozen is None else plain(request.frozen),
        label=label,
        digest=digest(secret),
        prefix=secret[:SHOWN_LENGTH],
        made_by_id=actor.user_id,
        expires_at=request.expires_at,
    )
    return secret


@transaction.atomic
def revoke_link(
    project: Project, actor: Actor, share_id: int, *, address: str = ""
) -> ShareLink:
    """End a link permanently; idempotent."""
    links = ShareLink.objects.filter(project=project, id=share_id)
    if not links.exists():
        raise NotFound("link")
    is_ended = links.filter(ended_at=None).update(
        ended_at=timezone.now(), ended_by_id=actor.user_id
    )
    link = links.get()
    if is_ended:
        note(
            Action.SHARE_REVOKED,
            f"{link.kind} {link.thing}",
            workspace=project.workspace_id,
            by=actor.user_id,
            address=address,
            project=project.slug,
        )
    return link


def end_links(kind: str, things: Collection[object], now: datetime) -> None:
    """End links to deleted objects; restoring the objects does not restore the links."""
    links = ShareLink.objects.filter(
        kind=kind, thing__in=[str(target) for target in things], ended_at=None
    )
    links.update(ended_at=now)


def open_link(secret: str) -> OpenedLink | None:
    """Return the opened link; None for any invalid secret."""
    now = timezone.now()
    # Looked up by digest, so that the response time reveals nothing about the secret.
    link = (
        ShareLink.objects.live(now)
        .filter(digest=digest(secret))
        .select_related("project__workspace")
        .first()
    )
    kind = KINDS.get(link.kind) if link is not None else None
    if link is None or kind is None:
        return None
    chosen = Chosen(link.thing, link.query)
    shared = kind.read(link.project, [chosen]).get(link.thing)
    if shared is None:
        return None
    grant = Grant(
        link_id=link.id,
        project_id=link.project_id,
        things=shared.things,
        parts=frozenset(part for part in Part if part in link.parts),
        made_by=link.made_by_id or NOBODY,
        frozen=None if link.frozen is None else frozen_from(link.frozen),
    )
    return OpenedLink(actor_of_link(grant), link, shared)


def note_opening(opened: OpenedLink, now: datetime | None = None) -> None:
    """Count a visit, at most once per minute."""
    now = now or timezone.now()
    last, lately = opened.link.last_opened_at, now - OPENING_RESOLUTION
    if last is not None and last > lately:
        return
    links = ShareLink.objects.filter(id=opened.link.id).filter(
        Q(last_opened_at=None) | Q(last_opened_at__lte=lately)
    )
    links.update(last_opened_at=now, open_count=F("open_count") + 1)

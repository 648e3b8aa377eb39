"""Who asks: a member in the browser, a token on a member's behalf, or a share link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from tracker.boards.frozen import Frozen

# No user has this id.
NOBODY = 0


class Scope(StrEnum):
    """What a token may do; a browser session has no scope and no such limit."""

    LOG = "log"
    READ = "read"
    MANAGE = "manage"


class Part(StrEnum):
    """What of a shared thing is shown only where its link says so."""

    CONFIG = "config"
    ENVIRONMENT = "environment"
    LOGS = "logs"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class Grant:
    """What one share link opens: these things, by kind, and these parts of them."""

    link_id: int
    project_id: int
    things: Mapping[str, frozenset[UUID]]
    parts: frozenset[Part]
    # The user who made the link: it opens nothing that they may not read.
    made_by: int = NOBODY
    # What a dashboard's or a report's link shows instead of what is there now.
    frozen: Frozen | None = None

    def of(self, kind: str) -> frozenset[UUID]:
        return self.things.get(kind, frozenset())


@dataclass(frozen=True, slots=True)
class Actor:
    user_id: int
    # A token speaks for one workspace only; a browser session for all of its user's.
    workspace_id: int | None = None
    scope: Scope = Scope.MANAGE
    token_id: int | None = None
    # A key may be bound to some projects of its workspace; None: it is not.
    project_ids: frozenset[int] | None = None
    # Of whoever came by a share link: a stranger, who may see no more than it opens.
    grant: Grant | None = None

    @property
    def may_read(self) -> bool:
        return self.scope in (Scope.READ, Scope.MANAGE)

    @property
    def may_ingest(self) -> bool:
        return self.scope in (Scope.LOG, Scope.MANAGE)

    def sees(self, part: Part) -> bool:
        """Say whether this part of what the actor may read is for them, too."""
        return self.grant is None or part in self.grant.parts


def link_actor(request: object) -> Actor | None:
    """Return who came by a share link, whoever else they may be."""
    actor = getattr(request, "link_actor", None)
    return actor if isinstance(actor, Actor) else None


def actor_of_link(grant: Grant) -> Actor:
    """Return the stranger who came by a link: nobody's member, and only a reader."""
    return Actor(NOBODY, scope=Scope.READ, grant=grant)

"""The caller: a member in the browser, a token acting for a member, or a share link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from tracker.boards.frozen import Frozen

# An id that no user has.
NOBODY = 0


class Scope(StrEnum):
    """The permissions of a token; a browser session has all of them."""

    LOG = "log"
    READ = "read"
    MANAGE = "manage"


class Part(StrEnum):
    """The parts of a shared object that a link shows only if its creator enabled them."""

    CONFIG = "config"
    ENVIRONMENT = "environment"
    LOGS = "logs"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class Grant:
    """The objects that one share link opens, by kind, and their enabled parts."""

    link_id: int
    project_id: int
    things: Mapping[str, frozenset[UUID]]
    parts: frozenset[Part]
    # The user who created the link: it opens nothing that they cannot read.
    made_by: int = NOBODY
    # The saved state that a link to a dashboard or report shows instead of the current
    # one.
    frozen: Frozen | None = None

    def of(self, kind: str) -> frozenset[UUID]:
        return self.things.get(kind, frozenset())


@dataclass(frozen=True, slots=True)
class Actor:
    user_id: int
    # A token is limited to one workspace; a browser session covers all of its user's.
    workspace_id: int | None = None
    scope: Scope = Scope.MANAGE
    token_id: int | None = None
    # The projects to which a key is limited; None: no limit.
    project_ids: frozenset[int] | None = None
    # Set for visitors by a share link, who see only the contents of the link.
    grant: Grant | None = None

    @property
    def may_read(self) -> bool:
        return self.scope in (Scope.READ, Scope.MANAGE)

    @property
    def may_ingest(self) -> bool:
        return self.scope in (Scope.LOG, Scope.MANAGE)

    def sees(self, part: Part) -> bool:
        """Return whether the actor may see this part of the objects they can read."""
        return self.grant is None or part in self.grant.parts


def link_actor(request: object) -> Actor | None:
    """Return the visitor's share-link actor, even if they are also signed in."""
    actor = getattr(request, "link_actor", None)
    return actor if isinstance(actor, Actor) else None


def actor_of_link(grant: Grant) -> Actor:
    """Return the read-only actor for a share link."""
    return Actor(NOBODY, scope=Scope.READ, grant=grant)

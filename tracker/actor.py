"""Who asks: a member in the browser, or a token on a member's behalf."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """What a token may do; a browser session has no scope and no such limit."""

    INGEST = "ingest"
    READ = "read"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Actor:
    user_id: int
    # A token speaks for one workspace only; a browser session for all of its user's.
    workspace_id: int | None = None
    scope: Scope = Scope.FULL
    token_id: int | None = None

    @property
    def may_read(self) -> bool:
        return self.scope in (Scope.READ, Scope.FULL)

    @property
    def may_ingest(self) -> bool:
        return self.scope in (Scope.INGEST, Scope.FULL)

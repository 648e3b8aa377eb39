"""The API tokens a person has made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F
from django.utils import timezone

from tracker.actor import Actor
from tracker.models import Token


@dataclass(frozen=True, slots=True)
class TokenSummary:
    id: int
    name: str
    prefix: str
    scope: str
    workspace_name: str
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    is_expired: bool


def token_summaries(actor: Actor) -> list[TokenSummary]:
    """Return the actor's own tokens that are not revoked, the newest first."""
    now = timezone.now()
    tokens = (
        Token.objects.filter(member__user_id=actor.user_id, revoked_at=None)
        .annotate(workspace_name=F("member__workspace__name"))
        .order_by("-created_at", "-id")
    )
    return [
        TokenSummary(
            id=token.id,
            name=token.name,
            prefix=token.prefix,
            scope=token.scope,
            workspace_name=token.workspace_name,
            created_at=token.created_at,
            last_used_at=token.last_used_at,
            expires_at=token.expires_at,
            is_expired=token.expires_at is not None and token.expires_at <= now,
        )
        for token in tokens
    ]

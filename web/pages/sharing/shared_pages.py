"""Template context of pages opened by a share link."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest

from tracker.actor import link_actor
from tracker.disclosure import withheld_from


@dataclass(frozen=True, slots=True)
class SharedPage:
    """Content of the banner; `member_address` is the page for members."""

    project: str
    expires_at: datetime | None
    frozen_at: datetime | None  # None: the current page
    member_address: str


def sharing(request: HttpRequest) -> dict[str, object]:
    """Give every template `shared`, None to members, and the parts it must leave out."""
    actor = link_actor(request)
    return {
        "shared": getattr(request, "shared_page", None),
        "withheld": withheld_from(actor) if actor else frozenset(),
    }

"""The user and address of a request, for the audit log."""

from __future__ import annotations

from tracker.actions.people.doer import Doer
from tracker.server.client_address import client_address
from web.session import PageRequest


def doer_of(request: PageRequest) -> Doer:
    return Doer(request.actor.user_id, client_address(request))

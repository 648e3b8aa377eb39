"""The user and address of a request, for the audit log."""

from __future__ import annotations

from tracker.actions.people.audit_context import AuditContext
from tracker.server.client_address import client_address
from web.session import PageRequest


def audit_context(request: PageRequest) -> AuditContext:
    return AuditContext(request.actor.user_id, client_address(request))

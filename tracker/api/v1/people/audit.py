"""The audit log of a workspace."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpResponse
from django.utils import timezone
from ninja import Query, Router, Schema

from tracker.access.people import managed_workspace
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.params import Limit, Text
from tracker.queries.people.audit import AuditFilter, audit_page

MAX_ID = 2**53
Id = Annotated[int | None, Query(ge=0, le=MAX_ID)]

router = Router(tags=["audit"], auth=ReaderAuth())


class AuditEntryOut(Schema):
    """`actor` is the name at that time; `user_id` is null for commands."""

    id: int
    at: datetime
    user_id: int | None
    actor: str
    action: str
    target: str
    address: str
    details: dict[str, object]


class AuditOut(Schema):
    """Pass `before` to get the next page; null: this is the last one."""

    entries: list[AuditEntryOut]
    before: int | None


@router.get("/workspaces/{slug:workspace}/audit", response=AuditOut)
def read_audit(
    request: ApiRequest,
    *,
    workspace: str,
    user_id: Id = None,
    action: Text = "",
    since: datetime | None = None,
    until: datetime | None = None,
    before: Id = None,
    limit: Limit = 100,
) -> HttpResponse:
    """Audit entries, newest first; for owners and admins."""
    found = managed_workspace(request.auth, workspace, to="read the audit log")
    filters = AuditFilter(user_id, action, _aware(since), _aware(until))
    page = audit_page(found, filters, before=before, limit=limit)
    return json_response(
        {"entries": [_entry(each) for each in page.entries], "before": page.before}
    )


def _aware(time: datetime | None) -> datetime | None:
    """Take times without a zone as UTC."""
    return time if time is None or time.tzinfo else timezone.make_aware(time)


# Any: a row of the log, which endpoints do not import.
def _entry(entry: Any) -> dict[str, object]:
    return {
        "id": entry.id,
        "at": entry.at,
        "user_id": entry.user_id,
        "actor": entry.actor,
        "action": entry.action,
        "target": entry.target,
        "address": entry.address,
        "details": entry.details,
    }

"""The audit log of a workspace, as a page and as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tracker.access.people import managed_workspace
from tracker.actions.people.audit import Action
from tracker.errors import InvalidInput
from tracker.queries.people.audit import (
    AuditFilter,
    audit_page,
    every_entry,
    people_of,
)
from web.csv_answer import Row, csv_answer
from web.numbers import whole_number
from web.pages.people.audit_texts import ACTIONS, detail_texts
from web.request_actor import audit_context
from web.session import PageRequest, signed_in

COLUMNS = ("time", "user", "action", "target", "address", "details")
TO_READ = "read the audit log"


@require_safe
@signed_in
def audit(request: PageRequest, workspace: str) -> HttpResponse:
    found = managed_workspace(request.actor, workspace, to=TO_READ)
    before = request.GET.get("before", "")
    page = audit_page(
        found,
        _filter(request.GET),
        before=whole_number(before, "before") if before else None,
    )
    query = request.GET.copy()
    query.pop("before", None)
    context = {
        "workspace": found,
        "entries": [
            (each, ACTIONS.get(each.action), detail_texts(each.details))
            for each in page.entries
        ],
        "people": people_of(found),
        "actions": ACTIONS.items(),
        "typed": request.GET,
        "query": query.urlencode(),
        "is_filtered": any(query.values()),
        "before": page.before,
        "days": settings.AUDIT_DAYS,
    }
    return render(request, "people/audit.html", context)


@require_safe
@signed_in
def audit_csv(request: PageRequest, workspace: str) -> HttpResponseBase:
    found = managed_workspace(request.actor, workspace, to=TO_READ)
    audit_context(request).note(Action.EXPORTED, "audit log", found)
    name = f"{found.slug}-audit.csv"
    return csv_answer(_rows(found, _filter(request.GET)), name)


# Any: a row of the workspaces table, which pages do not import.
def _rows(workspace: Any, filters: AuditFilter) -> Iterator[Row]:
    yield COLUMNS
    for entry in every_entry(workspace, filters):
        yield (
            entry.at.isoformat(),
            entry.actor,
            entry.action,
            entry.target,
            entry.address,
            json.dumps(entry.details, ensure_ascii=False),
        )


def _filter(query: QueryDict) -> AuditFilter:
    user, until = query.get("user", ""), _day(query.get("until", ""), "until")
    filters = AuditFilter(
        user_id=whole_number(user, "user") if user else None,
        action=query.get("action", "")[:60].replace("\0", ""),
        since=_day(query.get("since", ""), "since"),
    )
    # The last day counts whole.
    return replace(filters, until=until + timedelta(days=1)) if until else filters


def _day(text: str, field: str) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.strptime(text[:10], "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise InvalidInput(field, "must be a date, such as 2026-11-28") from error

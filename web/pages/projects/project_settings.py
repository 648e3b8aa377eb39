"""Retention settings of a project."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods

from tracker.access.projects import (
    may_edit,
    may_manage_project,
    may_own,
    owned_project,
    readable_project,
)
from tracker.actions.prices import set_carbon_intensity, set_price
from tracker.actions.runs.trash import (
    LONGEST_RETENTION_DAYS,
    SHORTEST_RETENTION_DAYS,
    set_retention,
)
from tracker.errors import InvalidInput
from tracker.queries.people.audit import people_of
from tracker.queries.projects.trash import TRASH_DAYS, expired_count
from tracker.queries.reports.shares import live_count
from web.numbers import whole_number
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.templatetags.format import number
from web.templatetags.ledger import typed as all_digits
from web.toasts import tell

FIELD, PRICE = "retention_days", "gpu_hour_price"
CARBON = "carbon_intensity"
MAX_PRICE_CHARACTERS = 40


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def project_settings(
    request: PageRequest, workspace: str, project: str
) -> HttpResponse:
    if request.method != "POST":
        found = readable_project(request.actor, workspace, project)
        days = found.retention_days
        return settings_page(request, found, "" if days is None else str(days))

    found = owned_project(request.actor, workspace, project)
    days = found.retention_days
    typed = "" if days is None else str(days)
    try:
        if PRICE in request.POST:
            carbon = typed_price(request.POST.get(CARBON, ""), CARBON)
            set_price(
                found,
                typed_price(request.POST[PRICE]),
                request.POST.get("currency", ""),
                audit_context(request),
            )
            set_carbon_intensity(found, carbon, audit_context(request))
        else:
            typed = request.POST.get(FIELD, "").strip()
            set_retention(found, _days(typed), audit_context(request))
    except InvalidInput as refusal:
        return settings_page(request, found, typed, error=refusal)
    tell(request, f"{gettext('Saved.')} {_outlived(found)}".rstrip())
    return HttpResponseRedirect(reverse("project-settings", args=[workspace, project]))


# Any: a row of the projects table, which pages do not import.
def _outlived(project: Any) -> str:
    """Return the number of runs older than the retention, if any."""
    count = expired_count(project)
    if not count:
        return ""
    template = ngettext(
        "%(count)s run is older than that and will be moved to the trash.",
        "%(count)s runs are older than that and will be moved to the trash.",
        count,
    )
    return template % {"count": number(count)}


def _days(typed: str) -> int | None:
    if not typed:
        return None
    return whole_number(typed, FIELD, "must be a whole number of days, or empty")


def typed_price(typed: str, field: str = PRICE) -> float | None:
    typed = typed.strip().replace(",", ".")
    if not typed:
        return None
    try:
        return float(typed[:MAX_PRICE_CHARACTERS])
    except ValueError as error:
        raise InvalidInput(field, "must be a number, or empty") from error


# Any: a row of the projects table, which pages do not import.
def settings_page(
    request: PageRequest,
    project: Any,
    typed: str | None = None,
    *,
    error: InvalidInput | None = None,
) -> HttpResponse:
    price, days = project.gpu_hour_price, project.retention_days
    if typed is None:
        typed = "" if days is None else str(days)
    context = {
        "project": project,
        "tab": "settings",
        "may_edit": may_edit(request.actor, project),
        "share_count": live_count(project),
        "may_own": may_own(request.actor, project),
        "manages": may_manage_project(request.actor, project),
        "people": people_of(project.workspace),
        "typed": typed,
        "price": request.POST.get(PRICE, "" if price is None else all_digits(price)),
        "currency": request.POST.get("currency", project.currency),
        "carbon_intensity": request.POST.get(
            CARBON,
            ""
            if project.carbon_intensity is None
            else all_digits(project.carbon_intensity),
        ),
        "error": error,
        "shortest": SHORTEST_RETENTION_DAYS,
        "longest": LONGEST_RETENTION_DAYS,
        "trash_days": TRASH_DAYS,
    }
    status = 400 if error else 200
    return render(request, "projects/settings.html", context, status=status)

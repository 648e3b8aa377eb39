"""A project's alerts, and where they are sent."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from tracker.access.projects import may_own, owned_project, readable_project
from tracker.actions import channels
from tracker.alerts.services import SERVICES
from tracker.alerts.webhook import NotDelivered
from tracker.errors import InvalidInput
from tracker.queries.people.follows import follows_project
from tracker.queries.projects.alerts import channels_of, newest_alerts
from tracker.queries.projects.metric_rules import rules_of
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.texts import gettext_lazy
from web.toasts import tell

KINDS = {
    **{name: service.label for name, service in SERVICES.items() if name != "json"},
    "webhook": gettext_lazy("Webhook (JSON)"),
    "email": gettext_lazy("Email"),
}
SEVERITIES = {
    "warning": gettext_lazy("warnings and critical alerts"),
    "critical": gettext_lazy("critical alerts only"),
}


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def alerts(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    if request.method != "POST":
        return _page(request, readable_project(request.actor, workspace, project))

    found = owned_project(request.actor, workspace, project)
    kind = request.POST.get("kind", "")
    address = request.POST.get("address", "").strip()
    severity = request.POST.get("severity", "")
    try:
        channels.add_channel(found, kind, address, severity, audit_context(request))
    except InvalidInput as error:
        typed = {"kind": kind, "address": address, "severity": severity}
        return _page(request, found, error=str(error), typed=typed)
    tell(request, gettext("Alert channel added."))
    return _back(workspace, project)


@require_POST
@signed_in
def try_channel(
    request: PageRequest, workspace: str, project: str, channel_id: int
) -> HttpResponse:
    """Send a trial message while the owner waits."""
    found = owned_project(request.actor, workspace, project)
    try:
        channels.try_channel(found, channel_id)
    except NotDelivered as error:
        why = gettext("Test message not delivered. %(why)s") % {"why": error}
        return _page(request, found, error=why)
    tell(request, gettext("Test message delivered."))
    return _back(workspace, project)


@require_POST
@signed_in
def send_again(
    request: PageRequest, workspace: str, project: str, channel_id: int
) -> HttpResponse:
    found = owned_project(request.actor, workspace, project)
    channels.send_again(found, channel_id)
    tell(request, gettext("Retrying failed deliveries."))
    return _back(workspace, project)


@require_POST
@signed_in
def remove_channel(
    request: PageRequest, workspace: str, project: str, channel_id: int
) -> HttpResponse:
    found = owned_project(request.actor, workspace, project)
    channels.remove_channel(found, channel_id, audit_context(request))
    tell(request, gettext("Alert channel removed."))
    return _back(workspace, project)


def _back(workspace: str, project: str) -> HttpResponse:
    return HttpResponseRedirect(reverse("alerts", args=[workspace, project]))


# Any: a row of the projects table, which pages do not import.
def _page(
    request: PageRequest,
    project: Any,
    *,
    error: str = "",
    typed: dict[str, str] | None = None,
) -> HttpResponse:
    is_owner = may_own(request.actor, project)
    context = {
        "project": project,
        "tab": "alerts",
        "alerts": newest_alerts(project),
        "follows": follows_project(request.actor.user_id, project),
        "rules": rules_of(project, request.actor),
        "may_own": is_owner,
        # Webhook addresses are secrets; only owners see them.
        "channels": channels_of(project) if is_owner else [],
        "kinds": KINDS.items(),
        "severities": SEVERITIES.items(),
        "can_mail": bool(settings.SMTP_URL),
        "typed": typed or {},
        "error": error,
    }
    return render(request, "alerts/alerts.html", context, status=400 if error else 200)

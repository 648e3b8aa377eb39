"""The bell, the inbox, and a user's notification channels."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from tracker.actions.people import notifications
from tracker.actions.people.mail import can_mail
from tracker.actions.people.notification_settings import (
    SettingsRequest,
    change_settings,
    settings_of,
)
from tracker.actions.people.notification_webhooks import try_webhook
from tracker.alerts.services import SERVICES
from tracker.alerts.webhook import NotDelivered
from tracker.errors import InvalidInput, NotFound
from tracker.queries.people.notifications import (
    MAX_COUNTED,
    address_of,
    inbox_page,
    unread_count,
)
from web.polling import poll_answer
from web.session import PageRequest, signed_in
from web.texts import gettext_lazy
from web.toasts import tell

KINDS = {
    "failure": gettext_lazy("Failures and hangs"),
    "finding": gettext_lazy("Findings"),
    "rule": gettext_lazy("Metric rules"),
    "mention": gettext_lazy("Mentions"),
    "comment": gettext_lazy("Comments"),
}
SCHEDULES = {
    "now": gettext_lazy("Immediately"),
    "daily": gettext_lazy("Daily digest at 08:00"),
}


@require_safe
@signed_in
def bell(request: PageRequest) -> HttpResponse:
    """Answer the bell of the header with the number of unread notifications."""
    count = unread_count(request.actor)
    context = {"count": count, "is_more": count >= MAX_COUNTED}
    return poll_answer(
        request, render_to_string("people/_bell.html", context, request=request)
    )


@require_safe
@signed_in
def inbox(request: PageRequest) -> HttpResponse:
    kind, cursor = request.GET.get("kind", ""), request.GET.get("cursor", "")
    page = inbox_page(request.actor, kind=kind, cursor=cursor)
    query = {"kind": kind} if kind in KINDS else {}
    context = {
        "rows": page.rows,
        "has_unread": any(not row.is_read for row in page.rows),
        "kind": kind,
        "kinds": KINDS.items(),
        "is_first": not cursor,
        "here": f"{reverse('inbox')}?{urlencode(query)}" if query else reverse("inbox"),
        "older": _older(query, page.cursor),
    }
    if request.htmx:
        text = render_to_string("people/_inbox.html", context, request=request)
        return poll_answer(request, text)
    return render(request, "people/inbox.html", context)


@require_safe
@signed_in
def open_notification(request: PageRequest, notification_id: int) -> HttpResponse:
    """Mark a notification read and lead to its page."""
    address = address_of(request.actor, notification_id)
    if address is None:
        raise NotFound("notification")
    notifications.mark_read(request.actor.user_id, notification_id)
    return HttpResponseRedirect(address)


@require_POST
@signed_in
def mark(request: PageRequest, notification_id: int) -> HttpResponse:
    if "unread" in request.POST:
        notifications.mark_unread(request.actor.user_id, notification_id)
    else:
        notifications.mark_read(request.actor.user_id, notification_id)
    return _back_to_inbox(request)


@require_POST
@signed_in
def mark_all(request: PageRequest) -> HttpResponse:
    notifications.mark_all_read(request.actor.user_id)
    return _back_to_inbox(request)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def notification_settings(request: PageRequest) -> HttpResponse:
    if request.method != "POST":
        return _settings_page(request)
    fields = SettingsRequest(
        mail_kinds=request.POST.getlist("mail"),
        webhook_kinds=request.POST.getlist("webhook"),
        mail_schedule=request.POST.get("schedule", ""),
        time_zone=request.POST.get("time_zone", "").strip(),
        webhook_service=request.POST.get("service", ""),
        webhook_address=request.POST.get("address", ""),
    )
    try:
        change_settings(request.actor.user_id, fields)
    except InvalidInput as error:
        return _settings_page(request, error=str(error), typed=fields)
    tell(request, gettext("Settings saved."))
    return HttpResponseRedirect(reverse("notifications"))


@require_POST
@signed_in
def test_webhook(request: PageRequest) -> HttpResponse:
    """Post a test message while the user waits."""
    try:
        try_webhook(request.actor.user_id)
    except NotDelivered as error:
        why = gettext("Test message not delivered. %(why)s") % {"why": error}
        return _settings_page(request, error=why)
    except InvalidInput as error:
        return _settings_page(request, error=str(error))
    tell(request, gettext("Test message delivered."))
    return HttpResponseRedirect(reverse("notifications"))


@require_POST
@signed_in
def test_mail(request: PageRequest) -> HttpResponse:
    try:
        address = notifications.send_test_mail(request.actor.user_id)
    except InvalidInput as error:
        return _settings_page(request, error=str(error))
    template = gettext("Test message sent to %(address)s.") % {"address": address}
    tell(request, template)
    return HttpResponseRedirect(reverse("notifications"))


def _older(query: dict[str, str], cursor: str) -> str:
    if not cursor:
        return ""
    return f"{reverse('inbox')}?{urlencode({**query, 'cursor': cursor})}"


def _back_to_inbox(request: PageRequest) -> HttpResponse:
    kind = request.POST.get("kind", "")
    query = f"?{urlencode({'kind': kind})}" if kind in KINDS else ""
    return HttpResponseRedirect(reverse("inbox") + query)


def _settings_page(
    request: PageRequest, *, error: str = "", typed: SettingsRequest | None = None
) -> HttpResponse:
    stored = settings_of(request.actor.user_id)
    shown = typed or stored
    context = {
        "stored": stored,
        "shown": shown,
        "kinds": KINDS.items(),
        "schedules": SCHEDULES.items(),
        "services": SERVICES.values(),
        "can_mail": can_mail(),
        "email": getattr(request.user, "email", ""),
        "error": error,
        "tab": "notifications",
    }
    status = 400 if error else 200
    return render(request, "people/notification_settings.html", context, status=status)

"""Queued mail: stored with the change that causes it, sent by a worker."""

from __future__ import annotations

from datetime import datetime, timedelta
from html import unescape
from smtplib import SMTPException
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db.models import F
from django.template.loader import render_to_string
from django.utils import timezone

from tracker.alerts.mail import connection
from tracker.models import Mail

AT_ONCE = 50
# Doubles after each failure, up to MAX_ATTEMPTS.
FIRST_PAUSE = timedelta(seconds=30)
MAX_ATTEMPTS = 10
LEASE = timedelta(minutes=2)
# Mails can contain sign-in links, so they are deleted soon.
KEPT = timedelta(days=1)
ERROR_LENGTH = 500


def can_mail() -> bool:
    """Return whether a mail server is configured."""
    return bool(settings.SMTP_URL)


def queue_mail(to: str, template: str, context: dict[str, Any]) -> None:
    """Queue the mail `mail/<template>.txt` and `.html`; the first line is the subject.

    Without a mail server it does nothing: callers show a link instead.
    """
    if not can_mail():
        return
    known = {"public_url": settings.PUBLIC_URL, **context}
    # Django escapes for HTML in .txt templates, too.
    plain = unescape(render_to_string(f"mail/{template}.txt", known))
    subject, _, text = plain.lstrip().partition("\n")
    Mail.objects.create(
        to=to,
        subject=" ".join(subject.split())[:300],
        text=text.strip() + "\n",
        html=render_to_string(f"mail/{template}.html", known),
        due_at=timezone.now(),
    )


def send_mails() -> None:
    """Send due mails; safe with concurrent workers."""
    now = timezone.now()
    due = Mail.objects.filter(due_at__lte=now).order_by("due_at", "id")
    for mail in due[:AT_ONCE]:
        # The conditional update claims the mail; if the worker dies, it is due again
        # later.
        mine = Mail.objects.filter(id=mail.id, due_at=mail.due_at)
        if mine.update(due_at=now + LEASE, attempts=F("attempts") + 1):
            _send(mail)


def delete_old_mails(now: datetime | None = None) -> None:
    before = (now or timezone.now()) - KEPT
    Mail.objects.filter(due_at=None, created_at__lt=before).delete()


def _send(mail: Mail) -> None:
    host = urlsplit(settings.PUBLIC_URL).hostname or "localhost"
    message = EmailMultiAlternatives(
        mail.subject,
        mail.text,
        settings.MAIL_FROM or f"seamark@{host}",
        [mail.to],
        # A resent mail has the same Message-ID, so that clients show it once.
        headers={
            "Message-ID": f"<mail.{mail.id}.{mail.created_at:%s}@{host}>",
            "Auto-Submitted": "auto-generated",
        },
        connection=connection(settings.SMTP_URL),
    )
    if mail.html:
        message.attach_alternative(mail.html, "text/html")
    row = Mail.objects.filter(id=mail.id)
    try:
        message.send()
    except (SMTPException, OSError) as error:
        pause = FIRST_PAUSE * 2**mail.attempts
        is_given_up = mail.attempts + 1 >= MAX_ATTEMPTS
        row.update(
            due_at=None if is_given_up else timezone.now() + pause,
            last_error=str(error)[:ERROR_LENGTH],
        )
    else:
        row.update(due_at=None, sent_at=timezone.now(), last_error="")

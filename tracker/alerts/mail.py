"""Sends an alert by mail, through the configured server."""

from __future__ import annotations

import hashlib
from smtplib import SMTPException
from urllib.parse import unquote, urlsplit

from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend

from tracker.alerts.message import Message, subject_of, text_of
from tracker.alerts.webhook import NotDelivered

SECONDS = 10
PORTS = {"smtp": 587, "smtps": 465}


def send(
    address: str, message: Message, *, smtp_url: str, sender: str, host: str
) -> None:
    """Send the message; raise NotDelivered unless the mail server accepted it."""
    # A resent mail has the same Message-ID, so that clients show it once.
    digest = hashlib.sha256(address.encode()).hexdigest()[:16]
    identity = f"<{message.id}.{digest}@{host}>"
    mail = EmailMessage(
        subject_of(message),
        text_of(message),
        sender,
        [address],
        headers={"Message-ID": identity, "Auto-Submitted": "auto-generated"},
        connection=connection(smtp_url),
    )
    try:
        mail.send()
    except (SMTPException, OSError) as error:
        raise NotDelivered(f"The mail server rejected it: {error}.") from error


def connection(smtp_url: str) -> BaseEmailBackend:
    parts = urlsplit(smtp_url)
    return get_connection(
        "django.core.mail.backends.smtp.EmailBackend",
        host=parts.hostname,
        port=parts.port or PORTS.get(parts.scheme, 25),
        username=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        # Without a user it is a local server, which may have no certificate.
        use_tls=parts.scheme == "smtp" and bool(parts.username),
        use_ssl=parts.scheme == "smtps",
        timeout=SECONDS,
    )

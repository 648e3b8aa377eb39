"""Emails are sent once through a real mail server, in text and HTML."""

from __future__ import annotations

import email
from datetime import timedelta
from email import policy

import pytest
from django.utils import timezone

from tests.tracker.alerts.receivers import mail_server
from tracker.actions.people.mail import delete_old_mails, queue_mail, send_mails
from tracker.models import Mail

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture(autouse=True)
def template(settings, tmp_path):
    """An email template like the real ones, with hostile text."""
    folder = tmp_path / "mail"
    folder.mkdir()
    (folder / "greeting.txt").write_text(
        "Hello {{ name }}\n\nIt is {{ public_url }}.\n"
    )
    (folder / "greeting.html").write_text(
        "{% extends 'mail/_frame.html' %}{% block content %}<p>{{ name }}</p>{% endblock %}"
    )
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [str(tmp_path)]}]
    settings.SMTP_URL = "smtp://127.0.0.1:1"


def test_a_mail_arrives_once_in_text_and_html(settings):
    with mail_server() as (settings.SMTP_URL, mailbox):
        queue_mail("ada@example.com", "greeting", {"name": "Ada <b>"})
        send_mails()
        send_mails()

    (envelope,) = mailbox.got
    message = email.message_from_bytes(envelope.content, policy=policy.default)
    text, html = (part.get_content() for part in message.iter_parts())
    assert message["To"] == "ada@example.com"
    assert message["Subject"] == "Hello Ada <b>"
    assert settings.PUBLIC_URL in text
    assert "<p>Ada &lt;b&gt;</p>" in html


def test_a_name_cannot_add_a_line_to_the_subject():
    queue_mail("ada@example.com", "greeting", {"name": "Ada\nBcc: eve@example.com"})

    mail = Mail.objects.get()
    assert mail.subject == "Hello Ada"


def test_a_server_that_is_away_is_asked_again_later_and_not_for_ever():
    queue_mail("ada@example.com", "greeting", {"name": "Ada"})
    for _ in range(12):
        Mail.objects.filter(due_at__isnull=False).update(due_at=timezone.now())
        send_mails()

    mail = Mail.objects.get()
    assert mail.due_at is None
    assert mail.sent_at is None
    assert mail.attempts == 10
    assert "refused" in mail.last_error


def test_without_a_mail_server_nothing_is_written(settings):
    settings.SMTP_URL = ""
    queue_mail("ada@example.com", "greeting", {"name": "Ada"})

    assert not Mail.objects.exists()


def test_sent_mails_are_deleted_after_a_day_and_queued_mails_are_kept():
    queue_mail("ada@example.com", "greeting", {"name": "Ada"})
    queue_mail("bo@example.com", "greeting", {"name": "Bo"})
    Mail.objects.filter(to="bo@example.com").update(due_at=None)

    delete_old_mails(timezone.now() + timedelta(days=2))

    assert Mail.objects.get().to == "ada@example.com"

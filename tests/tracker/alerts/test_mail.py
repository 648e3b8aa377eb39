from __future__ import annotations

import email

import pytest

from tests.tracker.alerts.receivers import mail_server
from tests.tracker.alerts.test_message import MESSAGE
from tracker.alerts.mail import send
from tracker.alerts.webhook import NotDelivered


def test_a_mail_arrives_with_the_same_number_each_time():
    with mail_server() as (url, mailbox):
        for _ in range(2):
            send(
                "team@example.com",
                MESSAGE,
                smtp_url=url,
                sender="s@x.org",
                host="x.org",
            )

    first, second = (email.message_from_bytes(e.content) for e in mailbox.got)
    assert mailbox.got[0].rcpt_tos == ["team@example.com"]
    assert first["Message-ID"] == second["Message-ID"]
    assert "Training waits for data" in first["Subject"]


def test_an_unreachable_mail_server_is_reported():
    with pytest.raises(NotDelivered, match="rejected it"):
        send(
            "team@example.com",
            MESSAGE,
            smtp_url="smtp://127.0.0.1:1",
            sender="s@x.org",
            host="x.org",
        )

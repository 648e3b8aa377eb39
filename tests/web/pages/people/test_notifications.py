from __future__ import annotations

import pytest
from django.urls import reverse

from tests.builders import make_run
from tracker.actions.people.notifications import News, notify
from tracker.models import Member, Notification, NotificationKind, NotificationSettings
from tracker.queries.people import notifications as queries

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def client(client_of, member):
    return client_of(member)


@pytest.fixture
def notified(member, project):
    """Three notifications about one run, the newest last."""
    run = make_run(project, "baseline")
    for number, kind in enumerate(("failure", "finding", "mention")):
        news = News(
            NotificationKind(kind),
            f"incident {number}",
            f"Title {number}",
            "Summary",
            f"/runs/{run.id}/",
        )
        notify([member.user_id], news, project=project, run=run)
    return list(Notification.objects.order_by("id"))


def shown(response) -> list[str]:
    return [row.title for row in response.context["rows"]]


def test_the_bell_counts_what_is_unread(client, notified):
    assert b"3 unread" in client.get(reverse("inbox-bell")).content

    client.post(reverse("inbox-read"))

    assert b"unread" not in client.get(reverse("inbox-bell")).content


def test_unread_notifications_come_first(client, notified):
    client.get(reverse("notification", args=[notified[2].id]))

    assert shown(client.get(reverse("inbox"))) == ["Title 1", "Title 0", "Title 2"]


def test_pages_show_every_notification_once(client, notified, monkeypatch):
    monkeypatch.setattr(queries, "PAGE_SIZE", 1)
    client.get(reverse("notification", args=[notified[2].id]))
    address, titles = reverse("inbox"), []
    while address:
        response = client.get(address)
        titles += shown(response)
        address = response.context["older"]

    assert titles == ["Title 1", "Title 0", "Title 2"]


def test_a_notification_leads_to_its_page_and_is_read_then(client, notified):
    response = client.get(reverse("notification", args=[notified[0].id]))

    assert response["Location"] == notified[0].address
    notified[0].refresh_from_db()
    assert notified[0].read_at is not None


def test_the_inbox_can_be_filtered_by_kind(client, notified):
    assert shown(client.get(reverse("inbox"), {"kind": "mention"})) == ["Title 2"]


def test_anothers_notifications_look_absent(client_of, stranger, notified):
    client = client_of(stranger)

    assert client.get(reverse("notification", args=[notified[0].id])).status_code == 404
    client.post(reverse("notification-mark", args=[notified[0].id]))
    notified[0].refresh_from_db()
    assert notified[0].read_at is None
    assert shown(client.get(reverse("inbox"))) == []


def test_a_project_that_may_no_longer_be_read_leaves_the_inbox(
    client, member, notified
):
    Member.objects.filter(id=member.id).update(is_active=False)

    assert shown(client.get(reverse("inbox"))) == []
    assert b"unread" not in client.get(reverse("inbox-bell")).content


def test_settings_are_saved_and_shown(client, member, settings):
    settings.WEBHOOK_HOSTS = []
    response = client.post(
        reverse("notifications"),
        {
            "mail": ["mention"],
            "webhook": ["failure", "unknown"],
            "schedule": "daily",
            "time_zone": "Europe/Berlin",
            "service": "discord",
            "address": "https://discord.com/api/webhooks/1/x",
        },
        follow=True,
    )

    assert "Settings saved." in response.content.decode()
    stored = NotificationSettings.objects.get(user=member.user)
    assert stored.mail_kinds == ["mention"]
    assert stored.webhook_kinds == ["failure"]


def test_a_bad_webhook_address_is_refused_and_stays_in_the_form(client):
    response = client.post(
        reverse("notifications"),
        {"schedule": "now", "service": "slack", "address": "ftp://x"},
    )

    assert response.status_code == 400
    assert b"ftp://x" in response.content

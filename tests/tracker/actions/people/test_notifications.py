from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tests.builders import make_member, make_run
from tests.tracker.alerts.receivers import web_server
from tests.tracker.queries.measured import measured_run
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.actions.people.notification_mails import mail_notifications
from tracker.actions.people.notification_settings import (
    SettingsRequest,
    change_settings,
    next_digest,
)
from tracker.actions.people.notification_webhooks import post_to, users_to_post
from tracker.actions.people.notifications import (
    KEPT,
    News,
    delete_old_notifications,
    mark_read,
    notify,
)
from tracker.errors import InvalidInput
from tracker.models import (
    Follow,
    Mail,
    Notification,
    NotificationKind,
    NotificationSettings,
    Role,
    Run,
    Stage,
    State,
    User,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]

ALL = tuple(NotificationKind.values)


@pytest.fixture(autouse=True)
def home(settings):
    settings.WEBHOOK_HOSTS = ["127.0.0.1"]
    settings.SMTP_URL = "smtp://127.0.0.1:1"


def news(incident: str = "one", kind: str = NotificationKind.FAILURE) -> News:
    return News(NotificationKind(kind), incident, "Loss became NaN", "At 12.", "/x/")


def wishes(**fields) -> SettingsRequest:
    return SettingsRequest(
        **{
            "mail_kinds": ALL,
            "webhook_kinds": ALL,
            "mail_schedule": "now",
            "time_zone": "",
            "webhook_service": "",
            "webhook_address": "",
            **fields,
        }
    )


def give_address(member, email: str = "ada@example.com") -> None:
    User.objects.filter(id=member.user_id).update(email=email)


def test_an_incident_notifies_once(member, project):
    for _ in range(3):
        notify([member.user_id], news(), project=project)

    assert Notification.objects.count() == 1


def test_users_who_cannot_read_the_project_are_not_notified(member, project, stranger):
    guest = make_member("gil", Role.GUEST, workspace=member.workspace)
    viewer = make_member("vera", Role.VIEWER, workspace=member.workspace)
    ids = [each.user_id for each in (member, stranger, guest, viewer)]

    notify(ids, news(), project=project)

    notified = set(Notification.objects.values_list("user_id", flat=True))
    assert notified == {member.user_id, viewer.user_id}


def test_a_failure_notifies_who_started_the_run_and_who_follows_it():
    run = measured_run(state=State.FAILED)
    Stage.objects.filter(run=run).update(ended_at=timezone.now(), state=State.FAILED)
    workspace = run.project.workspace
    vera = make_member("vera", Role.VIEWER, workspace=workspace)
    make_member("max", Role.MEMBER, workspace=workspace)
    Follow.objects.create(user=vera.user, project=run.project, is_on=True)

    diagnose_run(run.id)

    failures = Notification.objects.filter(kind=NotificationKind.FAILURE)
    notified = set(failures.values_list("user_id", flat=True))
    assert notified == {run.made_by_id, vera.user_id}


def test_a_user_who_unfollowed_their_run_is_not_notified():
    run = measured_run(state=State.RUNNING)
    Follow.objects.create(user=run.made_by, project=run.project, run=run, is_on=False)

    diagnose_run(run.id)

    assert not Notification.objects.exists()


def test_one_mail_holds_everything_that_is_due(member, project):
    give_address(member)
    change_settings(member.user_id, wishes())
    run = make_run(project, "first run")
    for incident in ("one", "two"):
        notify([member.user_id], news(incident), project=project, run=run)

    for _ in range(2):
        mail_notifications()

    mail = Mail.objects.get()
    assert mail.subject == "2 notifications from Seamark"
    assert "first run" in mail.text
    assert "first run" in mail.html


def test_a_mail_is_not_sent_about_what_was_read(member, project):
    give_address(member)
    notify([member.user_id], news(), project=project)
    mark_read(member.user_id, Notification.objects.get().id)

    mail_notifications()

    assert not Mail.objects.exists()


def test_a_digest_waits_until_eight_in_the_persons_time_zone(member, project):
    give_address(member)
    preferences = wishes(mail_schedule="daily", time_zone="Asia/Tokyo")
    change_settings(member.user_id, preferences)
    now = datetime(2026, 3, 1, 22, 30, tzinfo=UTC)
    notify([member.user_id], news(), project=project, now=now)

    mail_notifications(now + timedelta(minutes=29))
    assert not Mail.objects.exists()

    mail_notifications(now + timedelta(minutes=31))
    assert Mail.objects.exists()


def test_a_digest_comes_at_eight_on_days_when_clocks_change():
    zone = "Europe/Berlin"

    assert next_digest(datetime(2026, 3, 28, 23, tzinfo=UTC), zone) == datetime(
        2026, 3, 29, 6, tzinfo=UTC
    )
    assert next_digest(datetime(2026, 3, 28, 6, tzinfo=UTC), zone) == datetime(
        2026, 3, 28, 7, tzinfo=UTC
    )


def test_a_webhook_gets_each_notification_once(member, project):
    with web_server() as receiver:
        preferences = wishes(webhook_service="slack", webhook_address=receiver.url)
        change_settings(member.user_id, preferences)
        notify([member.user_id], news(), project=project)
        for _ in range(2):
            for user_id in users_to_post():
                post_to(user_id)

    ((_, body),) = receiver.got
    assert "Loss became NaN" in json.loads(body)["text"]


def test_a_failing_webhook_is_paused_and_its_error_shown(member, project):
    with web_server() as receiver:
        receiver.status = 500
        preferences = wishes(webhook_service="teams", webhook_address=receiver.url)
        change_settings(member.user_id, preferences)
        notify([member.user_id], news(), project=project)
        post_to(member.user_id)

    assert users_to_post() == []
    assert NotificationSettings.objects.get().last_error == "It answered 500."
    assert Notification.objects.get().webhook_due_at is not None


@pytest.mark.parametrize(
    "fields",
    [
        {"webhook_service": "irc", "webhook_address": "https://chat.example.com/x"},
        {"webhook_service": "slack", "webhook_address": "file:///etc/passwd"},
        {"mail_schedule": "weekly"},
        {"time_zone": "Mars/Olympus"},
    ],
)
def test_settings_that_cannot_work_are_refused(member, fields):
    with pytest.raises(InvalidInput):
        change_settings(member.user_id, wishes(**fields))


def test_old_notifications_are_deleted(member, project):
    notify([member.user_id], news("old"), project=project, now=timezone.now() - KEPT)
    notify([member.user_id], news("new"), project=project)

    delete_old_notifications()

    assert Notification.objects.get().incident == "new"


def test_a_trashed_run_is_not_mailed_about(member, project):
    give_address(member)
    run = make_run(project)
    notify([member.user_id], news(), project=project, run=run)
    Run.objects.filter(id=run.id).update(trashed_at=timezone.now())

    mail_notifications()

    assert not Mail.objects.exists()

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from tests.builders import make_project
from tests.tracker.alerts.receivers import web_server
from tests.tracker.queries.measured import measured_run
from tracker.actions import alerts
from tracker.actions.alerts import channels_to_send, raise_alerts, send_to
from tracker.actions.channels import add_channel, remove_channel, send_again
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.alerts.services import SERVICES
from tracker.diagnosis.engine.finding import Severity
from tracker.errors import InvalidInput
from tracker.models import Alert, Channel, Delivery, Stage, State

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture(autouse=True)
def home(settings):
    settings.WEBHOOK_HOSTS = ["127.0.0.1"]


def live_run(**loop):
    return measured_run(state=State.RUNNING, **loop)


def webhook(run, url: str, severity: str = "warning") -> Channel:
    return add_channel(run.project, "webhook", url, severity)


def test_a_cause_raises_one_alert_and_its_symptoms_none():
    run = live_run()

    for _ in range(3):
        diagnose_run(run.id)

    assert [alert.subject for alert in Alert.objects.all()] == [
        "too-few-loader-workers"
    ]


def test_a_run_that_ended_long_ago_raises_no_alert():
    run = measured_run()
    Stage.objects.update(ended_at=timezone.now() - timedelta(days=1))

    diagnose_run(run.id)

    assert not Alert.objects.exists()


def test_a_failed_stage_raises_an_alert():
    run = measured_run(state=State.FAILED)
    Stage.objects.filter(run=run).update(ended_at=timezone.now(), state=State.FAILED)

    diagnose_run(run.id)

    assert "state failed" in set(Alert.objects.values_list("subject", flat=True))


def test_an_alert_arrives_once_however_often_it_is_sent():
    run = live_run()
    with web_server() as receiver:
        channel = webhook(run, receiver.url)
        diagnose_run(run.id)
        for _ in range(3):
            assert channels_to_send() in ([channel.id], [])
            send_to(channel.id)

    assert len(receiver.got) == 1
    assert Delivery.objects.get().sent_at is not None


def test_a_channel_for_what_is_critical_gets_no_warnings():
    run = live_run(wait_share=0.15)
    with web_server() as receiver:
        webhook(run, receiver.url, "critical")
        diagnose_run(run.id)

    assert Alert.objects.filter(severity="warning").exists()
    assert not Delivery.objects.exists()


def test_a_receiver_that_fails_is_paused_and_others_go_on():
    run = live_run()
    with web_server() as broken, web_server() as well:
        broken.status = 500
        first, second = webhook(run, broken.url), webhook(run, well.url)
        diagnose_run(run.id)
        for channel in (first, second):
            send_to(channel.id)

        assert channels_to_send() == []
        first.refresh_from_db()
        assert first.last_error == "It answered 500."
        assert first.paused_until is not None
        assert len(well.got) == 1

        broken.status = 200
        Channel.objects.update(paused_until=timezone.now())
        send_to(first.id)

    assert [len(receiver.got) for receiver in (broken, well)] == [2, 1]
    assert not Delivery.objects.filter(sent_at=None).exists()


def test_a_delivery_that_keeps_failing_is_given_up_and_can_be_retried(monkeypatch):
    monkeypatch.setattr(alerts, "MAX_ATTEMPTS", 1)
    run = live_run()
    with web_server() as receiver:
        receiver.status = 500
        channel = webhook(run, receiver.url)
        diagnose_run(run.id)
        send_to(channel.id)
        assert Delivery.objects.get().due_at is None

        receiver.status = 200
        send_again(run.project, channel.id)
        send_to(channel.id)

    assert Delivery.objects.get().sent_at is not None


def test_a_flood_waits_for_the_next_hour(monkeypatch):
    monkeypatch.setattr(alerts, "MAX_PER_HOUR", 2)
    run = live_run()
    with web_server() as receiver:
        channel = webhook(run, receiver.url)
        diagnose_run(run.id)
        alert = Alert.objects.get()
        for number in range(4):
            other = Alert.objects.create(
                project=run.project,
                run=run,
                stage="train",
                subject=str(number),
                severity="warning",
                title="More",
                summary="More.",
                raised_at=alert.raised_at,
            )
            Delivery.objects.create(
                run=run, alert=other, channel=channel, due_at=timezone.now()
            )
        for _ in range(3):
            send_to(channel.id)
        assert len(receiver.got) == 2

        hour_ago = timezone.now() - timedelta(hours=2)
        Delivery.objects.exclude(sent_at=None).update(sent_at=hour_ago)
        send_to(channel.id)

    assert len(receiver.got) == 4


def test_one_worker_at_a_time_sends_to_a_channel():
    run = live_run()
    with web_server() as receiver:
        channel = webhook(run, receiver.url)
        diagnose_run(run.id)
        Channel.objects.update(leased_until=timezone.now() + timedelta(seconds=60))
        send_to(channel.id)

    assert receiver.got == []


def test_a_channel_is_added_once_and_removed_with_what_waits_for_it(member):
    project = make_project(member)
    first = add_channel(project, "webhook", "https://a.example.com/", "warning")
    again = add_channel(project, "webhook", "https://a.example.com/", "critical")

    assert again.id == first.id
    assert Channel.objects.get().severity == "critical"
    assert again.secret == first.secret

    remove_channel(project, first.id)
    assert not Channel.objects.exists()


@pytest.mark.parametrize(
    ("kind", "address", "severity"),
    [
        ("webhook", "ftp://a.example.com/", "warning"),
        ("email", "team@example.com", "warning"),
        ("pigeon", "roof", "warning"),
        ("webhook", "https://a.example.com/", "dreadful"),
    ],
)
def test_a_channel_that_cannot_work_is_refused(member, kind, address, severity):
    with pytest.raises(InvalidInput):
        add_channel(make_project(member), kind, address, severity)


def test_mail_needs_a_server_and_an_address(member, settings):
    settings.SMTP_URL = "smtp://127.0.0.1:25"
    project = make_project(member)

    assert add_channel(project, "email", "team@example.com", "warning").id
    with pytest.raises(InvalidInput):
        add_channel(project, "email", "nobody", "warning")


def test_a_failure_and_its_cause_are_one_alert():
    run = measured_run(state=State.FAILED)
    stage = Stage.objects.get(run=run)
    Stage.objects.filter(run=run).update(state=State.FAILED)
    stage.refresh_from_db()
    finding = SimpleNamespace(severity=Severity.CRITICAL, summary="80 GiB were full.")
    cause = SimpleNamespace(
        rule="memory-ran-out",
        scope="",
        title="GPU memory ran out",
        confidence=1.0,
        explained_by=None,
        comes_after=None,
        finding=finding,
    )

    for _ in range(2):
        raise_alerts(stage, [cause], timezone.now())

    (alert,) = Alert.objects.all()
    assert (alert.subject, alert.title) == ("state failed", "GPU memory ran out")


@pytest.mark.parametrize("kind", ["slack", "mattermost", "teams", "discord"])
def test_a_chat_service_gets_its_own_format(kind):
    run = live_run()
    with web_server() as receiver:
        channel = add_channel(run.project, kind, receiver.url, "warning")
        diagnose_run(run.id)
        send_to(channel.id)

    ((_, body),) = receiver.got
    message = SERVICES[kind].body(alerts.message_of(Alert.objects.get(), channel))
    assert body == message

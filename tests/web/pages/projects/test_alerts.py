from __future__ import annotations

import pytest
from django.urls import reverse

from tests.builders import make_member, make_project
from tests.tracker.alerts.receivers import web_server
from tests.tracker.queries.measured import measured_run
from tracker.actions.channels import add_channel
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.models import Channel, Role, Run, State

pytestmark = pytest.mark.django_db

URL = "https://chat.example.com/hooks/secret"


@pytest.fixture
def owner(client_of, member):
    return client_of(member)


def address_of(project, name="alerts", *more):
    return reverse(name, args=[project.workspace.slug, project.slug, *more])


def test_an_empty_page_says_when_alerts_come(owner, project):
    page = owner.get(address_of(project)).content.decode()

    assert "No alerts yet" in page


def test_alerts_lead_to_their_runs(client_of):
    run = measured_run(state=State.RUNNING)
    Run.objects.update(name="<b>run</b>")
    diagnose_run(run.id)
    member = run.project.workspace.members.get()

    page = client_of(member).get(address_of(run.project)).content.decode()

    assert reverse("run", args=[run.id]) in page
    assert "Not enough data-loader workers" in page
    assert "<b>run</b>" not in page


def test_an_owner_adds_a_channel(owner, project):
    answer = owner.post(
        address_of(project),
        {"kind": "webhook", "address": URL, "severity": "critical"},
    )

    assert answer.status_code == 302
    assert URL in owner.get(address_of(project)).content.decode()


def test_what_was_typed_wrongly_is_kept_and_explained(owner, project):
    answer = owner.post(
        address_of(project),
        {"kind": "webhook", "address": "ftp://x", "severity": "critical"},
    )

    assert answer.status_code == 400
    page = answer.content.decode()
    assert "must be an address" in page
    assert 'value="ftp://x"' in page


def test_others_see_alerts_and_no_addresses(client_of, project):
    add_channel(project, "webhook", URL, "warning")
    viewer = client_of(make_member("vera", Role.VIEWER, workspace=project.workspace))

    assert (
        "chat.example.com/hooks" not in viewer.get(address_of(project)).content.decode()
    )
    answer = viewer.post(
        address_of(project), {"kind": "webhook", "address": URL, "severity": "warning"}
    )
    assert answer.status_code == 403


def test_a_trial_says_whether_it_arrived(owner, project, settings):
    settings.WEBHOOK_HOSTS = ["127.0.0.1"]
    with web_server() as receiver:
        channel = add_channel(project, "webhook", receiver.url, "warning")
        address = address_of(project, "channel-try", channel.id)

        assert owner.post(address).status_code == 302
        receiver.status = 404
        refused = owner.post(address)

    assert len(receiver.got) == 2
    page = refused.content.decode()
    assert "It answered 404." in page
    # The next form adds a channel, and does not test an existing one.
    assert f'method="post" action="{address_of(project)}"' in page


def test_a_channel_of_another_project_cannot_be_touched(owner, member, project):
    other = make_project(make_member("eve"), "other")
    channel = add_channel(other, "webhook", URL, "warning")

    assert owner.post(address_of(project, "channel-try", channel.id)).status_code == 404
    owner.post(address_of(project, "channel-remove", channel.id))
    owner.post(address_of(project, "channel-again", channel.id))

    assert Channel.objects.filter(id=channel.id).exists()

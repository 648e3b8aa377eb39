from __future__ import annotations

import pytest
from django.urls import reverse

from tests.builders import make_member, make_run, write_series
from tracker.actions.metric_rules import RuleRequest, create_rule
from tracker.models import MetricRule, Role

pytestmark = [pytest.mark.django_db, pytest.mark.database]

FORM = {"path": "train/loss", "condition": "above", "limit": "10", "duration": "3"}


@pytest.fixture
def client(client_of, member):
    return client_of(member)


def new(project) -> str:
    return reverse("metric-rule-new", args=[project.workspace.slug, project.slug])


def of(rule, name: str = "metric-rule", *more) -> str:
    project = rule.project
    arguments = [project.workspace.slug, project.slug, rule.id, *more]
    return reverse(name, args=arguments)


def rule_of(member, project, **fields) -> MetricRule:
    rule_request = RuleRequest("val/loss", "not-finite", **fields)
    return create_rule(project, rule_request, user_id=member.user_id)


def test_a_rule_is_created_and_listed(client, project):
    response = client.post(new(project), {**FORM, "unit": "steps"}, follow=True)

    assert b"Rule created." in response.content
    assert b"is above 10 for 3 steps" in response.content


def test_a_bad_value_stays_in_the_form(client, project):
    response = client.post(new(project), {**FORM, "limit": "much"})

    assert response.status_code == 400
    assert b'value="much"' in response.content


def test_a_test_tells_when_a_rule_would_have_fired_and_stores_nothing(client, project):
    write_series(make_run(project, "bad"), "train/loss", [1, 11, 11, 11, 11])
    write_series(make_run(project, "good"), "train/loss", [1, 2, 3])

    form = {**FORM, "unit": "steps", "test": "1"}
    rows = client.post(new(project), form).context["tested"]

    fired = {row.name: [firing.step for firing in row.firings] for row in rows}
    assert fired == {"bad": [3.0], "good": []}
    assert not MetricRule.objects.exists()


def test_a_rule_is_paused_resumed_changed_and_deleted(client, member, project):
    rule = rule_of(member, project)
    for change, expected in (("pause", True), ("resume", False)):
        client.post(of(rule, "metric-rule-change", change))
        assert (MetricRule.objects.get().paused_at is not None) is expected

    client.post(of(rule), {**FORM, "unit": "minutes"})
    assert MetricRule.objects.get().path == "train/loss"

    client.post(of(rule, "metric-rule-change", "delete"))
    assert not MetricRule.objects.exists()


def test_a_viewer_has_rules_of_their_own_and_shares_none(client_of, member, project):
    vera = make_member("vera", Role.VIEWER, workspace=member.workspace)
    client = client_of(vera)

    refused = client.post(new(project), {**FORM, "unit": "steps", "shared": "on"})
    assert refused.status_code == 403

    client.post(new(project), {**FORM, "unit": "steps"})
    assert MetricRule.objects.get().owner_id == vera.user_id


def test_private_rules_of_others_look_absent(client_of, member, project):
    vera = make_member("vera", Role.VIEWER, workspace=member.workspace)
    private = rule_of(member, project)
    shared = rule_of(member, project, is_shared=True)
    client = client_of(vera)

    assert client.get(of(private)).status_code == 404
    assert client.get(of(shared)).status_code == 403
    page = client.get(reverse("alerts", args=[member.workspace.slug, project.slug]))
    assert [row.id for row in page.context["rules"]] == [shared.id]


def test_strangers_find_no_rule(client_of, stranger, member, project):
    rule = rule_of(member, project, is_shared=True)
    client = client_of(stranger)

    assert client.get(of(rule)).status_code == 404
    assert client.get(new(project)).status_code == 404
    assert client.post(of(rule, "metric-rule-change", "delete")).status_code == 404

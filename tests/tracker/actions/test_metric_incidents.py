from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.builders import make_member, make_run, points_message, write
from tests.tracker.alerts.receivers import web_server
from tracker.actions.alerts import channels_to_send, send_to
from tracker.actions.channels import add_channel
from tracker.actions.metric_incidents import (
    REST,
    check_rules,
    end_incidents_of_ended_runs,
    runs_to_check,
)
from tracker.actions.metric_rules import (
    RuleRequest,
    change_rule,
    create_rule,
    pause_rule,
)
from tracker.errors import InvalidInput
from tracker.models import (
    Follow,
    MetricIncident,
    MetricRule,
    Notification,
    Role,
    Run,
    State,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NAN = float("nan")
NOT_FINITE = RuleRequest("val/loss", "not-finite")


@pytest.fixture
def run(project):
    return make_run(project)


def log(run, path: str, values, *, ago: timedelta = timedelta(0)) -> None:
    """Log one point per second until now, or until some time ago."""
    end = int((timezone.now() - ago).timestamp() * 1_000_000)
    times = [end - 1_000_000 * (len(values) - 1 - i) for i in range(len(values))]
    last = Run.objects.get(id=run.id).attributes.filter(path=path).first()
    first = 0 if last is None else 1_000
    steps = [float(first + i) for i in range(len(values))]
    write(run, [points_message(path, values, steps=steps, times=times)])


def titles() -> list[str]:
    return list(Notification.objects.order_by("id").values_list("title", flat=True))


def test_a_rule_notifies_its_owner_once_per_incident(run, member):
    create_rule(run.project, NOT_FINITE, user_id=member.user_id)
    log(run, "val/loss", [1.0, NAN])

    for _ in range(3):
        check_rules(run.id)

    assert titles() == ["val/loss is NaN or infinite"]
    assert Notification.objects.get().user_id == member.user_id


def test_a_series_below_the_required_duration_notifies_no_user(run, member):
    rule_request = RuleRequest("train/loss", "above", "10", "100", "steps")
    create_rule(run.project, rule_request, user_id=member.user_id)
    log(run, "train/loss", [11.0] * 50)

    check_rules(run.id)

    assert titles() == []


def test_an_incident_is_over_once_it_has_rested(run, member):
    create_rule(
        run.project,
        RuleRequest("train/loss", "above", "10", "2", "steps"),
        user_id=member.user_id,
    )
    now = timezone.now()
    log(run, "train/loss", [11.0] * 5)
    check_rules(run.id, now)
    log(run, "train/loss", [1.0] * 5)

    check_rules(run.id, now)
    assert len(titles()) == 1

    for _ in range(2):
        check_rules(run.id, now + REST)
    assert titles()[1:] == ["Resolved: train/loss > 10 for 2 steps"]
    assert MetricIncident.objects.get().ended_at == now


def test_a_metric_around_its_limit_stays_one_incident(run, member):
    create_rule(
        run.project,
        RuleRequest("train/loss", "above", "10", "1", "steps"),
        user_id=member.user_id,
    )
    now = timezone.now()
    incident = MetricIncident.objects
    log(run, "train/loss", [11.0])
    check_rules(run.id, now)
    incident.update(clear_since=now)

    check_rules(run.id, now + 2 * REST)

    assert titles() == ["train/loss > 10 for 1 steps"]
    assert incident.get().clear_since is None


def test_no_point_fires_when_a_series_stops(run, member):
    create_rule(
        run.project, RuleRequest("loss", "no-point", "", "10"), user_id=member.user_id
    )
    log(run, "loss", [1.0, 1.0], ago=timedelta(minutes=9))
    check_rules(run.id)
    assert titles() == []

    check_rules(run.id, timezone.now() + timedelta(minutes=2))

    assert titles() == ["no new points of loss for 10 min"]


def test_a_rule_of_one_run_misses_a_series_that_never_began(run, member):
    Run.objects.filter(id=run.id).update(started_at=timezone.now())
    rule_request = RuleRequest("loss", "no-point", "", "10", run=run.name)
    create_rule(run.project, rule_request, user_id=member.user_id)

    check_rules(run.id, timezone.now() + timedelta(minutes=9))
    assert titles() == []

    check_rules(run.id, timezone.now() + timedelta(minutes=11))
    assert titles() == ["no new points of loss for 10 min"]


def test_a_star_finds_the_gpu_that_is_idle(run, member):
    path = "monitoring/train/rank-0/gpu/{}/utilization_percent"
    rule_request = RuleRequest(path.format("*"), "mean-below", "20", "15")
    create_rule(run.project, rule_request, user_id=member.user_id)
    log(run, path.format(0), [90.0] * 1_000)
    log(run, path.format(1), [3.0] * 1_000)

    check_rules(run.id)

    summary = Notification.objects.get().summary
    assert summary.startswith(f"The mean of {path.format(1)} is 3 ")


def test_a_shared_rule_reaches_followers_and_channels(run, member, settings):
    settings.WEBHOOK_HOSTS = ["127.0.0.1"]
    vera = make_member("vera", Role.VIEWER, workspace=member.workspace)
    Follow.objects.create(user=vera.user, project=run.project, is_on=True)
    rule_request = RuleRequest("val/loss", "not-finite", is_shared=True)
    create_rule(run.project, rule_request, user_id=member.user_id)
    log(run, "val/loss", [NAN])

    with web_server() as receiver:
        channel = add_channel(run.project, "webhook", receiver.url, "warning")
        check_rules(run.id)
        assert channels_to_send() == [channel.id]
        send_to(channel.id)

    assert b"val/loss is NaN" in receiver.got[0][1]
    users = set(Notification.objects.values_list("user_id", flat=True))
    assert users == {member.user_id, vera.user_id}


def test_only_runs_with_active_rules_are_checked(run, member, project):
    assert runs_to_check() == []

    rule = create_rule(project, NOT_FINITE, user_id=member.user_id)
    assert runs_to_check() == [run.id]

    pause_rule(rule)
    assert runs_to_check() == []


def test_an_old_run_that_is_imported_is_no_news(project, member):
    create_rule(project, NOT_FINITE, user_id=member.user_id)
    run = make_run(project, "imported", State.FINISHED)
    log(run, "val/loss", [NAN])
    Run.objects.update(ended_at=timezone.now() - timedelta(days=1))

    assert runs_to_check() == []


def test_the_end_of_a_run_ends_its_incidents_quietly(run, member):
    create_rule(run.project, NOT_FINITE, user_id=member.user_id)
    log(run, "val/loss", [NAN])
    check_rules(run.id)
    before = timezone.now() - timedelta(hours=1)
    Run.objects.update(state=State.FINISHED, last_seen_at=before)

    end_incidents_of_ended_runs()

    assert MetricIncident.objects.get().ended_at is not None
    assert len(titles()) == 1


def test_a_changed_rule_forgets_what_it_found(run, member):
    rule = create_rule(run.project, NOT_FINITE, user_id=member.user_id)
    log(run, "val/loss", [NAN])
    check_rules(run.id)

    change_rule(rule, RuleRequest("val/loss", "above", "5"))

    assert not MetricIncident.objects.exists()
    assert MetricRule.objects.get().limit == 5


@pytest.mark.parametrize(
    "wanted",
    [
        RuleRequest("", "not-finite"),
        RuleRequest("a", "unheard-of"),
        RuleRequest("a", "above", "much"),
        RuleRequest("a", "above", "nan"),
        RuleRequest("a", "mean-below", "1", "0"),
        RuleRequest("a", "above", "1", "-5"),
        RuleRequest("a", "above", "1", "5", "hours"),
        RuleRequest("a", "not-finite", run="no such run"),
        RuleRequest("*" * 6, "not-finite"),
        RuleRequest("a\0", "not-finite"),
    ],
)
def test_rules_that_cannot_work_are_refused(project, member, wanted):
    with pytest.raises(InvalidInput):
        create_rule(project, wanted, user_id=member.user_id)

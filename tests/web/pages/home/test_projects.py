from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from tests.builders import make_member, make_project, make_run, write_series
from tests.slow.browser.many_runs import add_runs
from tests.web.sample_run import make_sample_run
from tracker.actions.access import authenticate
from tracker.models import Alert, Finding, Project, Run, Stage, State, Token
from tracker.queries.projects.home import ALERTS_SHOWN, LIVE_SHOWN, RECENT_SHOWN
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

INSTALL = f"pip install {settings.PUBLIC_URL}/sdk/seamark-"


def page(signed_in) -> str:
    return signed_in.get("/").content.decode()


def test_shows_what_goes_on_in_each_project(member, client_of):
    project = make_project(member)
    for number, state in enumerate([State.RUNNING, State.FINISHED, State.FAILED]):
        make_run(project, f"run {number}", state)

    summary = client_of(member).get("/").context["projects"][0]

    assert (summary.run_count, summary.running_count, summary.failed_count) == (3, 1, 1)
    assert summary.last_activity_at is not None


def test_leaves_out_what_is_in_the_trash(member, client_of):
    run = make_run(make_project(member))
    Run.objects.filter(id=run.id).update(trashed_at=timezone.now())

    summary = client_of(member).get("/").context["projects"][0]

    assert summary.run_count == 0
    assert summary.last_activity_at is None


def test_a_colleague_sees_the_same_and_a_stranger_nothing(member, stranger, client_of):
    make_project(member, "vision")
    colleague = make_member("bob", "viewer", workspace=member.workspace)

    assert "vision" in page(client_of(colleague))
    assert "vision" not in page(client_of(stranger))


def test_the_project_with_the_newest_activity_comes_first(member, client_of):
    make_project(member, "quiet")
    busy = make_project(member, "busy")
    make_run(busy)

    names = [project.name for project in client_of(member).get("/").context["projects"]]

    assert names == ["busy", "quiet"]


def test_without_projects_says_how_to_log_the_first_run(member, client_of, settings):
    settings.IS_SQLITE = True

    html = page(client_of(member))

    assert html.index(INSTALL) < html.index("import agent")
    assert "python3 manage.py demo" in html


def test_a_team_server_first_shows_how_to_connect(member, client_of, settings):
    settings.IS_SQLITE = False

    html = page(client_of(member))

    places = [html.index(each) for each in (INSTALL, "SEAMARK_URL", "import agent")]
    assert places == sorted(places)
    # Both are true only for the user who started the server.
    assert "no configuration is needed" not in html
    assert "python3 manage.py demo" not in html


def test_viewers_are_not_told_to_log(client_of):
    html = page(client_of(make_member("vic", role="viewer")))

    assert "Nothing logged yet" in html
    assert "import agent" not in html
    assert "pip install" not in html


def test_workspaces_are_named_once_there_are_several(member, client_of):
    make_project(member, "vision")
    assert "ada&#x27;s" not in main_of(page(client_of(member)))

    other = make_member("zoe")
    member.__class__.objects.create(
        workspace=other.workspace, user=member.user, role="viewer"
    )
    make_project(other, "speech")

    assert "zoe&#x27;s" in main_of(page(client_of(member)))


def main_of(html):
    return html.split("<main")[1].split("</main>")[0]


def test_a_name_is_shown_literally(member, client_of):
    Project.objects.create(
        workspace=member.workspace, name="<script>alert(1)</script>", slug="odd"
    )

    assert "<script>alert" not in page(client_of(member))


def test_costs_the_same_for_many_projects_and_runs(
    member, client_of, django_assert_num_queries
):
    def fill(first, count):
        for number in range(first, first + count):
            project = make_project(member, f"p{number}")
            make_run(project, "live")
            add_runs(project, 30)
            raise_alert(make_run(project, "failed", State.FAILED))

    client = client_of(member)
    fill(0, 2)
    assert client.get("/").status_code == 200  # warms up the caches
    with django_assert_num_queries(STATEMENTS):
        client.get("/")
    fill(2, 8)
    with django_assert_num_queries(STATEMENTS):
        client.get("/")


# Session and user (2), workspaces (2), projects, running runs (6), ended runs (5), GPU
# hours (2), alerts.
STATEMENTS = 19


@pytest.fixture
def home(client_of, member):
    client = client_of(member)
    return lambda: client.get("/")


def raise_alert(run, subject="state failed", **fields):
    return Alert.objects.create(
        **{
            "project": run.project,
            "run": run,
            "stage": "train",
            "subject": subject,
            "severity": "critical",
            "title": "Stage failed",
            "summary": "It failed.",
            "raised_at": timezone.now(),
            **fields,
        }
    )


def find_something(run, **fields):
    stage = run.stages.get()
    return Finding.objects.create(
        **{
            "run": run,
            "stage": stage,
            "rule": "data-wait-dominates",
            "is_primary": True,
            "severity": "warning",
            "confidence": 0.9,
            "title": "Training <waits> for data",
            "body": {},
            "opened_at": timezone.now(),
            "changed_at": timezone.now(),
            **fields,
        }
    )


def test_a_live_run_says_where_it_is(home, project):
    run = make_run(project, "live")
    find_something(run)
    write_series(run, "train/loss", [3.0, 2.0, 1.0], steps=[0, 1, 41])
    compact_run(run.id)

    [live] = home().context["live"].shown

    assert (live.name, live.stages, live.step) == ("live", ("train",), 41)
    assert live.main_finding.title == "Training <waits> for data"
    assert live.silent_for is None
    assert live.running_for > 0


def test_a_resumed_run_is_running_for_its_duration_not_its_wall_time(home, project):
    now = timezone.now()
    run = make_run(project, "resumed")
    Run.objects.filter(id=run.id).update(
        started_at=now - timedelta(days=2),
        active_seconds=3_600.0,
        active_since=now - timedelta(hours=1),
    )

    [live] = home().context["live"].shown

    assert live.running_for == pytest.approx(7_200, abs=60)


def test_the_timed_loop_says_the_step_before_what_else_is_logged(home, project):
    run = make_run(project)
    write_series(run, "epoch", [1.0], steps=[900])
    write_series(run, "monitoring/train/step/seconds", [0.1, 0.1], steps=[6, 7])
    compact_run(run.id)

    assert home().context["live"].shown[0].step == 7


def test_a_step_nobody_logged_is_unknown_rather_than_none(home, project):
    make_run(project)

    assert home().context["live"].shown[0].step is None
    assert (
        ">0</td>"
        not in home().content.decode().split('id="live"')[1].split("</table>")[0]
    )


def test_an_agent_that_has_fallen_silent_is_marked(home, project):
    run = make_run(project)
    last = timezone.now() - timedelta(minutes=5)
    Run.objects.filter(id=run.id).update(last_seen_at=last)

    assert "not responding for 5 min" in home().content.decode()


def test_what_runs_is_asked_again_alone(client_of, member, project):
    make_run(project, "live")

    part = client_of(member).get("/", headers={"hx-request": "true"}).content.decode()

    assert "live" in part
    assert "<html" not in part
    assert "Recent runs" not in part


def test_of_very_many_live_runs_some_are_shown_and_all_counted(home, project):
    for number in range(LIVE_SHOWN + 3):
        make_run(project, f"run {number}")

    live = home().context["live"]

    assert (live.count, len(live.shown)) == (LIVE_SHOWN + 3, LIVE_SHOWN)


def test_the_newest_runs_of_all_projects_are_recent(home, member):
    projects = [make_project(member, f"p{number}") for number in range(3)]
    for number in range(2 * RECENT_SHOWN):
        make_run(projects[number % 3], f"run {number}", State.FINISHED)
    make_run(projects[0], "live")

    names = [run.name for run in home().context["recent"]]

    last = 2 * RECENT_SHOWN
    assert names == [
        f"run {number}" for number in range(last - 1, last - 1 - RECENT_SHOWN, -1)
    ]


def test_recent_runs_have_no_column_of_findings_without_a_verdict(home, project):
    make_run(project, "only metrics", State.FINISHED)
    table = home().content.decode().partition("Recent runs")[2]
    assert "Finding or error" not in table
    assert "not diagnosed" not in table

    make_sample_run(project, has_gpu=True)
    table = home().content.decode().partition("Recent runs")[2]
    assert "Finding or error" in table
    assert "chip--plain chip--critical" in table


TRACEBACK = (
    'Traceback (most recent call last):\n  File "train.py", line 12, in <module>\n'
    "    loss.backward()\ntorch.OutOfMemoryError: CUDA out of memory.\nTry less."
)


def test_a_failed_run_shows_its_error_instead_of_a_finding(home, project):
    run = make_sample_run(project, has_gpu=True)
    Run.objects.filter(id=run.id).update(state=State.FAILED)
    first, *later = run.stages.order_by("ended_at")
    Stage.objects.filter(id=first.id).update(failure=TRACEBACK)
    Stage.objects.filter(id__in=[stage.id for stage in later]).update(failure="later")

    table = home().content.decode().partition("Recent runs")[2]

    assert ">torch.OutOfMemoryError: CUDA out of memory.</bdi>" in table
    assert "Try less" not in table
    assert ">later<" not in table
    assert "chip--plain chip--critical" not in table


def test_a_crashed_run_shows_that_it_stopped(home, project):
    make_run(project, "killed", State.CRASHED)

    table = home().content.decode().partition("Recent runs")[2]

    assert "Stopped without an exit status" in table
    assert "not diagnosed" not in table


def test_a_failed_run_without_an_error_shows_its_verdict(home, project):
    make_run(project, "killed", State.CRASHED)
    make_run(project, "failed", State.FAILED)

    assert "not diagnosed" in home().content.decode().partition("Recent runs")[2]


def test_gpu_hours_of_the_week_are_added_up_by_project(home, project):
    run = make_sample_run(project, has_gpu=True)
    Run.objects.filter(id=run.id).update(started_at=timezone.now())

    [each] = home().context["ledgers"]

    assert each.name == "vision"
    assert 0 < each.ledger.idle_share < 1
    shares = each.ledger.share_of
    assert each.ledger.idle_share + shares["computing"] + each.ledger.unknown_share <= 1
    assert "idle" in home().content.decode()


def test_gpu_hours_nobody_measured_are_not_called_none(home, project):
    old = make_sample_run(project, has_gpu=True)

    assert old.started_at < timezone.now() - timedelta(days=7)
    page = home().content.decode()
    assert "No runs started in the last 7 days." in page
    assert "0 GPU hours" not in page

    new = make_run(project, "not diagnosed")
    Run.objects.filter(id=new.id).update(started_at=timezone.now())
    page = home().content.decode()
    assert "1 run started in the last 7 days. GPU hours appear" in page
    assert "0 GPU hours" not in page


def test_runs_without_a_gpu_are_counted_with_the_time_they_are_of(home, project):
    for name in ("one", "two"):
        make_sample_run(project, name)
    Run.objects.update(started_at=timezone.now())

    page = home().content.decode()

    assert "2 runs started in the last 7 days, none with a GPU" in page


def test_alerts_of_runs_that_have_ended_are_told_apart_and_come_last(home, project):
    live, ended = make_run(project, "live"), make_run(project, "over", State.FINISHED)
    raise_alert(live, raised_at=timezone.now() - timedelta(hours=1))
    raise_alert(ended)

    answer = home()
    alerts = answer.context["alerts"]

    assert [alert.run_name for alert in alerts.shown] == ["live", "over"]
    assert [
        [each.run_name for each in part] for part in (alerts.live, alerts.past)
    ] == [
        ["live"],
        ["over"],
    ]
    assert (
        answer.content.decode().partition("Ended runs")[2].count("<bdi>over</bdi>") == 1
    )


def test_without_a_live_alert_nothing_needs_anybody(home, project):
    raise_alert(make_run(project, "over", State.FINISHED))

    assert "No alerts on running runs" in home().content.decode()


def test_an_alert_is_open_until_its_cause_is_gone_or_dismissed(home, project):
    held, gone, dismissed = (make_run(project, name) for name in ("a", "b", "c"))
    for run in (held, gone, dismissed):
        raise_alert(run, "data-wait-dominates")
    find_something(held)
    find_something(gone, is_open=False)
    find_something(dismissed, dismissed_at=timezone.now())

    assert [alert.run_name for alert in home().context["alerts"].shown] == ["a"]


def test_an_alert_about_one_gpu_is_told_from_one_about_another(home, project):
    run = make_run(project)
    raise_alert(run, "gpu-is-held-but-idle gpu/0")
    raise_alert(run, "gpu-is-held-but-idle gpu/1")
    find_something(run, rule="gpu-is-held-but-idle", scope="gpu/0", is_open=False)
    find_something(run, rule="gpu-is-held-but-idle", scope="gpu/1")

    assert len(home().context["alerts"].shown) == 1


def test_alerts_that_are_old_or_too_many_are_left_to_the_project(home, project):
    run = make_run(project)
    raise_alert(run, "old", raised_at=timezone.now() - timedelta(days=8))
    for number in range(ALERTS_SHOWN + 1):
        raise_alert(run, f"state {number}")

    alerts = home().context["alerts"]

    assert len(alerts.shown) == ALERTS_SHOWN
    assert alerts.has_more


def test_a_stranger_sees_none_of_it(client_of, stranger, project):
    find_something(make_run(project, "live"))
    raise_alert(make_run(project, "failed", State.FAILED))
    mine = make_project(stranger, "mine")
    make_run(mine, "own", State.FINISHED)

    context = client_of(stranger).get("/").context

    assert context["live"].count == 0
    assert context["alerts"].shown == []
    assert [run.name for run in context["recent"]] == ["own"]


def test_a_first_token_is_made_and_filled_in_once(client_of, member):
    client = client_of(member)

    made = client.post(
        "/account/keys/first",
        {"workspace": member.workspace.slug, "project": 'a"b'},
    )

    page = made.content.decode()
    assert made.status_code == 201
    secret = page.split("SEAMARK_TOKEN=")[1].split("<")[0]
    assert authenticate(secret).scope == "log"
    assert f"SEAMARK_URL={settings.PUBLIC_URL}" in page
    assert secret not in client.get("/").content.decode()
    assert Token.objects.get().expires_at > timezone.now() + timedelta(days=300)


def test_a_token_is_made_for_ones_own_workspaces_only(client_of, member, stranger):
    answer = client_of(stranger).post(
        "/account/keys/first", {"workspace": member.workspace.slug}
    )

    assert answer.status_code == 404
    assert not Token.objects.exists()

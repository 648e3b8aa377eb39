"""Polled parts of pages: content, 304, and the number of queries."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import (
    make_project,
    make_run,
    records_message,
    write,
    write_series,
    write_values,
)
from tests.tracker.api.v1.test_files import file_message
from tracker.models import Run, State
from tracker.series.compaction import compact_run

pytestmark = pytest.mark.django_db

CPU = "monitoring/train/job/cpu_cores"
# Session and user, permission, the amount of data, and the amount not compacted yet.
IDLE_STATEMENTS = 8
TABS = ("hardware", "logs", "files?open=", "files?whole=1", "attributes?open=")


@pytest.fixture
def project(member):
    return make_project(member)


@pytest.fixture
def ask(client_of, member):
    client = client_of(member)

    def ask(address, held=""):
        named = {"If-None-Match": held} if held else {}
        return client.get(address, headers={"HX-Request": "true", **named})

    return ask


def log_much(run, first, count):
    for number in range(first, first + count):
        write_values(run, {f"params/n{number}": number, f"deep/{number}/a": 1})
        write_series(run, f"{CPU}/{number}", [1.0, 2.0])
        write(
            run,
            [
                records_message(f"logs/rank-{number}", ["a line"]),
                file_message(f"model/{number}", bytes([number])),
            ],
        )
    compact_run(run.id)


@pytest.mark.parametrize("tab", TABS)
def test_what_is_held_is_answered_by_few_statements_and_not_sent(ask, project, tab):
    run = make_run(project)
    log_much(run, 0, 3)
    address = f"/runs/{run.id}/{tab}"
    first = ask(address)

    with CaptureQueriesContext(connection) as queries:
        again = ask(address, first["ETag"])

    assert first.status_code == 200
    assert again.status_code == 304
    assert again.content == b""
    assert len(queries) <= IDLE_STATEMENTS, [each["sql"] for each in queries]


@pytest.mark.parametrize("tab", TABS)
def test_a_poll_costs_as_many_statements_for_much_as_for_little(ask, project, tab):
    run = make_run(project)
    log_much(run, 0, 1)
    address = f"/runs/{run.id}/{tab}"
    ask(address)
    with CaptureQueriesContext(connection) as little:
        ask(address)
    log_much(run, 1, 6)
    with CaptureQueriesContext(connection) as much:
        assert ask(address).status_code == 200

    assert len(much) <= len(little)


@pytest.mark.parametrize("tab", TABS)
def test_what_was_logged_since_is_sent(ask, project, tab):
    run = make_run(project)
    log_much(run, 0, 1)
    address = f"/runs/{run.id}/{tab}"
    etag = ask(address)["ETag"]

    log_much(run, 1, 1)
    write_series(run, CPU, [3.0])
    compact_run(run.id)

    assert ask(address, etag).status_code == 200


def test_what_came_but_is_not_shown_gives_a_newer_name_and_nothing_else(ask, project):
    run = make_run(project)
    log_much(run, 0, 1)
    address = f"/runs/{run.id}/attributes?open=&prefix=params/"
    first = ask(address)

    write_values(run, {"elsewhere": 1})
    later = ask(address, first["ETag"])
    again = ask(address, later["ETag"])

    assert (later.status_code, again.status_code) == (304, 304)
    assert later["ETag"] not in (first["ETag"], "")
    assert again["ETag"] == later["ETag"]


def test_a_summary_that_comes_after_its_points_is_sent(ask, project):
    run = make_run(project)
    write_series(run, CPU, [1.0, 6.0])
    address = f"/runs/{run.id}/hardware"
    first = ask(address)

    compact_run(run.id)
    after = ask(address, first["ETag"])

    assert "hardware__readings" not in first.content.decode()
    assert "hardware__readings" in after.content.decode()


def test_an_answer_is_no_page_to_come_back_to(ask, project):
    run = make_run(project)

    answer = ask(f"/runs/{run.id}/hardware")

    assert "HX-Request" in answer["Vary"]
    assert answer["Cache-Control"] == "no-store"
    first = ask(f"/runs/{run.id}/hardware", answer["ETag"])
    assert (first.status_code, first["Cache-Control"]) == (304, "no-store")
    assert "<html" not in answer.content.decode()


def test_branches_that_were_opened_come_opened_and_no_others(ask, project):
    run = make_run(project)
    write_values(run, {f"{name}/{n:03}": n for name in "ab" for n in range(30)})
    address = f"/runs/{run.id}/attributes?open="

    closed, opened = ask(address), ask(f"{address}&open=b/&open=../&open=%00")

    assert ">005<" not in closed.content.decode()
    assert opened.content.decode().count(">005<") == 1


@pytest.mark.parametrize(
    ("hours", "every"), [(0.1, "5s"), (1, "60s"), (23, "60s"), (25, None)]
)
def test_a_preempted_run_is_looked_at_seldom_for_a_day(
    client_of, member, project, hours, every
):
    run = make_run(project)
    ended = timezone.now() - timedelta(hours=hours)
    Run.objects.filter(id=run.id).update(state=State.PREEMPTED, ended_at=ended)

    text = client_of(member).get(f"/runs/{run.id}/").content.decode()

    overview = text.partition('id="run-overview"')[2].partition(">")[0]
    assert ("hx-trigger" in overview) == (every is not None)
    assert every is None or f'hx-trigger="every {every}"' in overview


def test_what_failed_is_not_looked_at_for_long(client_of, member, project):
    run = make_run(project)
    ended = timezone.now() - timedelta(hours=1)
    Run.objects.filter(id=run.id).update(state=State.FAILED, ended_at=ended)

    text = client_of(member).get(f"/runs/{run.id}/").content.decode()

    assert 'hx-trigger="every' not in text


class TestWaiting:
    def test_the_first_page_is_loaded_anew_once_there_is_a_project(self, ask, member):
        assert ask("/?part=start").status_code == 204
        assert "HX-Refresh" not in ask("/?part=start")

        make_project(member)

        assert ask("/?part=start")["HX-Refresh"] == "true"
        kept = ask("/?part=start&keeps=page")
        assert "HX-Refresh" not in kept
        assert "First run received" in kept.content.decode()

    def test_an_empty_project_is_loaded_anew_once_there_is_a_run(self, ask, project):
        address = f"/w/{project.workspace.slug}/{project.slug}/"
        assert "HX-Refresh" not in ask(address)

        run = make_run(project)

        assert ask(address)["HX-Refresh"] == "true"
        Run.objects.filter(id=run.id).update(trashed_at=timezone.now())
        assert "HX-Refresh" not in ask(address)


class TestHome:
    COLUMNS = "/?part=columns"

    def test_it_is_loaded_anew_once_the_last_project_is_gone(self, ask, project):
        first = ask(self.COLUMNS)
        project.delete()

        answer = ask(self.COLUMNS, first["ETag"])

        assert answer["HX-Refresh"] == "true"

    def test_nothing_is_read_while_nothing_runs(self, ask, project):
        make_run(project, state="finished")
        first = ask(self.COLUMNS)

        with CaptureQueriesContext(connection) as queries:
            again = ask(self.COLUMNS, first["ETag"])

        assert again.status_code == 304
        assert len(queries) <= IDLE_STATEMENTS

    def test_a_run_that_began_or_ended_is_told(self, ask, project):
        make_run(project, "first", "finished")
        etag = ask(self.COLUMNS)["ETag"]

        make_run(project, "second", "finished")
        later = ask(self.COLUMNS, etag)

        assert "second" in later.content.decode()


class TestComparisons:
    @pytest.fixture
    def address(self, project):
        runs = [make_run(project, name) for name in ("a", "b")]
        for number, run in enumerate(runs):
            write_values(run, {"params/lr": number})
        ids = ",".join(str(run.id) for run in runs)
        return f"/w/{project.workspace.slug}/{project.slug}/compare", f"?runs={ids}"

    @pytest.mark.parametrize(
        "more",
        [
            "",
            "&tab=findings&part=findings",
            "&tab=parallel&part=values",
            "&tab=scatter&part=values&x=params/lr&y=params/lr",
        ],
    )
    def test_what_has_not_changed_is_not_sent_twice(self, ask, address, more):
        page, query = address

        first = ask(f"{page}{query}{more}")

        assert first.status_code == 200
        assert ask(f"{page}{query}{more}", first["ETag"]).status_code == 304

    def test_values_below_a_chart_are_sent_where_they_changed(self, ask, address):
        page, query = address
        values = f"{page}{query}&tab=parallel&part=values"
        first = ask(values)

        write_values(Run.objects.get(name="a"), {"params/lr": 7.25})

        assert "7.25" in ask(values, first["ETag"]).content.decode()
        assert ask(f"{page}{query}&tab=source&part=values").status_code == 404

    def test_rows_of_the_table_are_sent_where_they_changed(self, ask, address):
        page, query = address
        first = ask(f"{page}/table{query}")

        assert first["Content-Type"].startswith("application/json")
        assert ask(f"{page}/table{query}", first["ETag"]).status_code == 304
        write_values(Run.objects.get(name="a"), {"params/lr": 7})
        assert "7" in ask(f"{page}/table{query}", first["ETag"]).content.decode()


def test_for_how_long_a_run_is_silent_is_not_sent_again(ask, project):
    run = make_run(project)

    def heard_of(ago):
        seen = timezone.now() - timedelta(seconds=ago)
        Run.objects.filter(id=run.id).update(last_seen_at=seen)

    heard_of(100)
    first = ask(f"/runs/{run.id}/header")
    assert "not responding for" in first.content.decode()
    assert ask(f"/runs/{run.id}/header", first["ETag"]).status_code == 304

    # Data arrived in between, without a page view.
    heard_of(40)
    assert ask(f"/runs/{run.id}/header", first["ETag"]).status_code == 200

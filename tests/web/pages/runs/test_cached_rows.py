"""Polls of a runs table return only the rows that the client lacks."""

from __future__ import annotations

import json
import random

import pytest
from django.utils import timezone

from tests.builders import make_run, write_series, write_tags, write_values
from tests.web.sample_run import settle
from tracker.actions.runs.tags import change_tags
from tracker.models import Project, Run, State

pytestmark = pytest.mark.django_db

NOT_MODIFIED = 304


class Table:
    """Holds a block as the page does, and keeps it fresh."""

    def __init__(self, client, project: Project, **query) -> None:
        self.client, self.query = client, query
        self.page = f"/w/{project.workspace.slug}/{project.slug}/"
        page = client.get(self.page, query).content.decode()
        start = page.split('id="first-block" type="application/json">')[1]
        block = json.loads(start.split("</script>")[0])
        self.tag, self.rows, self.top = block["tag"], block["rows"], block["top"]
        self.sent: list[str] = []
        self.status = 0

    def poll(self) -> Table:
        """Poll for changes, and note the names of the rows sent."""
        answer = self.ask(self.tag)
        self.status, self.sent = answer.status_code, []
        if answer.status_code != NOT_MODIFIED:
            known = [*self.rows, *self.top]
            body, self.tag = answer.json(), answer["ETag"]
            self.rows = self._whole(body["rows"], known)
            self.top = self._whole(body["top"], known)
        return self

    def ask(self, tag: str | None = None):
        headers = {"If-None-Match": tag} if tag else {}
        return self.client.get(f"{self.page}runs.json", self.query, headers=headers)

    def _whole(self, rows, known) -> list:
        self.sent += [row["name"] for row in rows if not isinstance(row, int)]
        return [known[row] if isinstance(row, int) else row for row in rows]

    @property
    def is_right(self) -> bool:
        body = self.ask().json()
        return (body["rows"], body["top"]) == (self.rows, self.top)

    @property
    def names(self) -> list[str]:
        return [row["name"] for row in self.rows]


@pytest.fixture
def open_table(client_of, member, project):
    def open_it(**query) -> Table:
        return Table(client_of(member), project, **query)

    return open_it


@pytest.fixture
def runs(project) -> list[Run]:
    return [make_run(project, name, State.FINISHED) for name in "abcde"]


def test_what_came_with_the_page_is_not_sent_again(open_table, runs):
    table = open_table(sort="name").poll()

    assert table.status == NOT_MODIFIED
    assert table.names == list("abcde")


def test_only_rows_that_changed_are_sent(open_table, runs, project):
    table = open_table(sort="name", column="tags")

    write_tags(runs[2], "new")
    assert table.poll().sent == ["c"]
    assert table.is_right
    assert table.poll().status == NOT_MODIFIED

    change_tags(project, [runs[0].id, runs[4].id], add=["more"])
    assert table.poll().sent == ["a", "e"]
    assert table.is_right


def test_a_run_that_changes_twice_at_one_moment_is_sent_twice(open_table, runs):
    table = open_table(sort="name", column="state")
    moment = timezone.now()

    for state in (State.FAILED, State.CRASHED):
        Run.objects.filter(id=runs[1].id).update(state=state, last_seen_at=moment)
        assert table.poll().sent == ["b"]
        assert table.is_right


def test_a_change_that_is_taken_back_between_polls_is_none(open_table, runs):
    table = open_table(sort="name", column="state")

    for state in (State.FAILED, State.FINISHED):
        Run.objects.filter(id=runs[1].id).update(state=state)

    assert table.poll().status == NOT_MODIFIED


def test_of_a_new_run_its_row_is_sent_and_the_others_move(open_table, runs, project):
    table = open_table(sort="name")

    make_run(project, "aa", State.FINISHED)

    assert table.poll().sent == ["aa"]
    assert table.names == ["a", "aa", *"bcde"]
    assert table.is_right


def test_a_run_that_goes_is_gone_and_comes_back(open_table, runs):
    table = open_table(sort="name")
    gone = Run.objects.filter(id=runs[1].id)

    gone.update(trashed_at=timezone.now())
    assert (table.poll().sent, table.names) == ([], list("acde"))
    gone.update(trashed_at=None)
    assert (table.poll().sent, table.names) == (["b"], list("abcde"))
    Run.objects.all().update(trashed_at=timezone.now())
    assert (table.poll().sent, table.names) == ([], [])
    assert table.is_right


def test_rows_in_another_order_are_not_sent_but_placed(open_table, runs):
    for place, run in enumerate(runs):
        write_values(run, {"rank": place})
    table = open_table(sort="path:rank", column="state")
    assert table.names == list("abcde")

    for place, run in enumerate(reversed(runs)):
        write_values(run, {"rank": place})

    assert table.poll().status == 200
    assert (table.sent, table.names) == ([], list("edcba"))
    assert table.is_right


def test_other_columns_are_other_rows(open_table, runs, project):
    table = open_table(sort="name")

    for run in runs:
        write_values(run, {"params/lr": 0.1})
    write_values(runs[0], {"params/lr": 0.2})

    # Parameters in which runs differ are columns by themselves.
    assert table.poll().sent == list("abcde")
    assert table.is_right


def test_rows_on_top_are_held_like_others(open_table, runs):
    table = open_table(sort="name", column="tags", top=[runs[3].id, runs[0].id])

    write_tags(runs[3], "new")

    # In both places, as it is the same run.
    assert table.poll().sent == ["d", "d"]
    assert [row["name"] for row in table.top] == ["d", "a"]
    assert table.is_right


def test_points_that_come_are_sent_once_they_are_counted(open_table, runs):
    table = open_table(sort="name", column="path:loss")

    write_series(runs[0], "loss", [0.5, 0.25])
    settle(runs[0])

    assert table.poll().sent == ["a"]
    assert table.rows[0]["values"] == [0.25]


@pytest.mark.parametrize(
    "tag", ['"x"', '"' + "A" * 12 * 500 + '"', '"AAAAAAAAAAAA"', '"a", "b"', "nonsense"]
)
def test_whoever_names_nothing_that_makes_sense_is_sent_all(open_table, runs, tag):
    answer = open_table(sort="name").ask(tag)

    assert [row["name"] for row in answer.json()["rows"]] == list("abcde")


def test_what_is_named_is_bounded_by_the_rows_of_a_block(open_table, project):
    for number in range(3):
        make_run(project, f"run {number}")

    assert len(open_table().tag) < 2 + (3 + 1) * 12 + 1


def test_whatever_happens_the_table_is_right_afterwards(open_table, runs, project):
    draw = random.Random(7)
    table = open_table(sort="path:rank", column="path:rank", top=str(runs[2].id))

    def change(run: Run) -> None:
        rows = Run.objects.filter(id=run.id)
        match draw.randrange(5):
            case 0:
                write_values(run, {"rank": draw.randrange(4)})
            case 1:
                rows.update(trashed_at=draw.choice([None, timezone.now()]))
            case 2:
                rows.update(state=draw.choice(State.values))
            case 3:
                make_run(project, f"new {draw.random()}", State.FINISHED)
            case 4:
                rows.update(name=f"{run.name[0]} {draw.random()}")

    for _ in range(40):
        for _ in range(draw.randrange(3)):
            run = draw.choice(runs)
            if Run.objects.filter(id=run.id, trashed_at=None).exists():
                change(Run.objects.get(id=run.id))
            else:
                Run.objects.filter(id=run.id).update(trashed_at=None)
        assert table.poll().is_right

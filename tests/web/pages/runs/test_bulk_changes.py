from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.utils import timezone

from tests.builders import make_member, make_project, make_run, write_tags
from tracker.actions.runs import many_runs
from tracker.actions.runs.trash import move_many_to_trash, pin
from tracker.models import Attribute, BulkChange, Run
from web.pages.runs import bulk_changes as views

pytestmark = pytest.mark.django_db


@pytest.fixture
def send(member, client_of, project):
    def post(what, runs, *, to=None, by=member, **fields):
        found = to or project
        address = f"/w/{found.workspace.slug}/{found.slug}/runs/{what}"
        return client_of(by).post(
            address,
            {"runs": ",".join(str(run.id) for run in runs), **fields},
            headers={"accept": "application/json"},
        )

    return post


def test_runs_are_tagged_and_untagged(send, project):
    runs = [make_run(project, name) for name in "ab"]

    added = send("tag", runs, add="x").json()["changed"]
    send("tag", runs[:1], remove="x")

    assert set(added) == {str(run.id) for run in runs}
    found = Attribute.objects.filter(path="tags").values_list("run__name", "items")
    assert dict(found) == {"a": [], "b": ["x"]}


def test_runs_are_moved_to_the_trash_and_back_but_for_pinned_ones(send, project):
    runs = [make_run(project, name) for name in "abc"]
    pin(runs[2])

    moved = send("trash", runs).json()["changed"]

    assert set(moved) == {str(run.id) for run in runs[:2]}
    assert [run.name for run in Run.objects.not_in_trash()] == ["c"]
    back = send("restore", runs).json()["changed"]
    assert set(back) == set(moved)
    assert Run.objects.not_in_trash().count() == 3


@pytest.mark.parametrize("what", ["tag", "trash", "restore"])
def test_who_may_not_edit_may_not_do_it(send, project, member, stranger, what):
    run = make_run(project)
    viewer = make_member("bob", "viewer", workspace=member.workspace)

    assert send(what, [run], by=viewer, add="x").status_code == HTTPStatus.FORBIDDEN
    assert send(what, [run], by=stranger, add="x").status_code == HTTPStatus.NOT_FOUND
    assert Run.objects.not_in_trash().count() == 1


@pytest.mark.parametrize("what", ["tag", "trash", "restore"])
def test_runs_of_another_project_are_not_touched(send, project, stranger, what):
    other = make_run(make_project(stranger))

    answer = send(what, [other], add="x")

    assert answer.json() == {"changed": []}
    assert Run.objects.not_in_trash().filter(id=other.id).exists()
    assert not Attribute.objects.filter(run=other, path="tags").exists()


def test_what_is_no_id_is_refused(member, client_of, project):
    address = f"/w/{project.workspace.slug}/{project.slug}/runs/trash"

    for text in ("", "x", f"{uuid4()},"):
        answer = client_of(member).post(
            address, {"runs": text}, headers={"accept": "application/json"}
        )
        assert answer.status_code == HTTPStatus.BAD_REQUEST


@pytest.fixture
def ask(member, client_of, project):
    def post(what, question, matching, *, by=member, **fields):
        address = f"/w/{project.workspace.slug}/{project.slug}/runs/{what}"
        return client_of(by).post(
            address,
            {"question": question, "matching": matching, **fields},
            headers={"accept": "application/json"},
        )

    return post


@pytest.fixture
def _two_at_once(monkeypatch):
    monkeypatch.setattr(many_runs, "RUNS_AT_ONCE", 2)


def tags():
    found = Attribute.objects.filter(path="tags").values_list("run__name", "items")
    return dict(found)


@pytest.mark.usefixtures("_two_at_once")
def test_all_that_match_are_tagged_and_exactly_those_that_changed_are_answered(
    ask, send, project
):
    runs = [make_run(project, f"new {number}") for number in range(5)]
    make_run(project, "old")
    write_tags(runs[0], "x")

    changed = ask("tag", "q=new", 5, add="x").json()["changed"]

    assert set(changed) == {str(run.id) for run in runs[1:]}
    assert tags() == {run.name: ["x"] for run in runs}
    send("tag", runs[1:], remove="x")
    assert tags() == {"new 0": ["x"], **{run.name: [] for run in runs[1:]}}


@pytest.mark.usefixtures("_two_at_once")
def test_runs_that_no_longer_match_once_others_changed_change_too(ask, project):
    for number in range(5):
        write_tags(make_run(project, f"run {number}"), "x", "y")

    changed = ask("tag", "tag=x", 5, remove="x").json()["changed"]

    assert len(changed) == 5
    assert set(map(tuple, tags().values())) == {("y",)}


@pytest.mark.usefixtures("_two_at_once")
def test_all_that_match_go_to_the_trash_but_for_pinned_ones_and_come_back(
    ask, send, project
):
    runs = [make_run(project, f"new {number}") for number in range(5)]
    pin(runs[2])
    make_run(project, "old")

    moved = ask("trash", "query=name ~ %22new%22", 5).json()["changed"]

    assert set(moved) == {str(run.id) for run in runs if run != runs[2]}
    left = Run.objects.not_in_trash().values_list("name", flat=True)
    assert set(left) == {"new 2", "old"}
    assert set(send("restore", runs).json()["changed"]) == set(moved)


def test_another_number_than_was_agreed_to_changes_nothing_and_is_told(ask, project):
    for name in "abc":
        make_run(project, name)

    answer = ask("trash", "", 2)

    assert answer.status_code == HTTPStatus.CONFLICT
    assert answer.json()["matching"] == 3
    assert "3 runs match now, and 2 did before" in answer.json()["error"]["message"]
    assert Run.objects.not_in_trash().count() == 3


def test_more_than_may_change_at_once_are_refused(ask, project, monkeypatch):
    monkeypatch.setattr(views, "MAX_RUNS", 2)
    for name in "abc":
        make_run(project, name)

    answer = ask("trash", "", 3)

    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert "at most 2 at once" in answer.json()["error"]["message"]
    assert Run.objects.not_in_trash().count() == 3


@pytest.mark.usefixtures("_two_at_once")
def test_a_refusal_for_some_keeps_no_others_from_changing(ask, project):
    for number in range(4):
        run = make_run(project, f"run {number}")
        if number < 2:
            Attribute.objects.create(
                run=run, project=project, path="tags", kind="float", number=1
            )

    answer = ask("tag", "sort=name", 4, add="x").json()
    again = ask("tag", "q=run 0", 1, add="x")

    assert len(answer["changed"]) == 2
    assert "another value is stored" in answer["refusal"]
    assert again.status_code == HTTPStatus.BAD_REQUEST
    assert "another value is stored" in again.json()["error"]["message"]


@pytest.mark.usefixtures("_two_at_once")
def test_what_takes_too_long_is_left_to_whoever_asked(ask, send, project, monkeypatch):
    runs = {str(run.id): run for run in (make_run(project, name) for name in "abcde")}
    moments = iter([0.0, 0.0, many_runs.LASTS_SECONDS])
    monkeypatch.setattr(many_runs, "time", SimpleNamespace(monotonic=moments.__next__))

    answer = ask("trash", "", 5).json()

    assert (len(answer["changed"]), len(answer["rest"])) == (2, 3)
    assert {*answer["changed"], *answer["rest"]} == set(runs)
    left = send("trash", [runs[run_id] for run_id in answer["rest"]]).json()
    assert set(left["changed"]) == set(answer["rest"])


@pytest.mark.usefixtures("_two_at_once")
def test_what_changed_before_the_database_gave_up_is_answered(
    ask, project, monkeypatch
):
    for name in "abc":
        make_run(project, name)
    moved = []

    def move(project, run_ids):
        if moved:
            raise OperationalError("canceling statement due to lock timeout")
        moved.extend(move_many_to_trash(project, run_ids))
        return moved

    monkeypatch.setattr(views, "move_many_to_trash", move)

    answer = ask("trash", "", 3).json()

    assert len(answer["changed"]) == 2
    assert "too busy" in answer["refusal"]
    assert Run.objects.not_in_trash().count() == 1


@pytest.mark.parametrize(
    ("question", "matching"),
    [("query=loss <", 1), ("state=odd", 1), ("", ""), ("", "-1"), ("q=\x00", 1)],
)
def test_a_question_that_is_not_understood_changes_nothing(
    ask, project, question, matching
):
    make_run(project)

    answer = ask("trash", question, matching)

    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert Run.objects.not_in_trash().count() == 1


@pytest.mark.parametrize("what", ["tag", "trash"])
def test_who_may_not_edit_changes_nothing_that_matches(
    ask, project, member, stranger, what
):
    make_run(project)
    make_run(make_project(stranger), "other")
    viewer = make_member("bob", "viewer", workspace=member.workspace)

    assert ask(what, "", 1, by=viewer, add="x").status_code == HTTPStatus.FORBIDDEN
    assert ask(what, "", 1, by=stranger, add="x").status_code == HTTPStatus.NOT_FOUND
    assert len(ask(what, "", 1, add="x").json()["changed"]) == 1
    assert Run.objects.not_in_trash().filter(name="other").exists()


@pytest.fixture
def told(member, client_of, project):
    """The stored result of a change, for clients that missed the answer."""

    def look(name, *, by=member):
        address = f"/w/{project.workspace.slug}/{project.slug}/runs/changed"
        return client_of(by).get(address, {"change": name})

    return look


@pytest.mark.usefixtures("_two_at_once")
def test_what_changed_is_told_by_a_name_that_was_made_before(ask, send, told, project):
    runs = [make_run(project, name) for name in "abcde"]
    pin(runs[1])
    by_question, by_ids = uuid4().hex, uuid4().hex

    moved = ask("trash", "", 5, change=by_question).json()["changed"]
    back = send("restore", runs[:2], change=by_ids).json()["changed"]

    assert len(moved) == 4
    assert told(by_question).json() == {"changed": moved, "is_over": True}
    assert told(by_ids).json() == {"changed": back, "is_over": True}
    assert told(uuid4().hex).json() == {"changed": [], "is_over": False}
    assert told("x").status_code == HTTPStatus.BAD_REQUEST


def test_of_a_change_that_was_refused_it_is_told_that_it_is_over(ask, told, project):
    make_run(project)
    name = uuid4().hex

    assert ask("trash", "", 2, change=name).status_code == HTTPStatus.CONFLICT

    assert told(name).json() == {"changed": [], "is_over": True}


@pytest.mark.usefixtures("_two_at_once")
def test_while_a_change_goes_on_what_it_has_done_is_told(
    ask, told, project, monkeypatch
):
    runs = [make_run(project, name) for name in "abcd"]
    name = uuid4().hex
    heard = []

    def move(project, run_ids):
        heard.append(told(name).json())
        return move_many_to_trash(project, run_ids)

    monkeypatch.setattr(views, "move_many_to_trash", move)
    ask("trash", "", 4, change=name)

    assert [(len(each["changed"]), each["is_over"]) for each in heard] == [
        (0, False),
        (2, False),
    ]
    assert set(told(name).json()["changed"]) == {str(run.id) for run in runs}


def test_a_change_is_told_to_those_who_may_make_one(
    send, told, project, member, stranger
):
    name = uuid4().hex
    send("trash", [make_run(project)], change=name)
    viewer = make_member("bob", "viewer", workspace=member.workspace)

    assert told(name, by=viewer).status_code == HTTPStatus.FORBIDDEN
    assert told(name, by=stranger).status_code == HTTPStatus.NOT_FOUND


def test_changes_are_forgotten_after_a_day(send, project):
    send("trash", [make_run(project)], change=uuid4().hex)

    many_runs.forget_changes(timezone.now() + timedelta(hours=23))
    assert BulkChange.objects.exists()
    many_runs.forget_changes(timezone.now() + timedelta(hours=25))
    assert not BulkChange.objects.exists()

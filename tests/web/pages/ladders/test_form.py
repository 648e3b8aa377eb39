"""The form that makes or changes a ladder."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from tests.builders import make_member, make_project, make_run
from web.pages.ladders.form import read_form, suggested_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return make_member("ada")


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def runs(project):
    return [make_run(project, name) for name in ("a", "b", "c")]


@pytest.fixture
def press(ada, project, runs):
    """Return a function that presses a button of a form with all three runs."""

    def press(button: str, **fields: str):
        posted = QueryDict(mutable=True)
        posted.update({"name": "faster", "do": button, **fields})
        posted.setlist("run", [str(run.id) for run in runs])
        posted.setlist("note", ["first", "second", "third"])
        return read_form(posted, project)

    return press


def names(form) -> list[str]:
    return [row.run_name for row in form.rows]


def test_save_is_ready_with_everything_typed(press, runs):
    form = press("save")

    assert form.is_ready
    assert [(rung.run, rung.note) for rung in form.requests] == [
        (str(runs[0].id), "first"),
        (str(runs[1].id), "second"),
        (str(runs[2].id), "third"),
    ]


@pytest.mark.parametrize(
    ("where", "order"),
    [
        ("up", ["b", "a", "c"]),
        ("down", ["a", "c", "b"]),
        ("remove", ["a", "c"]),
        ("sideways", ["a", "b", "c"]),
    ],
)
def test_buttons_move_rows_with_their_notes(press, runs, where, order):
    form = press(f"{where}:{runs[1].id}")

    assert names(form) == order
    assert not form.is_ready
    notes = dict(zip("abc", ["first", "second", "third"], strict=True))
    assert [row.note for row in form.rows] == [notes[name] for name in order]


def test_the_ends_stay_where_they_are(press, runs):
    assert names(press(f"up:{runs[0].id}")) == ["a", "b", "c"]
    assert names(press(f"down:{runs[2].id}")) == ["a", "b", "c"]
    assert names(press("up:nonsense")) == ["a", "b", "c"]


def test_adds_a_run_by_name_or_id(press, project):
    other = make_run(project, "d")

    assert names(press("add", add="d")) == ["a", "b", "c", "d"]
    assert names(press("add", add=str(other.id))) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("a", "already on the ladder"),
        ("unknown", "Run not found"),
        ("", "Run not found"),
        ("a\0", "Run not found"),
    ],
)
def test_refuses_what_cannot_be_added_and_keeps_the_rest(press, name, error):
    form = press("add", add=name)

    assert error in form.error
    assert names(form) == ["a", "b", "c"]


def test_another_project_s_run_looks_absent(press, stranger):
    hidden = make_run(make_project(stranger, "secret"), "hidden")

    assert "Run not found" in press("add", add=str(hidden.id)).error


def test_suggests_the_runs_that_are_not_there_yet(press, project):
    make_run(project, "d")

    assert suggested_runs(project, press("save")) == ["d"]

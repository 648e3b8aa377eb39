"""Annotations and notes at points of compared runs."""

from __future__ import annotations

from functools import partial

import pytest
from django.test import Client
from django.urls import reverse

from tests.builders import (
    browser_of,
    make_project,
    make_run,
    records_message,
    write,
    write_series,
)
from tracker.actions.runs.annotations import annotate
from tracker.actions.shares import LinkRequest, make_link
from tracker.actor import Part

pytestmark = pytest.mark.django_db


def note(run, *texts: str) -> None:
    write(run, [records_message("notes/train", [text.encode() for text in texts])])


@pytest.fixture
def runs(project, member):
    made = [
        make_run(project, "first", "finished"),
        make_run(make_project(member, "speech"), "second", "finished"),
    ]
    for place, run in enumerate(made):
        write_series(run, "train/loss", [1.0, 0.5, 0.25])
        annotate(run, "train/loss", place + 1, f"of {run.name}", browser_of(member))
    note(made[0], "halved the rate")
    return made


@pytest.fixture
def get(compared):
    return partial(compared, name="compare-marks")


def said(marks) -> list[tuple]:
    return [(each["slot"], each["path"], each["text"]) for each in marks]


def test_texts_of_all_runs_come_with_their_places(get, runs):
    marks = get(*runs).json()["marks"]

    assert said(marks) == [
        (0, "train/loss", "of first"),
        (0, None, "halved the rate"),
        (1, "train/loss", "of second"),
    ]
    first = marks[0]
    assert (first["name"], first["author"]) == ("vision / first", "ada")
    assert first["step"] == 1
    start = runs[0].started_at.timestamp() * 1_000
    assert first["time"] - start == pytest.approx(first["relative"] * 1_000)


def test_a_hidden_run_s_texts_are_hidden(get, runs):
    marks = get(*runs, hidden="0").json()["marks"]

    assert [each["slot"] for each in marks] == [1]


def test_the_charts_say_where_texts_are_unless_they_are_switched_off(get, runs):
    page = get(*runs, name="compare").content.decode()
    bare = get(*runs, name="compare", bare="1").content.decode()
    over = get(*runs, name="compare", over="train/loss").content.decode()

    assert 'data-marks-url="/w/ada-workspace/vision/compare/marks?runs=' in page
    assert 'data-marks-url=""' in bare
    assert 'name="bare" value="1" checked' in bare
    assert 'data-marks-url=""' in over


def test_charts_beside_the_runs_have_them_too(get, runs):
    page = get(*runs, name="runs-charts").content.decode()

    assert "compare/marks?runs=" in page


def test_a_stranger_reads_them_without_who_wrote_them(project, member, runs):
    of = f"runs={runs[0].id},{runs[1].id}"
    marks = {}
    for parts in (frozenset(), frozenset({Part.LOGS})):
        secret = make_link(
            project, browser_of(member), LinkRequest("comparison", of, parts)
        )
        at = reverse("compare-marks", args=[project.workspace.slug, project.slug])
        marks[bool(parts)] = Client().get(f"/s/{secret}{at}?{of}").json()["marks"]

    assert {each["author"] for each in marks[True]} == {""}
    assert "halved the rate" in str(marks[True])
    assert "halved the rate" not in str(marks[False])


def test_texts_of_runs_that_may_not_be_seen_stay_unseen(get, stranger, runs):
    theirs = make_run(make_project(stranger, "secret"), "hidden")
    write_series(theirs, "train/loss", [1.0, 0.5])
    annotate(theirs, "train/loss", 1, "of a stranger", browser_of(stranger))

    assert "of a stranger" not in get(*runs, theirs).content.decode()


def test_as_many_queries_for_many_annotated_runs_as_for_few(
    get, project, member, runs, django_assert_max_num_queries
):
    more = [make_run(project, f"run {number}") for number in range(4)]
    for run in more:
        write_series(run, "train/loss", [1.0, 0.5])
        annotate(run, "train/loss", 1, "of one", browser_of(member))
    with django_assert_max_num_queries(20) as before:
        get(*runs)

    with django_assert_max_num_queries(len(before)):
        get(*runs, *more)

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.builders import make_project, make_run, write_tags
from tracker.actions.runs.many_runs import RUNS_AT_ONCE
from tracker.actions.runs.tags import change_tags
from tracker.actions.runs.trash import move_to_trash
from tracker.errors import InvalidInput
from tracker.models import Attribute, Kind

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def hold_text_as_tags(run):
    """Store a text at the path of the tags, as older versions allowed."""
    Attribute.objects.create(
        run=run, project=run.project, path="tags", kind=Kind.STRING, text="a text"
    )


def tags(run):
    return Attribute.objects.get(run=run, path="tags").items


def test_adds_a_tag_to_runs_with_tags_and_without(project):
    one, two = make_run(project, "one"), make_run(project, "two")
    write_tags(one, "z")

    changed = change_tags(project, [one.id, two.id], add=[" new "])

    assert set(changed) == {one.id, two.id}
    assert (tags(one), tags(two)) == (["new", "z"], ["new"])


def test_says_which_runs_changed_so_that_it_can_be_undone(project):
    one, two = make_run(project, "one"), make_run(project, "two")
    write_tags(one, "x")

    changed = change_tags(project, [one.id, two.id], add=["x"])
    change_tags(project, changed, remove=["x"])

    assert changed == [two.id]
    assert (tags(one), tags(two)) == (["x"], [])


def test_tags_logged_by_the_script_are_added_to_the_users_tags(project):
    run = make_run(project)
    change_tags(project, [run.id], add=["mine"])

    write_tags(run, "its own")

    assert tags(run) == ["its own", "mine"]


def test_leaves_runs_of_other_projects_and_in_the_trash_alone(project, stranger):
    other = make_run(make_project(stranger))
    gone = make_run(project, "gone")
    move_to_trash(gone)

    assert change_tags(project, [other.id, gone.id, uuid4()], add=["x"]) == []
    assert not Attribute.objects.filter(path="tags").exists()


def test_a_run_that_holds_something_else_there_stays_as_it_is(project):
    run, other = make_run(project), make_run(project, "other")
    hold_text_as_tags(run)

    assert change_tags(project, [run.id, other.id], add=["x"]) == [other.id]
    assert Attribute.objects.get(run=run, path="tags").text == "a text"


def test_tagging_a_run_with_another_value_at_the_path_is_refused(project):
    run = make_run(project)
    hold_text_as_tags(run)

    with pytest.raises(InvalidInput, match="another value"):
        change_tags(project, [run.id], add=["x"])


def test_a_tag_goes_as_a_script_wrote_it_and_as_it_was_typed(project):
    run = make_run(project)
    write_tags(run, " odd  one", "plain one", "kept")

    change_tags(project, [run.id], remove=[" odd  one", " plain  one "])

    assert tags(run) == ["kept"]


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"add": [" "]},
        {"add": ["a\0"]},
        {"add": ["\ud800"]},
        {"remove": ["a" * 2_000]},
    ],
    ids=str,
)
def test_refuses_what_is_no_tag(project, wanted):
    with pytest.raises(InvalidInput):
        change_tags(project, [make_run(project).id], **wanted)


def test_refuses_too_many_runs_at_once(project):
    with pytest.raises(InvalidInput):
        change_tags(project, [uuid4()] * (RUNS_AT_ONCE + 1), add=["x"])


def test_refuses_more_tags_than_a_run_can_have(project):
    run = make_run(project)
    change_tags(project, [run.id], add=[str(number) for number in range(1_000)])

    with pytest.raises(InvalidInput):
        change_tags(project, [run.id], add=["one more"])
    assert len(tags(run)) == 1_000

"""Descriptions of runs."""

import pytest

from tests.builders import (
    make_project,
    make_run,
    write_series,
    write_tags,
    write_values,
)
from tracker.actions.runs.descriptions import LONGEST_DESCRIPTION, describe
from tracker.actions.runs.tags import LONGEST_TAG, MAX_TAGS
from tracker.errors import InvalidInput
from tracker.models import Attribute, Kind
from tracker.queries.run.run import run_overview

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def hold_text_as_tags(run):
    """Store a text at the path of the tags, as older versions allowed."""
    Attribute.objects.create(
        run=run, project=run.project, path="tags", kind=Kind.STRING, text="a text"
    )


@pytest.fixture
def run(member):
    return make_run(make_project(member))


def told(run):
    overview = run_overview(run)
    return overview.description, overview.tags


def test_a_description_is_kept_and_taken_away(run):
    describe(run, "  Larger batches.\r\nNo luck.  ")
    assert told(run)[0] == "Larger batches.\nNo luck."

    describe(run, " ")
    assert told(run)[0] == ""
    assert not Attribute.objects.filter(run=run, path="description").exists()


def test_scripts_and_people_write_the_same_description(run):
    write_values(run, {"description": "by a script"})
    assert told(run)[0] == "by a script"

    describe(run, "by a person")

    assert told(run)[0] == "by a person"
    write_values(run, {"description": "and again"})
    assert told(run)[0] == "and again"


def test_tags_are_added_and_taken_away(run):
    write_tags(run, "old", "kept")

    describe(run, None, add=["new", "  two\nwords ", ""], remove=["old", "no such"])

    assert told(run)[1] == ("kept", "new", "two words")
    write_tags(run, "late")
    assert "late" in told(run)[1]
    assert "new" in told(run)[1]


def test_a_description_alone_makes_no_tags(run):
    describe(run, "Larger batches.", add=["", " "], remove=[])

    assert told(run) == ("Larger batches.", ())
    assert not Attribute.objects.filter(run=run, path="tags").exists()


def test_a_description_alone_is_kept_whatever_the_run_has_for_tags(run):
    hold_text_as_tags(run)

    describe(run, "Larger batches.", add=[""])

    assert told(run)[0] == "Larger batches."


def test_tags_alone_are_kept_whatever_the_run_has_for_a_description(run):
    write_series(run, "description", [1.0, 2.0])

    describe(run, "", add=["new"])

    assert told(run)[1] == ("new",)


def test_characters_that_databases_reject_are_removed(run):
    describe(run, "a\0b\ud800c")

    assert told(run)[0] == "abc"


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("x" * (LONGEST_DESCRIPTION + 1), ["fine"]),
        ("fine", ["x" * (LONGEST_TAG + 1)]),
        ("fine", [str(number) for number in range(MAX_TAGS + 1)]),
        ("fine", ["x\0y"]),
    ],
    ids=["description", "tag", "tags", "NUL"],
)
def test_where_one_is_refused_nothing_is_stored(run, text, tags):
    with pytest.raises(InvalidInput):
        describe(run, text, add=tags)

    assert told(run) == ("", ())


def test_other_values_at_these_paths_are_not_overwritten(run):
    write_series(run, "description", [1.0, 2.0])
    hold_text_as_tags(run)

    with pytest.raises(InvalidInput):
        describe(run, "no")
    with pytest.raises(InvalidInput):
        describe(run, None, add=["no"])

    assert told(run) == ("", ())

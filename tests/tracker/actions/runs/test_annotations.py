"""Annotations at points of a series."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from tests.builders import (
    START,
    browser_of,
    make_member,
    make_project,
    make_run,
    write_series,
)
from tracker.access.runs import own_annotation
from tracker.actions.runs import annotations
from tracker.actions.runs.annotations import (
    annotate,
    change_annotation,
    delete_annotation,
    purge_annotations,
    restore_annotation,
)
from tracker.errors import InvalidInput, NotAllowed, NotFound
from tracker.ingest.opening import from_microseconds
from tracker.models import Annotation
from tracker.queries.projects.trash import UNDO_HOURS
from tracker.queries.run.annotations import annotations_of
from tracker.queries.series.points_near import point_near
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PATH = "train/loss"


@pytest.fixture
def run(member):
    run = make_run(make_project(member))
    write_series(run, PATH, [3.0, 2.0, 1.0], steps=[0, 10, 20])
    return run


@pytest.fixture
def ada(member):
    return browser_of(member)


def test_a_text_stands_at_the_nearest_point_with_who_and_when(run, ada):
    annotate(run, PATH, 12.4, "  new data ", ada)

    (found,) = annotations_of(run, [PATH])[PATH]
    assert (found.step, found.text, found.author) == (10, "new data", "ada")
    assert found.time == from_microseconds(START + 1_000_000)
    assert found.edited_at is None


def test_it_can_be_changed_and_deleted(run, ada):
    annotation = annotate(run, PATH, 0, "new data", ada)

    change_annotation(annotation, "newer data")
    (found,) = annotations_of(run, [PATH])[PATH]
    assert found.text == "newer data"
    assert found.edited_at is not None

    delete_annotation(annotation, user_id=ada.user_id)
    assert annotations_of(run, [PATH, "other"]) == {PATH: [], "other": []}


@pytest.mark.parametrize("text", ["", "  \n", "\0", "x" * 1_001])
def test_refuses_a_text_that_says_nothing_or_too_much(run, ada, text):
    with pytest.raises(InvalidInput):
        annotate(run, PATH, 0, text, ada)


def test_refuses_a_series_without_points(run, ada):
    with pytest.raises(NotFound):
        annotate(run, "no/such", 0, "here", ada)


def test_a_colleague_may_not_change_it_but_an_owner_may(run, ada, member):
    grace = browser_of(make_member("grace", "member", workspace=member.workspace))
    mine = annotate(run, PATH, 0, "mine", ada)
    hers = annotate(run, PATH, 0, "hers", grace)

    assert own_annotation(grace, run.id, hers.id) == hers
    assert own_annotation(ada, run.id, hers.id) == hers
    with pytest.raises(NotAllowed):
        own_annotation(grace, run.id, mine.id)


def test_that_of_another_run_is_absent(run, ada):
    other = make_run(run.project, "other")
    annotation = annotate(run, PATH, 0, "here", ada)

    with pytest.raises(NotFound):
        own_annotation(ada, other.id, annotation.id)


def test_it_stays_when_its_author_leaves(run, ada, member):
    annotate(run, PATH, 0, "here", ada)
    Annotation.objects.update(author=None)

    (found,) = annotations_of(run, [PATH])[PATH]
    assert (found.author, found.author_id) == ("", None)


def test_the_nearest_of_very_many_points_is_found_exactly(member):
    run = make_run(make_project(member))
    steps = np.arange(150_000) * 3.0
    write_series(run, PATH, np.zeros(150_000), steps=steps)
    compact_run(run.id)

    for step, expected in [
        (-5, 0),
        (351_234.2, 351_234),
        (351_233, 351_234),
        (1e9, 449_997),
    ]:
        found = point_near(run, PATH, step)
        assert found[0] == expected


def test_a_deleted_annotation_can_be_restored_for_some_hours(run, ada):
    kept, late, soon = (annotate(run, PATH, 0, text, ada) for text in "abc")
    deleted_at = timezone.now() - timedelta(hours=UNDO_HOURS, minutes=1)
    delete_annotation(late, user_id=ada.user_id, now=deleted_at)
    delete_annotation(soon, user_id=ada.user_id)

    assert purge_annotations() == 1
    assert purge_annotations() == 0

    restore_annotation(soon)
    with pytest.raises(NotFound):
        restore_annotation(late)
    assert {each.text for each in annotations_of(run, [PATH])[PATH]} == {"a", "c"}
    assert kept.deleted_at is None


def test_restoring_beyond_the_maximum_is_refused(run, ada, monkeypatch):
    monkeypatch.setattr(annotations, "MAX_OF_A_RUN", 1)
    gone = annotate(run, PATH, 0, "a", ada)
    delete_annotation(gone, user_id=ada.user_id)
    annotate(run, PATH, 0, "b", ada)

    with pytest.raises(InvalidInput, match="cannot be added"):
        restore_annotation(gone)

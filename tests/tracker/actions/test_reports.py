"""Drafts and versions of reports."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.builders import make_member, make_project
from tracker.actions.reports import (
    MAX_VERSIONS,
    TEXT_LENGTH,
    create_report,
    restore_version,
    save_draft,
    save_version,
)
from tracker.errors import Changed, InvalidInput, NotFound
from tracker.models import Report, ReportDraft, ReportVersion
from tracker.queries.reports.reports import draft_of, report_summaries, report_versions

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def ada():
    return make_member("ada")


@pytest.fixture
def grace(ada):
    return make_member("grace", workspace=ada.workspace)


@pytest.fixture
def report(ada):
    return create_report(make_project(ada), "What helped", user_id=ada.user_id)


def save(report, text, member, *, based_on=None):
    based_on = report.version if based_on is None else based_on
    return save_version(
        report, "What helped", text, user_id=member.user_id, based_on=based_on
    )


def keep(report, text, member, *, based_on=0):
    return save_draft(
        report, "What helped", text, user_id=member.user_id, based_on=based_on
    )


def test_a_report_begins_as_a_draft_of_who_made_it(report, ada, grace):
    assert report.version == 0
    assert draft_of(report, ada.user_id) is not None
    assert draft_of(report, grace.user_id) is None


def test_each_user_has_their_own_draft(report, ada, grace):
    keep(report, "mine", ada)
    keep(report, "hers", grace)

    assert draft_of(report, ada.user_id).text == "mine"
    assert draft_of(report, grace.user_id).text == "hers"
    assert Report.objects.get().text == ""


def test_a_saved_version_is_for_everybody_and_ends_the_draft(report, ada):
    keep(report, "half", ada)

    save(report, "whole", ada)

    assert (report.text, report.version, report.changed_by) == ("whole", 1, ada.user)
    assert not ReportDraft.objects.exists()


def test_a_draft_equal_to_the_saved_version_is_deleted(report, ada):
    save(report, "text", ada)
    keep(report, "text, changed", ada, based_on=1)

    assert keep(report, "text", ada, based_on=1) is None
    assert not ReportDraft.objects.exists()


def test_a_draft_that_comes_after_its_text_was_saved_is_none(report, ada):
    save(report, "first", ada)
    keep(report, "second", ada, based_on=1)
    save(report, "second", ada)

    assert keep(report, "second", ada, based_on=1) is None
    assert not ReportDraft.objects.exists()


def test_two_users_who_write_at_once_do_not_overwrite_each_other(report, ada, grace):
    save(report, "first", ada)
    keep(report, "hers", grace, based_on=1)
    save(report, "mine", ada, based_on=1)

    with pytest.raises(Changed, match="ada changed this report") as refusal:
        save(report, "hers", grace, based_on=1)

    assert refusal.value.version == 2
    assert Report.objects.get().text == "mine"
    assert draft_of(report, grace.user_id).text == "hers"


def test_every_version_is_kept_with_who_and_when(report, ada, grace):
    save(report, "first", ada)
    save(report, "second", grace)

    found = report_versions(report)
    assert [(each.number, each.saved_by, each.length) for each in found] == [
        (2, "grace", 6),
        (1, "ada", 5),
    ]


def test_the_list_of_versions_reads_none_of_their_texts(report, ada):
    for _ in range(20):
        save(report, "x" * TEXT_LENGTH, ada)

    tracemalloc.start()
    found = report_versions(report)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert {each.length for each in found} == {TEXT_LENGTH}
    assert peak < 10 * TEXT_LENGTH


def test_an_old_version_comes_back_as_a_new_one(report, ada, grace):
    save(report, "first", ada)
    save(report, "second", ada)
    keep(report, "hers", grace, based_on=2)

    restored = restore_version(report, 1, user_id=grace.user_id)

    assert (restored.number, restored.restored, report.text) == (3, 1, "first")
    assert ReportVersion.objects.count() == 3
    assert draft_of(report, grace.user_id).text == "hers"


def test_a_version_that_never_was_cannot_be_restored(report, ada):
    with pytest.raises(NotFound):
        restore_version(report, 7, user_id=ada.user_id)


def test_the_oldest_versions_are_forgotten(report, ada):
    save(report, "first", ada)
    Report.objects.update(version=MAX_VERSIONS)
    report.refresh_from_db()

    save(report, "last", ada)

    assert [each.number for each in report_versions(report)] == [MAX_VERSIONS + 1]


@pytest.mark.parametrize("text", ["x" * (TEXT_LENGTH + 1), "a\0", "\ud800"])
def test_a_text_that_cannot_be_is_refused(report, ada, text):
    for write in (save, keep):
        with pytest.raises(InvalidInput):
            write(report, text, ada)

    assert not ReportVersion.objects.exists()


def test_a_report_needs_a_name_to_be_saved_and_none_to_be_written(report, ada):
    with pytest.raises(InvalidInput):
        save_version(report, " ", "text", user_id=ada.user_id, based_on=0)

    save_draft(report, "", "text", user_id=ada.user_id, based_on=0)
    assert draft_of(report, ada.user_id).text == "text"


def test_the_list_says_what_is_mine_to_go_on_with(report, ada, grace):
    save(report, "text", ada)
    keep(report, "more", grace, based_on=1)

    [for_ada] = report_summaries(report.project_id, ada.user_id)
    [for_grace] = report_summaries(report.project_id, grace.user_id)
    assert (for_ada.has_draft, for_grace.has_draft) == (False, True)
    assert (for_ada.author, for_ada.version) == ("ada", 1)


def test_a_report_outlives_who_wrote_it(report, ada):
    save(report, "text", ada)
    ada.user.delete()

    assert [each.saved_by for each in report_versions(report)] == [""]

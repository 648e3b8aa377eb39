"""Comments on reports: creation, replies, changes, resolution and deletion."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.builders import make_member, make_project
from tracker.actions import report_comments
from tracker.actions.deletions import delete_made, delete_made_for_good
from tracker.actions.report_comments import (
    LONGEST_COMMENT,
    LONGEST_QUOTE,
    Passage,
    add_comment,
    add_reply,
    change_comment,
    delete_comment,
    purge_comments,
    reopen_thread,
    resolve_thread,
    restore_comment,
)
from tracker.actions.reports import create_report, save_version
from tracker.errors import InvalidInput, NotFound
from tracker.models import ReportComment
from tracker.queries.projects.trash import UNDO_HOURS
from tracker.queries.reports.comments import comment_counts, threads_of
from tracker.queries.reports.reports import report_summaries

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LONG_AGO = timezone.now() - timedelta(hours=UNDO_HOURS, minutes=1)
HEADING = Passage("abc", "heading", "What helped")


@pytest.fixture
def ada():
    return make_member("ada")


@pytest.fixture
def grace(ada):
    return make_member("grace", workspace=ada.workspace)


@pytest.fixture
def report(ada):
    made = create_report(make_project(ada), "What helped", user_id=ada.user_id)
    save_version(made, "What helped", "# What helped", user_id=ada.user_id, based_on=0)
    return made


def say(report, member, text="Is that so?", *, about=None):
    return add_comment(report, text, user_id=member.user_id, version=1, about=about)


def reply(comment, member, text="It is."):
    return add_reply(comment, text, user_id=member.user_id, version=1)


def delete(comment, member):
    delete_comment(comment, user_id=member.user_id)


def told(report) -> list[list[str]]:
    return [
        [comment.text for comment in (thread.first, *thread.answers)]
        for thread in threads_of(report)
    ]


def test_threads_are_read_with_their_answers_in_one_query(
    report, ada, grace, django_assert_num_queries
):
    first, second = say(report, ada, "first"), say(report, grace, "second")
    reply(second, ada, "to the second")
    late = reply(first, grace, "to the first")
    reply(late, ada, "to the answer")

    with django_assert_num_queries(1):
        threads = threads_of(report)

    assert told(report) == [
        ["first", "to the first", "to the answer"],
        ["second", "to the second"],
    ]
    assert [thread.first.author for thread in threads] == ["ada", "grace"]
    assert [thread.count for thread in threads] == [3, 2]


def test_a_comment_keeps_what_it_is_about_and_the_version(report, ada):
    long = Passage("abc", "paragraph", "x" * 2 * LONGEST_QUOTE)
    say(report, ada, about=HEADING)
    say(report, ada, about=long)

    heading, paragraph = threads_of(report)
    assert (heading.passage, heading.passage_kind) == ("abc", "heading")
    assert (heading.quote, heading.first.version) == ("What helped", 1)
    assert paragraph.quote == "x" * LONGEST_QUOTE


def test_a_report_without_a_saved_version_takes_no_comments(report, ada):
    with pytest.raises(InvalidInput, match="no saved version yet"):
        add_comment(report, "x", user_id=ada.user_id, version=0)


@pytest.mark.parametrize("text", ["", " \n ", "a\0", "\ud800", "x" * 2_001])
def test_a_text_that_cannot_be_is_refused_and_nothing_changes(report, ada, text):
    comment = say(report, ada, "kept")

    for write in (
        lambda: say(report, ada, text),
        lambda: reply(comment, ada, text),
        lambda: change_comment(comment, text),
    ):
        with pytest.raises(InvalidInput):
            write()

    assert told(report) == [["kept"]]


def test_the_longest_text_is_taken_whatever_ends_its_lines(report, ada):
    text = "a\r\n" * (LONGEST_COMMENT // 2)

    say(report, ada, text)

    assert told(report) == [["a\n" * (LONGEST_COMMENT // 2 - 1) + "a"]]


def test_there_is_room_for_so_many_and_deleted_ones_count_no_longer(
    report, ada, monkeypatch
):
    monkeypatch.setattr(report_comments, "MAX_COMMENTS", 2)
    first = say(report, ada)
    answer = reply(first, ada)
    for write in (lambda: say(report, ada), lambda: reply(first, ada)):
        with pytest.raises(InvalidInput, match="cannot be added; the limit is 2"):
            write()

    delete_comment(first, user_id=ada.user_id)
    reply(answer, ada, "room again")

    assert told(report) == [["", "It is.", "room again"]]


def test_a_changed_comment_has_the_time_of_its_edit(report, ada):
    comment = say(report, ada)

    change_comment(comment, " Is it? ")

    (thread,) = threads_of(report)
    assert thread.first.text == "Is it?"
    assert thread.first.edited_at is not None


def test_a_comment_without_answers_is_gone(report, ada):
    comment = say(report, ada)

    delete(comment, ada)

    assert told(report) == []
    with pytest.raises(NotFound):
        delete(comment, ada)


def test_one_with_answers_leaves_its_place_until_they_are_gone(report, ada, grace):
    comment = say(report, ada, "secret", about=HEADING)
    answers = [reply(comment, grace), reply(comment, ada)]

    delete(comment, ada)

    (thread,) = threads_of(report)
    assert (thread.first.is_deleted, thread.first.text, thread.count) == (True, "", 2)
    assert thread.passage == "abc"
    for answer in answers:
        delete(answer, ada)
    assert told(report) == []


def test_the_last_answer_gone_leaves_the_comment(report, ada):
    comment = say(report, ada)
    delete(reply(comment, ada), ada)

    assert told(report) == [["Is that so?"]]


def test_restored_comments_return_to_their_thread(report, ada, grace):
    comment = say(report, ada, about=HEADING)
    answer = reply(comment, grace)
    delete(answer, ada)
    delete(comment, ada)
    assert comment_counts(report.project_id) == {}

    restore_comment(answer)
    assert told(report) == [["", "It is."]]
    restore_comment(comment)

    (thread,) = threads_of(report)
    assert (thread.first.text, thread.first.author) == ("Is that so?", "ada")
    assert thread.passage == "abc"
    assert told(report) == [["Is that so?", "It is."]]


def test_restoring_beyond_the_maximum_is_refused(report, ada, monkeypatch):
    monkeypatch.setattr(report_comments, "MAX_COMMENTS", 1)
    comment = say(report, ada)
    delete(comment, ada)
    say(report, ada, "in its place")

    with pytest.raises(InvalidInput, match="cannot be added"):
        restore_comment(comment)

    assert told(report) == [["in its place"]]


def test_texts_are_purged_once_they_cannot_be_brought_back(report, ada, grace):
    comment, lone = say(report, ada), say(report, ada, "lone")
    answers = [reply(comment, grace), reply(comment, ada)]
    for each in (comment, lone):
        delete_comment(each, user_id=ada.user_id, now=LONG_AGO)
    delete(answers[0], ada)

    assert purge_comments() == 2

    assert [row.text for row in ReportComment.objects.order_by("id")] == [
        "",
        "It is.",
        "It is.",
    ]
    assert told(report) == [["", "It is."]]
    for gone in (comment, lone):
        with pytest.raises(NotFound):
            restore_comment(gone)
    restore_comment(answers[0])
    assert purge_comments() == 0


def test_the_last_answer_purged_takes_what_it_answered_along(report, ada):
    comment = say(report, ada)
    answer = reply(comment, ada)
    for each in (answer, comment):
        delete_comment(each, user_id=ada.user_id, now=LONG_AGO)

    purge_comments()

    assert not ReportComment.objects.exists()
    assert purge_comments() == 0


def test_a_deleted_comment_takes_no_reply_and_no_change(report, ada):
    comment = say(report, ada)
    ReportComment.objects.all().delete()

    with pytest.raises(NotFound):
        reply(comment, ada)
    with pytest.raises(NotFound):
        change_comment(comment, "x")

    assert not ReportComment.objects.exists()


def test_a_thread_is_resolved_once_and_reopened(report, ada, grace):
    thread = say(report, ada)

    resolve_thread(thread, user_id=grace.user_id)
    resolve_thread(thread, user_id=ada.user_id)

    (resolved,) = threads_of(report)
    assert resolved.resolved_by == "grace"
    assert resolved.resolved_at is not None
    reopen_thread(thread)
    (reopened,) = threads_of(report)
    assert (reopened.resolved_at, reopened.resolved_by) == (None, "")


def test_an_answer_opens_what_was_resolved(report, ada, grace):
    thread = say(report, ada)
    resolve_thread(thread, user_id=ada.user_id)

    reply(thread, grace)

    assert threads_of(report)[0].resolved_at is None


def test_former_members_are_named_and_deleted_users_are_not(report, ada, grace):
    thread = say(report, grace)
    resolve_thread(thread, user_id=grace.user_id)

    grace.delete()
    (left,) = threads_of(report)
    assert (left.first.author, left.resolved_by) == ("grace", "grace")
    grace.user.delete()
    (unknown,) = threads_of(report)
    assert (unknown.first.author, unknown.resolved_by) == ("", "")
    assert unknown.first.text == "Is that so?"


def test_a_report_takes_its_comments_along(report, ada):
    reply(say(report, ada), ada)

    delete_made(report, user_id=ada.user_id)
    delete_made_for_good(report)

    assert not ReportComment.objects.exists()


def test_the_list_of_reports_counts_what_can_be_read(
    report, ada, django_assert_num_queries
):
    comment = say(report, ada)
    reply(comment, ada)
    delete(comment, ada)
    create_report(report.project, "Another", user_id=ada.user_id)

    with django_assert_num_queries(3):
        found = report_summaries(report.project_id, ada.user_id)

    assert {each.name: each.comment_count for each in found} == {
        "What helped": 1,
        "Another": 0,
    }
    assert comment_counts(report.project_id) == {report.id: 1}

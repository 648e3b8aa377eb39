from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.builders import browser_of, make_member, make_run, write_series
from tracker.actions.people.mentions import mentioned_in
from tracker.actions.report_comments import add_comment as comment_on_report
from tracker.actions.report_comments import add_reply as answer_report
from tracker.actions.reports import create_report, save_version
from tracker.actions.runs.annotations import annotate
from tracker.actions.runs.run_comments import (
    add_comment,
    add_reply,
    change_comment,
    delete_comment,
    purge_run_comments,
    resolve_thread,
    restore_comment,
)
from tracker.errors import InvalidInput
from tracker.models import Notification, Role, RunComment, User
from tracker.queries.people.follows import followers_of
from tracker.queries.projects.trash import UNDO_HOURS
from tracker.queries.run.comments import threads_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(project):
    return make_run(project)


@pytest.fixture
def vera(member):
    return make_member("vera", Role.VIEWER, workspace=member.workspace)


def notified() -> list[tuple[str, str]]:
    rows = Notification.objects.order_by("id")
    return [(row.user.username, row.kind) for row in rows.select_related("user")]


def test_a_comment_notifies_followers_once_and_never_its_author(run, member, vera):
    add_comment(run, "Why?", user_id=vera.user_id)

    assert notified() == [("ada", "comment")]
    assert followers_of(run) == {member.user_id, vera.user_id}


def test_a_mentioned_user_gets_one_notification_per_comment(run, member, vera):
    add_comment(run, "@ada, @Ada and @vera: look.", user_id=vera.user_id)

    assert notified() == [("ada", "mention")]


def test_strangers_and_service_accounts_are_not_mentioned(run, stranger, member):
    service = make_member("ci", Role.MEMBER, workspace=member.workspace)
    User.objects.filter(id=service.user_id).update(is_service=True)

    assert mentioned_in("@mallory @ci", run.project) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@ada", True),
        ("(@ada)", True),
        ("Ask @ada.", True),
        ("@ADA!", True),
        ("someone@ada.example", False),
        ("x@ada", False),
        ("@adam", False),
        ("ada", False),
    ],
)
def test_a_mention_is_a_whole_username(member, project, text, expected):
    assert (member.user_id in mentioned_in(text, project)) is expected


def test_an_edit_notifies_only_who_is_mentioned_first_then(run, member, vera):
    comment = add_comment(run, "Hm.", user_id=member.user_id)
    assert notified() == []

    for text in ("Hm, @vera?", "Hm, @vera!"):
        change_comment(comment, text)

    assert notified() == [("vera", "mention")]


def test_an_answer_reopens_the_thread(run, member, vera):
    thread = add_comment(run, "Why?", user_id=vera.user_id)
    resolve_thread(thread, user_id=member.user_id)

    add_reply(thread, "Because.", user_id=member.user_id)

    (shown,) = threads_of(run)
    assert shown.resolved_at is None
    assert [answer.text for answer in shown.answers] == ["Because."]


def test_a_deleted_comment_keeps_its_place_while_it_has_answers(run, member):
    thread = add_comment(run, "Why?", user_id=member.user_id)
    answer = add_reply(thread, "Because.", user_id=member.user_id)

    delete_comment(thread, user_id=member.user_id)
    (shown,) = threads_of(run)
    assert (shown.first.text, shown.first.is_deleted) == ("", True)

    delete_comment(answer, user_id=member.user_id)
    assert threads_of(run) == []
    restore_comment(thread)
    assert threads_of(run)[0].first.text == "Why?"


def test_comments_are_purged_after_the_undo_period(run, member):
    thread = add_comment(run, "Why?", user_id=member.user_id)
    answer = add_reply(thread, "Because.", user_id=member.user_id)
    later = timezone.now() + timedelta(hours=UNDO_HOURS + 1)

    delete_comment(thread, user_id=member.user_id)
    purge_run_comments(later)
    assert RunComment.objects.get(id=thread.id).text == ""

    delete_comment(answer, user_id=member.user_id)
    purge_run_comments(later)
    assert not RunComment.objects.exists()


def test_empty_comments_are_refused(run, member):
    with pytest.raises(InvalidInput):
        add_comment(run, " \n", user_id=member.user_id)


def test_a_text_at_a_chart_notifies_like_a_comment(run, member, vera):
    write_series(run, "loss", [3.0, 2.0])

    annotate(run, "loss", 1, "A bump, @vera", browser_of(member))

    assert notified() == [("vera", "mention")]
    assert Notification.objects.get().title == "ada mentioned you on baseline: loss"


def test_a_comment_on_a_report_notifies_its_author_and_the_thread(
    project, member, vera
):
    report = create_report(project, "Findings", user_id=member.user_id)
    save_version(report, "Findings", "Text", user_id=member.user_id, based_on=0)
    max_ = make_member("max", Role.MEMBER, workspace=member.workspace)
    thread = comment_on_report(report, "So?", user_id=vera.user_id, version=1)

    answer_report(thread, "Yes.", user_id=max_.user_id, version=1)

    expected = [("ada", "comment"), ("ada", "comment"), ("vera", "comment")]
    assert sorted(notified()) == expected

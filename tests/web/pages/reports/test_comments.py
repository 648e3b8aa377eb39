"""Comment endpoints of reports: permissions, positions and refusals."""

from __future__ import annotations

import json
import re

import pytest
from django.urls import reverse

from tests.builders import make_member
from tests.web.payloads import PAYLOADS
from tracker.actions.report_comments import add_comment, add_reply, resolve_thread
from tracker.actions.reports import create_report, save_draft, save_version
from tracker.models import ReportComment, Role
from tracker.queries.reports.comments import threads_of
from web.markdown import parts_of
from web.pages.reports.passages import passages_of

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
TEXT = "## What helped\n\nDecoding **ahead**.\n\nNothing else was tried.\n"
WAYS = ("answer", "edit", "delete", "restore", "resolve", "reopen")


@pytest.fixture
def visitor(client_of, member):
    return client_of(member)


@pytest.fixture
def vera(member):
    return make_member("vera", Role.VIEWER, workspace=member.workspace)


@pytest.fixture
def grace(member):
    return make_member("grace", Role.MEMBER, workspace=member.workspace)


@pytest.fixture
def report(project, member):
    made = create_report(project, "What helped", user_id=member.user_id)
    save_version(made, "What helped", TEXT, user_id=member.user_id, based_on=0)
    return made


def about(report, kind="heading"):
    found = passages_of(parts_of(report.text))
    return next(each for each in found if each and each.kind == kind)


def say(report, member, text="Is that so?", passage=None):
    return add_comment(
        report,
        text,
        user_id=member.user_id,
        version=report.version,
        about=passage,
    )


def page(client, report, **query) -> str:
    address = reverse("report", args=[report.id])
    return client.get(address, query).content.decode()


def write(client, report, text="Is that so?", *, passage="", version=1, **more):
    query = f"?version={version}" + (f"&passage={passage}" if passage else "")
    address = reverse("report-comments", args=[report.id]) + query
    return client.post(address, {"text": text}, **more)


def do(client, what, comment, text="", **more):
    address = reverse(f"comment-{what}", args=[comment.report_id, comment.id])
    return client.post(f"{address}?version=1", {"text": text}, **more)


def region(html: str, name: str) -> str:
    """Return the region in one position of a page."""
    start = html.index(f'id="remarks-{name}"')
    rest = re.search(
        r'class="passage |id="remarks-|</article>\s*<dialog', html[start + 9 :]
    )
    return html[start : start + 9 + rest.start()] if rest else html[start:]


def test_a_viewer_may_comment_on_what_they_read(client_of, vera, report):
    client, key = client_of(vera), about(report).key

    on_whole = write(client, report, "On *all* of it")
    on_heading = write(client, report, "On the heading", passage=key)

    whole, heading = ReportComment.objects.order_by("id")
    address = reverse("report", args=[report.id])
    assert on_whole["Location"] == f"{address}#comment-{whole.id}"
    assert on_heading["Location"] == f"{address}#comment-{heading.id}"
    shown = page(client, report)
    assert "On <em>all</em> of it" in region(shown, "report")
    assert "On the heading" in region(shown, key)
    assert "1 comment on the heading “What helped”" in shown
    assert "2 comments</a>" in shown
    assert "vera</bdi></strong>" in shown


def test_a_report_without_comments_offers_to_write_them(visitor, report):
    shown = page(visitor, report)

    assert "Comment on the report" in shown
    assert shown.count('aria-label="Comment on the ') == 3
    assert "Print with comments" not in shown


@pytest.mark.parametrize("kind", ["heading", "paragraph"])
def test_the_form_beside_a_passage_comes_when_it_is_opened(visitor, report, kind):
    passage = about(report, kind)
    address = reverse("report-comments", args=[report.id])
    query = {"version": 1, "passage": passage.key}

    part = visitor.get(address, query, headers=HTMX).content.decode()

    assert f"Comment on this {kind}</label>" in part
    assert "autofocus" in part
    asked = region(page(visitor, report, comment=passage.key), passage.key)
    assert f"Comment on this {kind}</label>" in asked
    assert "autofocus" in asked


def test_by_htmx_comes_what_stands_there_and_what_counts_it(visitor, grace, report):
    key = about(report).key
    say(report, grace, "said meanwhile", about(report))

    response = write(visitor, report, "mine", passage=key, headers=HTMX)

    shown = response.content.decode()
    assert response.status_code == 200
    assert shown.index("said meanwhile") < shown.index("mine")
    assert shown.count("hx-swap-oob") == 2
    assert "2 comments</a>" in shown
    assert "<!doctype" not in shown


def test_forms_are_left_as_they_are_when_all_around_them_is_new(visitor, report):
    key = about(report).key

    shown = write(visitor, report, "mine", passage=key, headers=HTMX).content.decode()

    forms = re.findall(r'<form class="comment-form" id="(\S+)"[^>]*>', shown)
    assert len(forms) == 3
    assert len(set(forms)) == 3
    assert shown.count("hx-morph-skip") == 3


@pytest.mark.parametrize("headers", [HTMX, {}])
@pytest.mark.parametrize("text", ["", " ", "x" * 2_001, "a\0b"])
def test_a_refused_comment_says_why_in_a_sentence(visitor, report, text, headers):
    response = write(visitor, report, text, headers=headers)

    assert response.status_code == 400
    assert "The comment " in response.content.decode()
    assert not ReportComment.objects.exists()
    if headers:
        assert response["HX-Reswap"] == "none"
        assert response["Content-Type"] == "text/plain"


def test_answers_changes_and_deletions_stand_where_the_thread_does(
    visitor, member, report
):
    thread = say(report, member, "first", about(report))

    answered = do(visitor, "answer", thread, "an answer", headers=HTMX)
    assert "an answer" in answered.content.decode()
    edited = do(visitor, "edit", thread, "changed", headers=HTMX).content.decode()
    assert "changed" in edited
    assert "edited" in edited
    deleted = do(visitor, "delete", thread, headers=HTMX).content.decode()
    assert "This comment was deleted." in deleted
    assert f'id="remarks-{about(report).key}"' in deleted
    answer = ReportComment.objects.get(thread=thread)
    gone = do(visitor, "delete", answer, headers=HTMX).content.decode()
    assert "deleted" not in gone
    assert threads_of(report) == []


def test_without_htmx_each_leads_back_to_the_page(visitor, member, report):
    thread, address = say(report, member), reverse("report", args=[report.id])

    assert do(visitor, "answer", thread, "x")["Location"].startswith(address)
    for what in ("edit", "resolve", "reopen"):
        response = do(visitor, what, thread, "x")
        assert response["Location"] == f"{address}#comment-{thread.id}"
    assert do(visitor, "delete", thread)["Location"] == f"{address}#comments"


def test_a_resolved_thread_is_folded_and_can_be_opened_again(visitor, grace, report):
    thread = say(report, grace)

    shown = do(visitor, "resolve", thread, headers=HTMX).content.decode()
    assert "Resolved by <bdi>ada</bdi>" in shown
    assert "1 comment, all resolved" in shown
    shown = do(visitor, "reopen", thread, headers=HTMX).content.decode()
    assert "Resolved" not in shown


def test_nobody_changes_what_another_wrote_and_owners_may_delete_it(
    visitor, client_of, grace, vera, report
):
    comment = say(report, grace)

    for client in (visitor, client_of(vera)):
        assert do(client, "edit", comment, "x").status_code == 403
    assert do(client_of(vera), "delete", comment).status_code == 403
    assert do(client_of(vera), "resolve", comment).status_code == 403
    shown = page(client_of(vera), report)
    for what in ("edit", "delete", "resolve"):
        address = reverse(f"comment-{what}", args=[report.id, comment.id])
        assert address not in shown
    assert reverse("comment-answer", args=[report.id, comment.id]) in shown
    assert do(visitor, "delete", comment).status_code == 302
    assert threads_of(report) == []


def test_what_was_deleted_comes_back_by_the_toast(visitor, member, report):
    thread = say(report, member, "first", about(report))

    deleted = do(visitor, "delete", thread, headers=HTMX)
    event = json.loads(deleted["HX-Trigger"])["comment-deleted"]
    assert event["region"] == about(report).key
    back = visitor.post(event["undo"], headers=HTMX).content.decode()
    assert "first" in back
    assert f'id="remarks-{event["region"]}"' in back

    do(visitor, "delete", thread)
    page_after = page(visitor, report)
    assert "Comment deleted." in page_after
    assert reverse("comment-restore", args=[report.id, thread.id]) in page_after
    response = do(visitor, "restore", thread)
    assert response["Location"].endswith(f"#comment-{thread.id}")
    assert do(visitor, "restore", thread).status_code == 404


def test_who_deleted_a_comment_brings_it_back_or_an_owner(
    visitor, client_of, grace, vera, report
):
    comment = say(report, grace)
    do(visitor, "delete", comment)

    # The author cannot restore a comment that an owner deleted.
    for member in (grace, vera):
        assert do(client_of(member), "restore", comment).status_code == 403
    assert do(visitor, "restore", comment).status_code == 302
    do(client_of(grace), "delete", comment)
    assert do(client_of(grace), "restore", comment).status_code == 302


def test_nobody_answers_what_is_nowhere_to_be_seen(visitor, member, report):
    comment = say(report, member)
    do(visitor, "delete", comment)

    assert do(visitor, "answer", comment, "x").status_code == 404


def test_whoever_began_a_thread_may_resolve_it(client_of, vera, report):
    thread = say(report, vera)

    assert do(client_of(vera), "resolve", thread).status_code == 302
    assert ReportComment.objects.get().resolved_by_id == vera.user_id


def test_for_a_stranger_there_is_nothing_to_comment_on(
    client_of, stranger, member, report
):
    client, comment = client_of(stranger), say(report, member)

    assert write(client, report).status_code == 404
    address = reverse("report-comments", args=[report.id])
    assert client.get(address).status_code == 404
    for what in WAYS:
        assert do(client, what, comment, "x").status_code == 404, what
    assert ReportComment.objects.get().text == "Is that so?"


def test_a_comment_of_another_report_is_nowhere(visitor, member, project, report):
    other = create_report(project, "Other", user_id=member.user_id)
    comment = say(report, member)

    for what in WAYS:
        address = reverse(f"comment-{what}", args=[other.id, comment.id])
        assert visitor.post(address, {"text": "x"}).status_code == 404, what


def test_only_the_first_of_a_thread_is_resolved(visitor, member, report):
    answer = add_reply(
        say(report, member), "x", user_id=member.user_id, version=report.version
    )

    assert do(visitor, "resolve", answer).status_code == 404


def test_a_deleted_comment_is_neither_changed_nor_deleted_again(
    visitor, member, report
):
    thread = say(report, member)
    add_reply(thread, "x", user_id=member.user_id, version=1)
    do(visitor, "delete", thread)

    assert do(visitor, "edit", thread, "back").status_code == 404
    assert do(visitor, "delete", thread).status_code == 404
    assert do(visitor, "answer", thread, "still").status_code == 302


@pytest.mark.parametrize("version", [7, "x"])
def test_a_version_that_never_was_takes_no_comment(visitor, report, version):
    assert write(visitor, report, version=version).status_code in (400, 404)


def test_a_passage_that_the_version_has_not_takes_no_comment(visitor, report):
    assert write(visitor, report, passage="0" * 12).status_code == 404
    address = reverse("report-comments", args=[report.id])
    assert visitor.get(address, {"passage": "x"}).status_code == 404


def test_who_read_an_older_version_comments_on_that(visitor, member, report):
    old = about(report, "paragraph")
    save_version(report, "x", "All is new.", user_id=member.user_id, based_on=1)

    response = write(visitor, report, "so?", passage=old.key, version=1)

    assert (
        f"?version=1#comment-{ReportComment.objects.get().id}" in response["Location"]
    )
    now = region(page(visitor, report), "earlier")
    assert "On earlier versions" in now
    assert "Decoding ahead." in now
    assert "version 1</a>" in now
    before = region(page(visitor, report, version=1), old.key)
    assert "so?" in before
    assert "thread__quote" not in before


def test_where_the_words_have_changed_the_old_ones_are_told(visitor, member, report):
    say(report, member, "so?", about(report))
    text = TEXT.replace("What helped", "What helped most")
    save_version(report, "x", text, user_id=member.user_id, based_on=1)

    shown = region(page(visitor, report), about(report).key)

    assert "What helped</blockquote>" in shown
    assert "the text has changed since" in shown


def test_a_version_that_is_no_longer_kept_is_named_without_a_link(
    visitor, member, report
):
    say(report, member, "so?", about(report))
    type(report).objects.update(version=300)

    shown = page(visitor, report)

    assert "version 1, which is no longer available" in shown
    assert "?version=1#" not in shown


def test_drafts_and_what_was_never_saved_take_no_comments(
    visitor, member, project, report
):
    save_draft(report, "x", "y", user_id=member.user_id, based_on=1)
    begun = create_report(project, "Begun", user_id=member.user_id)

    assert 'id="comments"' not in page(visitor, report, draft="1")
    address = reverse("report-comments", args=[report.id])
    assert visitor.post(f"{address}?draft=1", {"text": "x"}).status_code == 404
    assert 'id="comments"' not in page(visitor, begun)
    assert write(visitor, begun, version=0).status_code == 400


def test_on_paper_all_is_open_only_if_asked(visitor, member, report):
    thread = say(report, member, "so?", about(report))
    resolve_thread(thread, user_id=member.user_id)

    usual, asked = page(visitor, report), page(visitor, report, comments="paper")

    assert "report--with-comments" not in usual
    assert '<details class="thread__settled">' in usual
    assert "report--with-comments" in asked
    assert '<details class="thread__settled" open>' in asked
    assert f'id="remarks-{about(report).key}" open' in asked


def test_the_list_says_how_many_there_are(visitor, member, report):
    say(report, member)
    project = report.project
    listed = reverse("reports", args=[project.workspace.slug, project.slug])

    shown = visitor.get(listed).content.decode()

    assert f'href="{reverse("report", args=[report.id])}#comments">1</a>' in shown


def test_strange_comments_and_names_are_shown_as_they_are(visitor, member, report):
    for place, text in enumerate(PAYLOADS):
        writer = make_member(f"{place} {text}"[:150], workspace=member.workspace)
        say(report, writer, text[:2_000] or "x", about(report) if place % 2 else None)

    shown = page(visitor, report)

    assert shown.count('class="comment"') == len(PAYLOADS)
    for tag in (
        "<script>alert",
        "<img src=x",
        "<iframe",
        "<svg onload",
        'javascript:alert(1)"',
    ):
        assert tag not in shown


def test_one_statement_reads_all_threads(
    visitor, member, report, django_assert_max_num_queries
):
    for _ in range(30):
        thread = say(report, member, passage=about(report))
        add_reply(thread, "x", user_id=member.user_id, version=1)

    with django_assert_max_num_queries(12):
        shown = page(visitor, report)

    assert "60 comments" in shown

"""A report as its readers discuss it: written in place, kept when refused, found again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.builders import make_member, make_project
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, WIDE
from tracker.actions.report_comments import add_comment, add_reply, resolve_thread
from tracker.actions.reports import create_report, save_version
from tracker.models import ReportComment
from web.markdown import parts_of
from web.pages.reports.passages import passages_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Long enough to scroll.
LONG = "\n\n".join(f"Paragraph {number} of many." for number in range(60))
# The end of an element's text, in pixels.
LAST_WORD = """(element) => {
  const range = document.createRange()
  range.selectNodeContents(element)
  const { bottom, right } = [...range.getClientRects()].at(-1)
  return { bottom, right }
}"""
TEXT = f"## What helped\n\nDecoding **ahead**.\n\n{LONG}\n"


@pytest.fixture
def grace(ada):
    return make_member("grace", workspace=ada.workspace)


@pytest.fixture
def report(ada):
    made = create_report(make_project(ada), "What helped", user_id=ada.user_id)
    save_version(made, "What helped", TEXT, user_id=ada.user_id, based_on=0)
    return made


def say(report, member, text, kind=""):
    found = passages_of(parts_of(report.text))
    about = next((each for each in found if each and each.kind == kind), None)
    by = {"user_id": member.user_id, "version": 1}
    return add_comment(report, text, about=about, **by)


def mark(page, words="What helped"):
    return page.locator(".passage", has_text=words).first.locator(".remarks__mark")


def comment(page, text):
    return page.locator(".comment").filter(has_text=text).last


def whole(page):
    return page.get_by_label("Comment on the report")


def test_a_reader_comments_beside_a_heading_and_another_answers(
    visit, ada, grace, report
):
    page = visit(f"/reports/{report.id}/", grace)
    mark(page).click()
    field = page.get_by_label("Comment on this heading")
    expect(field).to_be_focused()
    field.fill("How **much** did it help?")
    field.press("Control+Enter")
    expect(comment(page, "How much").locator("strong", has_text="much")).to_be_visible()
    expect(mark(page)).to_have_text("1")
    expect(page.get_by_role("link", name="1 comment", exact=True)).to_be_visible()

    page = visit(f"/reports/{report.id}/", ada)
    expect(comment(page, "How much")).to_be_hidden()
    mark(page).click()
    page.get_by_text("Reply", exact=True).first.click()
    answer = page.get_by_label("Reply", exact=True)
    expect(answer).to_be_focused()
    answer.fill("By a third.")
    answer.press("Meta+Enter")
    expect(comment(page, "By a third.")).to_be_visible()
    expect(answer).to_be_hidden()
    expect(mark(page)).to_have_text("2")
    page.get_by_role("button", name="Resolve").click()
    expect(page.get_by_text("Resolved by ada")).to_be_visible()
    expect(comment(page, "By a third.")).to_be_hidden()
    # The keyboard focus stays.
    expect(page.locator(".thread__settled > summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(comment(page, "By a third.")).to_be_visible()
    page.get_by_role("button", name="Reopen").click()
    expect(page.get_by_role("button", name="Resolve")).to_be_visible()


def test_comments_take_no_width_on_a_phone(visit, ada, page):
    widget = "```seamark\nwidget: text\ntitle: Notes\ntext: Nothing changed.\n```"
    text = f"## What helped\n\n{'Decoding ahead of time. ' * 9}\n\n- One\n- Two\n\n{widget}\n"
    report = create_report(make_project(ada), "What helped", user_id=ada.user_id)
    save_version(report, "What helped", text, user_id=ada.user_id, based_on=0)
    say(report, ada, "How much?", "widget")
    page.set_viewport_size(PHONE)
    visit(f"/reports/{report.id}/", ada)

    whole, card = (
        page.locator(name).bounding_box() for name in (".report__text", ".widget")
    )
    assert (card["x"], card["width"]) == (whole["x"], whole["width"])
    for passage in page.locator(".passage").all():
        content, button = (
            passage.locator(part) for part in ("> :first-child", ".remarks__mark")
        )
        text_ends = content.evaluate(LAST_WORD)
        box = button.bounding_box()
        is_below = box["y"] >= text_ends["bottom"] - 1
        assert is_below or box["x"] >= text_ends["right"]
        assert box["x"] + box["width"] <= whole["x"] + whole["width"]
    page.locator(".remarks--some > .remarks__mark").click()
    expect(comment(page, "How much?")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def test_two_comments_in_a_row_stand_beside_the_same_words(visit, ada, report):
    page = visit(f"/reports/{report.id}/", ada)
    mark(page).click()
    page.get_by_label("Comment on this heading").fill("first")
    page.get_by_role("button", name="Comment", exact=True).first.click()
    expect(comment(page, "first")).to_be_visible()

    page.get_by_text("Add comment").click()
    field = page.get_by_label("Comment on this heading")
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    field.fill("second")
    field.press("Control+Enter")

    expect(comment(page, "second")).to_be_visible()
    expect(mark(page)).to_have_text("2")


def test_what_is_written_elsewhere_stays_while_a_comment_comes(
    visit, ada, grace, report
):
    say(report, grace, "Is that so?")
    page = visit(f"/reports/{report.id}/", ada)
    page.get_by_text("Reply", exact=True).first.click()
    page.get_by_label("Reply", exact=True).fill("half an answer")
    page.evaluate("document.documentElement.isTheSame = true")

    whole(page).fill("whole")
    whole(page).press("Control+Enter")

    expect(comment(page, "whole")).to_be_visible()
    expect(whole(page)).to_have_value("")
    first = page.get_by_label("Reply", exact=True).first
    expect(first).to_have_value("half an answer")
    assert page.evaluate("document.documentElement.isTheSame")


def test_a_refused_comment_is_kept_and_said_why(visit, ada, report, watch):
    page = visit(f"/reports/{report.id}/", ada)
    whole(page).fill("x" * 2_001)
    whole(page).press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("1 too many")
    watch.allow("400")
    assert len(whole(page).input_value()) == 2_001

    page.route("**/comments?**", lambda route: route.fulfill(status=503))
    whole(page).fill("kept")
    whole(page).press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Your text is still here")
    watch.allow("503")
    page.unroute("**/comments?**")

    page = visit(f"/reports/{report.id}/")
    expect(whole(page)).to_have_value("kept")
    whole(page).press("Control+Enter")
    expect(comment(page, "kept")).to_be_visible()
    page = visit(f"/reports/{report.id}/")
    expect(whole(page)).to_have_value("")


def test_ones_own_is_changed_and_deleted_with_a_way_back(visit, ada, report):
    say(report, ada, "a mistake")
    page = visit(f"/reports/{report.id}/", ada)

    page.get_by_label("Edit", exact=True).click()
    page.get_by_label("Your comment").fill("no mistake")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(comment(page, "no mistake")).to_contain_text("edited")
    page.get_by_role("button", name="Delete", exact=True).click()

    expect(comment(page, "no mistake")).to_have_count(0)
    toast = page.locator(".toast")
    expect(toast).to_contain_text("Comment deleted.")
    toast.get_by_role("button", name="Undo").click()
    expect(comment(page, "no mistake")).to_be_visible()
    expect(toast).to_have_count(0)
    assert ReportComment.objects.get().deleted_at is None


def test_an_address_opens_what_is_folded(visit, ada, grace, report):
    thread = say(report, grace, "Is that so?", "heading")
    answer = add_reply(thread, "It is.", user_id=ada.user_id, version=1)
    resolve_thread(thread, user_id=ada.user_id)

    page = visit(f"/reports/{report.id}/#comment-{answer.id}", ada)
    expect(comment(page, "It is.")).to_be_in_viewport()

    page = visit(f"/reports/{report.id}/", ada)
    expect(comment(page, "It is.")).to_be_hidden()
    page.get_by_role("link", name="2 comments, all resolved").click()
    page.get_by_role("region", name="Comments").get_by_role(
        "link", name="What helped"
    ).click()
    expect(page.get_by_text("Resolved by ada")).to_be_in_viewport()


def test_open_comments_are_for_everybody(visit, ada, grace, report):
    add_reply(
        say(report, grace, "Is that so?", "heading"),
        "It is.",
        user_id=ada.user_id,
        version=1,
    )
    page = visit(f"/reports/{report.id}/", ada)
    mark(page).click()
    mark(page, "Decoding").click()
    expect(page.get_by_label("Comment on this paragraph")).to_be_focused()
    page.get_by_text("Reply", exact=True).first.click()

    beyond = "document.documentElement.scrollWidth - innerWidth"
    for size in (WIDE, PHONE):
        page.set_viewport_size(size)
        assert violations(page) == [], size
        assert page.evaluate(beyond) <= 0


def test_paper_shows_comments_only_if_asked(visit, ada, grace, report):
    say(report, grace, "Is that so?", "heading")
    page = visit(f"/reports/{report.id}/", ada)
    page.emulate_media(media="print")
    expect(comment(page, "Is that so?")).to_be_hidden()
    page.emulate_media(media="screen")

    page.get_by_role("link", name="Print with comments").click()
    expect(page).to_have_url(re.compile("comments=paper"))
    page.emulate_media(media="print")

    expect(comment(page, "Is that so?")).to_be_visible()
    expect(whole(page)).to_be_hidden()
    expect(page.get_by_text("Add comment")).to_be_hidden()

"""The Logs page: long lists of lines, followed, searched and linked to."""

import re

import pytest
from playwright.sync_api import expect

from tests.builders import (
    START,
    make_project,
    make_run,
    records_message,
    write,
    write_series,
)
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import address_now
from tracker.models import Run, State

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def run(ada):
    return make_run(make_project(ada))


def log(run, lines, *, first=0, path="logs/stdout"):
    steps = list(range(first, first + len(lines)))
    times = [START + step * 100_000 for step in steps]
    write(run, [records_message(path, lines, steps=steps, times=times)])


def lines(count, first=0):
    return [f"line {number}" for number in range(first, first + count)]


def shown(page):
    return page.locator(".log__text").all_inner_texts()


def open_log(visit, ada, run, rest=""):
    page = visit(f"/runs/{run.id}/logs{rest}", ada)
    expect(page.locator(".log__line").first).to_be_visible()
    expect(page.locator(".log__line--waiting")).to_have_count(0)
    return page


def test_it_opens_at_the_newest_line(visit, ada, run):
    log(run, lines(3_000))

    page = open_log(visit, ada, run)

    expect(page.get_by_text("line 2999", exact=True)).to_be_in_viewport()
    assert page.locator(".log__line").count() < 100
    expect(page.get_by_text("3,000 lines")).to_be_visible()


def test_all_of_it_can_be_downloaded(visit, ada, run):
    log(run, [*lines(1_500), "\x1b[31mred\x1b[0m <b>é</b>"])
    page = open_log(visit, ada, run)

    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download").click()
    downloaded = downloading.value

    assert downloaded.suggested_filename == "log.txt"
    text = downloaded.path().read_text(encoding="utf-8")
    # Whole, though the page holds a part of it; and without colours.
    assert text.splitlines() == [*lines(1_500), "red <b>é</b>"]


def test_new_lines_appear_while_it_is_read(visit, ada, run):
    log(run, lines(200))
    page = open_log(visit, ada, run)

    log(run, ["the newest"], first=200)

    expect(page.get_by_text("the newest")).to_be_in_viewport(timeout=10_000)


def test_who_has_scrolled_up_stays_there(visit, ada, run):
    log(run, lines(500))
    page = open_log(visit, ada, run)
    page.locator(".log__view").evaluate("view => { view.scrollTop = 0 }")
    expect(page.get_by_text("line 0", exact=True)).to_be_in_viewport()

    log(run, ["the newest"], first=500)

    expect(page.get_by_text("501 lines")).to_be_visible(timeout=10_000)
    expect(page.get_by_text("line 0", exact=True)).to_be_in_viewport()
    expect(page.get_by_role("button", name="Follow", exact=True)).to_have_attribute(
        "aria-pressed", "false"
    )
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.get_by_text("the newest")).to_be_in_viewport()


def test_the_log_of_a_finished_run_is_not_followed(visit, ada, run):
    log(run, lines(100))
    page = open_log(visit, ada, run)
    follow = page.get_by_role("button", name="Follow", exact=True)
    expect(follow).to_be_visible()

    Run.objects.filter(id=run.id).update(state=State.FINISHED)
    page.reload()

    expect(page.get_by_text("line 99", exact=True)).to_be_in_viewport()
    expect(follow).to_be_hidden()


def test_text_is_found_and_gone_through_by_keyboard(visit, ada, run):
    logged = lines(2_000)
    for number in (10, 900, 1_500):
        logged[number] = f"\x1b[31mERR\x1b[0mOR {number}"
    log(run, logged)
    page = open_log(visit, ada, run)

    field = page.get_by_role("searchbox", name="Find in log")
    field.fill("error")
    expect(page.get_by_text("3 of 3")).to_be_visible()
    expect(page.get_by_text("ERROR 1500")).to_be_in_viewport()
    field.press("Enter")
    expect(page.get_by_text("1 of 3")).to_be_visible()
    expect(page.get_by_text("ERROR 10", exact=True)).to_be_in_viewport()
    field.press("Shift+Enter")
    field.press("Shift+Enter")
    expect(page.get_by_text("2 of 3")).to_be_visible()
    expect(page.get_by_text("ERROR 900")).to_be_in_viewport()
    field.fill("nowhere")
    expect(page.get_by_text("No matches", exact=True)).to_be_visible()


def test_a_line_can_be_linked_to(visit, ada, run):
    log(run, lines(3_000))

    page = open_log(visit, ada, run, "#L1200")

    linked = page.locator(".log__line--linked")
    expect(linked).to_be_in_viewport()
    expect(linked).to_contain_text("line 1199")
    page.locator(".log__number", has_text="1202").click()
    assert address_now(page).endswith("#L1202")
    expect(linked).to_contain_text("line 1201")


def test_hostile_lines_are_text(visit, ada, run):
    hostile = [
        "<script>alert(1)</script><b>bold</b>",
        "\x1b[1;31mred\x1b[0m plain\x1b]0;title\x07\x1b[2K",
        "two\nlines\r\n",
        "nul \0 end",
        "x" * 50_000,
    ]
    log(run, hostile)

    page = open_log(visit, ada, run)

    found = shown(page)
    assert found[0] == hostile[0]
    assert found[1] == "red plain"
    assert found[2] == "two ⏎ lines"
    assert found[4].endswith("… 48,000 more characters")
    expect(page.locator(".ansi-bold.ansi-1")).to_have_text("red")


def test_times_are_relative_absolute_or_absent(visit, ada, run):
    log(run, ["one"])
    page = open_log(visit, ada, run)

    time = page.locator(".log__time")
    expect(time).to_have_text("+0:00:00.0")
    page.get_by_role("button", name="Absolute").click()
    expect(time).to_have_text(re.compile(r"^12:00:00\.000$"))
    page.get_by_role("button", name="None").click()
    expect(time).to_have_count(0)


def test_errors_are_told_from_output_and_few_texts_are_a_table(visit, ada, run):
    log(run, lines(3))
    log(run, ["Traceback"], path="logs/stderr")
    log(run, ["a cat", "a dog"], path="samples/caption")

    page = open_log(visit, ada, run)

    expect(page.get_by_role("cell", name="a dog")).to_be_visible()
    page.get_by_role("link", name="logs/stderr").click()
    expect(page.get_by_text("Traceback")).to_be_visible()
    expect(page.locator(".log--errors")).to_have_count(1)


def test_the_last_line_of_a_million_is_reached(visit, ada, run):
    # Only the number of lines and the requested blocks.
    log(run, lines(60_000))
    page = visit(f"/runs/{run.id}/logs", ada)
    page.route(
        re.compile(r"/records\?"),
        lambda route: route.fulfill(json=answer_of_a_million(route.request.url)),
    )
    page.locator(".log").evaluate("root => { root.dataset.count = '1000000' }")
    page.evaluate(
        """async () => {
          const old = document.querySelector(".log")
          const copy = old.cloneNode(true)
          old.replaceWith(copy)
          const module = await import("/static/web/js/log/log.js")
          module.default(copy)
        }"""
    )

    expect(page.get_by_text("text 999999", exact=True)).to_be_in_viewport()
    view = page.locator(".log__view")
    view.evaluate("view => { view.scrollTop = view.scrollHeight / 2 }")
    expect(page.locator(".log__number").first).to_have_text(
        re.compile(r"^(49|50)\d{4}$")
    )
    view.evaluate("view => { view.scrollTop = 0 }")
    expect(page.get_by_text("text 0", exact=True)).to_be_in_viewport()


def answer_of_a_million(url):
    asked = dict(re.findall(r"(\w+)=(\d+)", url))
    first = int(asked["first"])
    end = min(first + int(asked["limit"]), 1_000_000)
    positions = list(range(first, end))
    return {
        "count": 1_000_000,
        "end": end,
        "positions": positions,
        "steps": positions,
        "times": [START / 1_000] * len(positions),
        "values": [f"text {position}" for position in positions],
    }


def test_everybody_can_use_it(visit, ada, run):
    log(run, lines(300))
    log(run, ["\x1b[32mgreen\x1b[0m \x1b[33myellow\x1b[0m"], first=300)
    log(run, ["a cat", "a dog"], path="samples/caption")
    page = open_log(visit, ada, run)
    overflow = (
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})

        assert violations(page) == [], width
        assert page.evaluate(overflow) == 0


def test_a_run_without_text_says_how_to_log_it(visit, ada, run):
    write_series(run, "loss", [1.0])

    page = visit(f"/runs/{run.id}/logs", ada)

    expect(page.get_by_text('run["logs/stdout"].append')).to_be_visible()

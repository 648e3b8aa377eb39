"""The flame graph of a run's profile."""

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run
from tests.slow.browser.conftest import PHONE, address_now
from tests.slow.browser.test_live_pages import look_again
from tests.tracker.queries.run.test_code_profile import profile, write_profile

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def run(ada):
    run = make_run(make_project(ada))
    write_profile(run)
    return run


@pytest.fixture
def graph(run, visit, ada):
    def opened(query=""):
        return visit(f"/runs/{run.id}/profile{query}", ada).locator("#flame")

    return opened


def frame(graph, name):
    return graph.locator(f'.flame__frame[data-name="{name}"]')


def width(graph, name):
    """Return the share of the graph that a frame fills, without a running transition."""
    frame(graph, name).evaluate(
        "each => each.getAnimations().forEach((a) => a.finish())"
    )
    whole = graph.locator(".flame").bounding_box()["width"]
    return round(frame(graph, name).bounding_box()["width"] / whole, 2)


def test_frames_are_as_wide_as_their_share_below_their_caller(graph):
    flame = graph()

    assert [width(flame, name) for name in ("All", "<module>", "decode", "open")] == [
        *(1, 1, 0.7, 0.6)
    ]
    tops = [frame(flame, name).bounding_box()["y"] for name in ("<module>", "decode")]
    assert tops[0] < tops[1]


def test_a_click_zooms_in_and_the_trail_leads_back(graph):
    flame = graph()
    frame(flame, "decode").click()

    assert width(flame, "decode") == width(flame, "<module>") == 1
    assert width(flame, "open") == 0.86
    expect(frame(flame, "Condition.wait")).to_be_hidden()
    trail = flame.get_by_label("Callers")
    expect(trail).to_have_text("All<module>decode")
    assert "frame=" in address_now(flame.page)

    trail.get_by_text("All").click()

    assert width(flame, "decode") == 0.7
    assert "frame=" not in address_now(flame.page)


def test_the_zoom_and_the_search_are_in_the_address(graph):
    flame = graph()
    frame(flame, "decode").click()
    flame.get_by_label("Highlight frames").fill("PIL")
    expect(flame.get_by_role("status")).to_have_text("60 % in 1 frame")
    address = address_now(flame.page)

    flame = graph(f"?{address.partition('?')[2]}")

    assert width(flame, "decode") == 1
    expect(flame.get_by_role("status")).to_have_text("60 % in 1 frame")
    expect(flame.locator(".flame__frame--found")).to_have_attribute("data-name", "open")


def test_a_found_call_of_a_found_caller_counts_once(graph):
    flame = graph()
    flame.get_by_label("Highlight frames").fill("E")

    expect(flame.get_by_role("status")).to_have_text("100 % in 4 frames")


def test_frames_are_reached_by_the_keyboard_and_described(graph):
    flame = graph()
    frame(flame, "All").focus()
    for key in ("ArrowDown", "ArrowDown"):
        flame.page.keyboard.press(key)
    expect(frame(flame, "decode")).to_be_focused()
    expect(flame.locator('[data-part="detail"]')).to_have_text(
        "decode · data.py:42 · 70 % · 70 samples (10 in itself)"
    )

    flame.page.keyboard.press("ArrowRight")
    expect(frame(flame, "Condition.wait")).to_be_focused()
    flame.page.keyboard.press("Enter")
    assert width(flame, "Condition.wait") == 1
    flame.page.keyboard.press("Escape")
    assert width(flame, "Condition.wait") == 0.25


def test_a_live_profile_keeps_the_zoom(graph, run):
    flame = graph()
    frame(flame, "decode").click()
    write_profile(
        run, profile(trees={"steps": [-1, 0, 0, 0, 1, 0, 1, 2, 70, 1, 4, 30]})
    )

    look_again(flame.page, "#run-profile")

    expect(frame(flame, "load")).to_be_visible()
    assert width(flame, "decode") == 1
    assert width(flame, "open") == 0.7


def test_the_keys_of_the_other_tabs_stay(run, visit, ada, page):
    visit(f"/runs/{run.id}/", ada)

    page.keyboard.press("0")
    page.wait_for_url("**/profile")
    page.wait_for_function("'connected' in document.documentElement.dataset")
    page.keyboard.press("9")
    page.wait_for_url("**/comments")


def test_a_phone_shows_lines_without_scrolling_sideways(run, visit, ada, page):
    page.set_viewport_size(PHONE)
    visit(f"/runs/{run.id}/profile", ada)

    assert page.locator(".profile__scroll").evaluate(
        "e => e.scrollWidth <= e.clientWidth"
    )
    expect(page.get_by_text("PIL.Image.open").first).to_be_visible()

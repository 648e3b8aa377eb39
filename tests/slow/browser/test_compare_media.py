"""Media of several runs side by side, with one slider."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run
from tests.slow.browser.conftest import address_now, wait_until
from tests.web.pages.compare.test_media import (
    counted,
    write_histograms,
    write_pictures,
    write_texts,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CAPTION, LAST = "samples/caption", "z/last"


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path


@pytest.fixture
def runs(ada):
    project = make_project(ada)
    runs = [make_run(project, f"run-{number}", "finished") for number in range(3)]
    for number, run in enumerate(runs):
        steps = [0, 10 + number, 20 + number]
        write_texts(run, CAPTION, [f"caption {step}" for step in steps], steps=steps)
        write_pictures(run, "samples/input", [40, 120, 200], steps=steps)
        write_histograms(run, "grads/layer", *[counted(1, 5, 2)] * 3, steps=steps)
        for more in range(12):
            write_texts(run, f"texts/{more:02}", ["a line\n" * 8], steps=[0])
        write_texts(run, LAST, ["first", "second"], steps=[0, 12])
    return runs


def address(runs, **query):
    ids = ",".join(str(run.id) for run in runs)
    more = "".join(f"&{name}={value}" for name, value in query.items())
    return f"/w/ada-workspace/vision/compare?runs={ids}&tab=media{more}"


def row(page, path):
    return page.locator("tbody", has=page.get_by_text(path, exact=True)).locator(
        ".media__cell"
    )


def test_rows_are_loaded_once_they_are_seen_and_follow_one_slider(visit, ada, runs):
    page = visit(address(runs), ada)
    captions = row(page, CAPTION)
    expect(captions).to_have_count(3)
    expect(captions.nth(1)).to_contain_text("step 21")
    expect(row(page, LAST)).to_have_count(0)

    page.get_by_role("slider", name="Step").fill("11")

    expect(captions.nth(0)).to_contain_text("caption 10")
    expect(captions.nth(1)).to_contain_text("caption 11")
    expect(captions.nth(2)).to_contain_text("caption 0")
    wait_until(page, lambda: "&at=11" in address_now(page))
    tab = page.get_by_role("link", name="Findings")
    assert "at=11" in tab.get_attribute("href")
    page.get_by_text(LAST, exact=True).scroll_into_view_if_needed()
    expect(row(page, LAST).nth(0)).to_contain_text("first")
    page.reload()
    expect(captions.nth(2)).to_contain_text("step 0")

    field = page.get_by_role("spinbutton")
    expect(field).to_have_value("11")
    field.fill("")

    expect(captions.nth(2)).to_contain_text("step 22")
    wait_until(page, lambda: "at=" not in address_now(page))


def test_what_was_scrolled_away_catches_up_when_it_is_seen_again(visit, ada, runs):
    page = visit(address(runs), ada)
    page.get_by_text(LAST, exact=True).scroll_into_view_if_needed()
    expect(row(page, LAST).nth(0)).to_contain_text("second")

    with page.expect_request(lambda request: "at=3" in request.url):
        page.get_by_role("spinbutton").fill("3")
    page.get_by_text(LAST, exact=True).scroll_into_view_if_needed()
    expect(row(page, LAST).nth(0)).to_contain_text("first")
    page.get_by_text(CAPTION, exact=True).scroll_into_view_if_needed()

    expect(row(page, CAPTION).nth(0)).to_contain_text("caption 0")


def test_pictures_are_drawn_and_enlarged(visit, ada, runs):
    page = visit(address(runs, text="input"), ada)

    pictures = page.locator(".media__cell .medium__frame > img")
    expect(pictures).to_have_count(3)
    wait_until(page, lambda: pictures.nth(2).evaluate("each => each.naturalWidth") == 2)
    pictures.nth(0).click()
    dialog = page.get_by_role("dialog", name="Image")
    expect(dialog).to_contain_text("run-0 · samples/input · step 20")
    page.keyboard.press("ArrowRight")
    expect(dialog).to_contain_text("run-1 · samples/input")


def test_rows_that_are_seen_follow_running_runs(visit, ada, runs):
    live = make_run(runs[0].project, "live")
    write_texts(live, CAPTION, ["caption 5"], steps=[5])
    page = visit(address([live, *runs]), ada)
    captions = row(page, CAPTION)
    expect(captions.nth(0)).to_contain_text("caption 5")
    slider = page.get_by_role("slider", name="Step")
    asked = []
    page.on("request", lambda request: asked.append(request.url))

    write_texts(live, CAPTION, ["caption 40"], steps=[40])

    expect(captions.nth(0)).to_contain_text("caption 40", timeout=10_000)
    assert float(slider.get_attribute("max")) >= 40
    assert slider.input_value() == slider.get_attribute("max")
    assert not any("z%2Flast" in url for url in asked)

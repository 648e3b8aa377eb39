"""The Media page in a browser: steps, keys, overlays, zoom, sandboxed HTML."""

from __future__ import annotations

import json
import struct

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run, records_message, write
from tests.slow.browser.conftest import address_now
from tests.tracker.api.v1.test_files import deliver
from tests.web.pages.run_files.test_media import (
    digest,
    picture,
    reference,
    write_media,
)

TABLE = "application/vnd.seamark.table+json"
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FIRST, SECOND, OTHER, MASK = (picture(shade, side=16) for shade in (10, 90, 170, 250))


@pytest.fixture
def run(member, settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    run = make_run(make_project(member), state="finished")
    write_media(run, "eval/a", [FIRST, SECOND], steps=[0, 10], caption="a caption")
    records = [
        reference(OTHER, boxes=[[2, 2, 9, 9, "cat"]]),
        reference(MASK, is_mask=True),
    ]
    write(run, [records_message("train/b", records, kind="image", steps=[5, 5])])
    for content in (OTHER, MASK):
        deliver(run, content)
    return run


@pytest.fixture
def opened(visit, run, member):
    return visit(f"/runs/{run.id}/media", member)


def panel(page, path):
    return page.get_by_role("region", name=path, exact=True)


def expect_image(page, path, content):
    found = panel(page, path).locator(f'img[src*="{digest(content)}"]')
    expect(found).to_be_visible()


def test_one_slider_moves_all_panels_and_the_link_has_the_step(opened):
    page = opened
    expect_image(page, "eval/a", SECOND)
    expect_image(page, "train/b", OTHER)

    page.get_by_role("slider", name="Step for all panels").fill("0")

    expect_image(page, "eval/a", FIRST)
    expect(panel(page, "train/b")).to_contain_text("Nothing logged before step 5")
    assert "step=0" in address_now(page)

    page.reload()

    expect_image(page, "eval/a", FIRST)
    expect(page.get_by_role("spinbutton")).to_have_value("0")


def test_arrow_keys_go_to_the_step_before_and_after(opened):
    page = opened
    expect_image(page, "eval/a", SECOND)

    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect_image(page, "eval/a", FIRST)

    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect_image(page, "eval/a", SECOND)
    assert "step=" not in address_now(page)


def test_a_panel_moves_on_its_own(opened):
    page = opened
    expect_image(page, "train/b", OTHER)

    page.get_by_role("slider", name="Step of eval/a").fill("0")

    expect_image(page, "eval/a", FIRST)
    expect_image(page, "train/b", OTHER)
    assert "step=" not in address_now(page)


def test_a_click_enlarges_without_blur_and_keys_move_and_close(opened):
    page = opened
    panel(page, "eval/a").get_by_role("button").first.click()
    dialog = page.get_by_role("dialog", name="Image")

    expect(dialog).to_contain_text("eval/a · step 10 · a caption")
    image = dialog.locator("img").first
    assert image.evaluate("each => getComputedStyle(each).imageRendering") == (
        "pixelated"
    )
    assert image.bounding_box()["height"] > 600

    page.keyboard.press("ArrowRight")
    expect(dialog).to_contain_text("train/b")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()

    page.keyboard.press("ArrowLeft")
    expect_image(page, "eval/a", FIRST)


def test_boxes_and_masks_can_be_hidden(opened):
    page = opened
    box = panel(page, "train/b").locator("rect")
    mask = panel(page, "train/b").locator(f'img[src*="{digest(MASK)}"]')
    expect(box).to_be_visible()
    expect(mask).to_be_visible()

    page.get_by_label("Boxes and masks").uncheck()

    expect(box).to_be_hidden()
    expect(mask).to_be_hidden()


def test_html_runs_in_a_sandbox_without_the_session(visit, run, member, watch):
    html = b"""<p id=said>x</p><script>
      let said = "origin " + origin
      try { document.cookie; said += " cookie" } catch { said += " no cookie" }
      document.getElementById("said").textContent = said
    </script>"""
    write_media(run, "html", [html], steps=[0], kind="file", media_type="text/html")

    page = visit(f"/runs/{run.id}/media?search=html", member)

    frame = page.frame_locator("iframe")
    expect(frame.locator("#said")).to_have_text("origin null no cookie")


def test_a_table_sorts_filters_and_pages_in_place(visit, run, member):
    rows = [[row, f"label {row % 3}"] for row in range(60)]
    content = json.dumps({"columns": ["id", "label"], "rows": rows}).encode()
    write_media(run, "t", [content], steps=[0], kind="file", media_type=TABLE)
    page = visit(f"/runs/{run.id}/media?search=t", member)
    table = panel(page, "t")
    first = table.locator("tbody td").first
    expect(first).to_have_text("0")

    table.get_by_role("button", name="id").click()
    expect(table.locator("th[aria-sort=ascending]")).to_be_visible()
    table.get_by_role("button", name="id").click()
    expect(first).to_have_text("59")

    table.get_by_role("searchbox").fill("label 1")
    expect(first).to_have_text("58")
    expect(table).to_contain_text("20 of 60 rows")

    table.get_by_role("searchbox").fill("")
    expect(table).to_contain_text("1–25 of 60")
    table.get_by_role("button", name="Next").click()
    expect(first).to_have_text("34")


def test_a_long_sound_plays_from_any_position(visit, run, member):
    seconds, rate = 120, 8_000
    samples = bytes(2 * seconds * rate)  # more than one answer holds
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + len(samples), b"WAVE", b"fmt ", 16, 1, 1, rate),
        *(2 * rate, 2, 16, b"data", len(samples)),
    )
    write_media(
        run, "s", [head + samples], steps=[0], kind="file", media_type="audio/wav"
    )
    page = visit(f"/runs/{run.id}/media?search=s", member)

    found = panel(page, "s").locator("audio")
    position = found.evaluate("""async (audio) => {
      const on = (name) => new Promise((done) => audio.addEventListener(name, done))
      const ready = on("loadedmetadata")
      audio.load()
      audio.preload = "auto"
      await ready
      const seeked = on("seeked")
      audio.currentTime = 100
      await seeked
      return [audio.duration, audio.currentTime]
    }""")

    assert position == [120, 100]

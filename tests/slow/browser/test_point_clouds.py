"""Point clouds in a browser: drawn on a canvas, turned by keys and dragging."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run
from tests.web.pages.run_files.test_media import write_media

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

POINTS = "application/vnd.seamark.points"
PICTURE = "canvas => canvas.toDataURL()"
# The number of opaque pixels that are red.
RED = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
  let count = 0
  for (let i = 0; i < data.length; i += 4) count += data[i] > 150 && data[i + 1] < 90 && data[i + 3] === 255
  return count
}"""


def cloud(points, colors, total):
    head = struct.pack("<4sBBHIQ", b"SMPC", 1, 2, 0, len(points), total)
    columns = np.asarray(points, "<f4").T.tobytes()
    return head + columns + np.asarray(colors, np.uint8).tobytes()


@pytest.fixture
def opened(visit, member, settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    run = make_run(make_project(member), state="finished")
    points = np.random.default_rng(0).normal(size=(500, 3))
    data = cloud(points, [[255, 0, 0]] * 500, total=900)
    for path, content in (("scan", data), ("torn", data[:-1])):
        write_media(run, path, [content], steps=[0], kind="file", media_type=POINTS)
    return visit(f"/runs/{run.id}/media", member)


def test_a_cloud_is_drawn_and_turns(opened):
    canvas = opened.get_by_role("img", name="scan: 500 of 900 points")
    expect(opened.locator("[data-points-url][data-drawn]")).to_be_visible()
    assert canvas.evaluate(RED) > 500
    before = canvas.evaluate(PICTURE)

    canvas.focus()
    opened.keyboard.press("ArrowLeft")
    opened.wait_for_function(
        "([canvas, before]) => canvas.toDataURL() !== before",
        arg=[canvas.element_handle(), before],
    )
    opened.keyboard.press("0")
    opened.wait_for_function(
        "([canvas, before]) => canvas.toDataURL() === before",
        arg=[canvas.element_handle(), before],
    )
    opened.get_by_role("button", name="Zoom in").first.click()
    opened.wait_for_function(
        "([canvas, before]) => canvas.toDataURL() !== before",
        arg=[canvas.element_handle(), before],
    )


def test_a_damaged_file_is_reported(opened):
    expect(
        opened.get_by_text("could not be drawn: The file is damaged.")
    ).to_be_visible()

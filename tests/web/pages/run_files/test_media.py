"""A run's media page: panels by namespace, steps, overlays, sandboxed HTML."""

from __future__ import annotations

import hashlib
import json
import re
import struct

import pytest

from seamark.recording.media.png import to_png
from tests.builders import (
    browser_of,
    make_project,
    make_run,
    records_message,
    write,
    write_series,
)
from tests.tracker.api.v1.test_files import add, deliver
from tests.web.every_page import POINTS
from tracker.actions.shares import LinkRequest, make_link
from tracker.actor import Part

pytestmark = [pytest.mark.django_db, pytest.mark.database]

HOSTILE = "<img src=x onerror=alert(1)>\"'&"
WAV = b"RIFF\x24\0\0\0WAVEfmt " + bytes(3_000_000)


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path


@pytest.fixture
def run(member):
    return make_run(make_project(member), state="finished")


@pytest.fixture
def read(client_of, member, run):
    client = client_of(member)

    def read(what="", status=200, headers=None, **query):
        response = client.get(f"/runs/{run.id}/media{what}", query, headers=headers)
        assert response.status_code == status
        return response

    return read


@pytest.fixture
def panel(read):
    def panel(path, **query):
        return read("/panel", path=path, **query).content.decode()

    return panel


def picture(shade, side=2):
    return to_png(bytes([shade] * 3 * side * side), width=side, height=side, channels=3)


def reference(content, media_type="image/png", **details):
    value = hashlib.sha256(content).digest() + struct.pack("<Q", len(content))
    text = b"\0" + json.dumps(details).encode() if details else b""
    return value + media_type.encode() + text


def write_media(run, path, contents, *, steps, kind="image", times=None, **options):
    records = [reference(content, **options) for content in contents]
    message = records_message(path, records, kind=kind, steps=steps, times=times)
    write(run, [message])
    for content in contents:
        deliver(run, content)


def digest(content):
    return hashlib.sha256(content).hexdigest()


def shown(page):
    return re.findall(r"<img src=\"[^\"]*digest=([0-9a-f]{64})", page)


def test_an_empty_run_shows_a_snippet(read):
    page = read().content.decode()

    assert "No media yet" in page
    assert "captions=" in page


def test_media_are_grouped_by_namespace_without_numbers_and_checkpoints(read, run):
    write_media(run, "eval/samples", [picture(1)], steps=[0])
    write_media(run, "train/samples", [picture(1)], steps=[0])
    add(run, "plots/roc", picture(2), name="roc.png", kind="image/png")
    add(run, "model/best", b"weights")
    write_series(run, "train/loss", [1.0])

    page = read().content.decode()

    assert re.findall(r'<h2 class="mono wrap">([^<]*)<', page) == [
        "eval",
        "plots",
        "train",
    ]
    assert page.count('data-part="panel"') == 3
    assert 'data-steps="[0]"' in page


def test_the_search_keeps_matching_paths(read, run):
    write_media(run, "eval/samples", [picture(1)], steps=[0])
    write_media(run, "train/faces", [picture(1)], steps=[0])

    page = read(search="FACES").content.decode()

    assert re.findall(r'data-part="panel"[^>]*aria-label="([^"]*)"', page) == [
        "train/faces"
    ]
    assert "No matching paths" in read(search="nothing").content.decode()


def test_the_slider_has_the_steps_of_all_series(read, run):
    write_media(run, "a", [picture(1), picture(2)], steps=[0, 10])
    write_media(run, "b", [picture(1), picture(2)], steps=[10, 12.5])

    assert 'data-steps="[0, 10, 12.5]"' in read().content.decode()


def test_a_panel_shows_all_pictures_of_the_nearest_earlier_step(panel, run):
    contents = [picture(shade) for shade in (1, 2, 3, 4)]
    write_media(run, "x", contents[:3], steps=[0, 5, 5])
    write_media(run, "x", contents[3:], steps=[9])

    assert shown(panel("x")) == [digest(contents[3])]
    assert shown(panel("x", step="7")) == [digest(contents[1]), digest(contents[2])]
    assert "step 5" in panel("x", step="7")
    assert shown(panel("x", step="-1")) == []
    assert "Nothing logged before step 0" in panel("x", step="-1")


def test_steps_that_arrive_in_disorder_are_found(panel, run):
    contents = [picture(shade) for shade in range(4)]
    for content, step in zip(contents, (5, 1, 5, 3), strict=True):
        write_media(run, "x", [content], steps=[step])

    assert shown(panel("x")) == [digest(contents[0]), digest(contents[2])]
    assert shown(panel("x", step="4")) == [digest(contents[3])]
    assert 'data-steps="[1, 3, 5]"' in panel("x")


def test_long_lists_have_pages(panel, run):
    contents = [picture(shade) for shade in range(30)]
    write_media(run, "x", contents, steps=[0] * 30)

    first, last = panel("x"), panel("x", page="1")

    assert shown(first) == [digest(each) for each in contents[:24]]
    assert shown(last) == [digest(each) for each in contents[24:]]
    assert "1–24 of 30" in first
    assert shown(panel("x", page="99")) == shown(last)


def test_captions_and_boxes_are_text(panel, run):
    content = picture(1, side=8)
    box = [1, 2, 5, 6, HOSTILE]
    write_media(run, "x", [content], steps=[0], caption=HOSTILE, boxes=[box])

    page = panel("x")

    assert "<img src=x" not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") >= 3
    assert '<rect x="1.00" y="2.00" width="4.00" height="4.00"/>' in page
    assert 'viewBox="0 0 8 8"' in page


def test_a_mask_lies_over_the_picture_before_it(panel, run):
    content, mask = picture(1), picture(9)
    records = [reference(content), reference(mask, is_mask=True)]
    write(run, [records_message("x", records, kind="image", steps=[0, 0])])
    for each in (content, mask):
        deliver(run, each)

    page = panel("x")

    assert page.count("<figure") == 1
    assert page.count("medium__mask") == 1
    assert f"digest={digest(mask)}" in page


def test_small_pictures_are_enlarged_by_a_whole_factor(panel, run):
    write_media(run, "small", [picture(1, side=28)], steps=[0])
    write_media(run, "large", [picture(1, side=640)], steps=[0])

    assert 'width="140" height="140"' in panel("small")
    assert "medium__frame--sharp" in panel("small")
    assert 'width="320" height="320"' in panel("large")
    assert "medium__frame--sharp" not in panel("large")


def test_a_content_on_its_way_is_named(panel, run):
    write(run, [records_message("x", [reference(picture(1))], kind="image")])

    assert "Not uploaded yet" in panel("x")


def test_a_panel_that_is_the_same_is_not_sent_again(panel, read, run):
    write_media(run, "x", [picture(1)], steps=[0])
    response = read("/panel", path="x")

    again = {"If-None-Match": response["ETag"]}

    assert read("/panel", path="x", headers=again, status=304).content == b""


def test_sounds_are_sent_in_short_ranges_under_their_own_type(panel, read, run):
    write_media(
        run, "x", [WAV], steps=[0], kind="file", media_type="application/octet-stream"
    )

    whole = read("/file", path="x", digest=digest(WAV), status=206)
    part = read(
        "/file",
        path="x",
        digest=digest(WAV),
        status=206,
        headers={"Range": "bytes=2999900-"},
    )

    assert "<audio controls" in panel("x")
    assert whole["Content-Type"] == "audio/wav"
    assert whole["Content-Range"] == f"bytes 0-1048575/{len(WAV)}"
    assert part.content == WAV[2_999_900:]


def test_other_files_are_not_played(read, run):
    html = b"<script>alert(1)</script>"
    write_media(run, "x", [html], steps=[0], kind="file", media_type="audio/wav")

    read("/file", path="x", digest=digest(html), status=404)


def test_html_is_sent_into_a_sandbox_only(panel, read, run):
    html = b"<script>alert(1)</script>"
    write_media(run, "x", [html], steps=[0], kind="file", media_type="text/html")
    write_media(run, "y", [html], steps=[0], kind="file", media_type="text/plain")

    response = read("/html", path="x", digest=digest(html))

    assert response.content == html
    policy = response["Content-Security-Policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "allow-same-origin" not in policy
    assert "X-Frame-Options" not in response
    assert 'sandbox="allow-scripts"' in panel("x")
    read("/html", path="y", digest=digest(html), status=404)


def test_a_point_cloud_is_sent_to_its_viewer(panel, read, run):
    kind = "application/vnd.seamark.points"
    write_media(run, "x", [POINTS], steps=[0], kind="file", media_type=kind)
    add(run, "other", POINTS, name="x.points", kind="text/plain")

    text = panel("x")
    response = read("/points", path="x", digest=digest(POINTS))

    assert 'data-behaviour="point-cloud"' in text
    assert f"/runs/{run.id}/media/points?path=x&amp;digest={digest(POINTS)}" in text
    assert response.content == POINTS
    assert response["Content-Type"] == "application/octet-stream"
    read("/points", path="other", status=404)


@pytest.mark.parametrize(("parts", "status"), [((), 404), ((Part.FILES,), 200)])
def test_links_show_media_only_with_the_files_part(client, run, member, parts, status):
    write_media(run, "x", [picture(1)], steps=[0])
    link_request = LinkRequest("run", str(run.id), frozenset(parts))
    base = f"/s/{make_link(run.project, browser_of(member), link_request)}"

    page = client.get(f"{base}/runs/{run.id}/")

    assert (f"{base}/runs/{run.id}/media" in page.content.decode()) == bool(parts)
    for what in ("media", "media/panel?path=x"):
        assert client.get(f"{base}/runs/{run.id}/{what}").status_code == status


def test_a_numbers_path_has_no_panel(read, run):
    write_series(run, "loss", [1.0])

    read("/panel", path="loss", status=404)
    read("/panel", path="absent", status=404)
    read("/panel", status=400)

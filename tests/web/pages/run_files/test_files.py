"""A run's files: tree, gallery, previews."""

from __future__ import annotations

import hashlib
import json
import struct

import pytest

from seamark.recording.media.png import to_png
from tests.builders import Process, make_project, make_run, records_message, write
from tests.tracker.api.v1.test_files import add, deliver, file_message
from tracker.queries.run.files import every_file

pytestmark = pytest.mark.django_db

PICTURE = to_png(bytes(12), width=2, height=2, channels=3)


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path


@pytest.fixture
def run(member):
    return make_run(make_project(member), state="finished")


@pytest.fixture
def read(client_of, member, run):
    client = client_of(member)

    def read(what="", status=200, **query):
        response = client.get(f"/runs/{run.id}/files{what}", query)
        assert response.status_code == status
        return response

    return read


def text(response):
    return response.content.decode()


def test_an_empty_run_says_how_to_store_a_file(read):
    page = text(read())

    assert "No files yet" in page
    assert "upload_files" in page


def test_files_are_a_tree_with_sizes(read, run):
    add(run, "model/best", bytes(2_048))
    write(run, [file_message("model/last", b"x")])

    page = text(read())

    assert "model/" in page
    assert "2 KiB" in page
    assert "uploading" in page
    assert "2 files" in page
    assert "1 uploading" in page


def test_a_search_finds_parts_of_paths(read, run):
    add(run, "model/best", b"1")
    add(run, "other/thing", b"2")

    page = text(read(search="BEST"))

    assert "model/best" in page
    assert "other/thing" not in page


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.png", PICTURE, "2 × 2 pixels"),
        ("a.csv", b"class,recall\nseven,0.9\n", "<td>seven</td>"),
        (
            "a.txt",
            b"<script>alert(1)</script>",
            "&lt;script&gt;alert(1)&lt;/script&gt;",
        ),
        ("a.json", b'{"lr":0.1}', "&quot;lr&quot;: 0.1"),
        ("a.plotly.json", b'{"data":[]}', 'data-behaviour="file-figure"'),
        ("a.bin", b"\0\1\2", "No preview available"),
        ("a.svg", b"<svg onload='alert(1)'/>", "&lt;svg onload"),
    ],
)
def test_a_preview_shows_what_is_in_it(read, run, name, content, expected):
    add(run, "x", content, name=name)

    for page in (read("/preview", path="x"), read(path="x")):
        assert expected in text(page)
        assert "<script>alert" not in text(page)


def test_a_picture_is_shown_as_what_it_is(read, run):
    add(run, "x", PICTURE, name="x.html", kind="text/html")

    response = read("/picture", path="x")

    assert response["Content-Type"] == "image/png"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"].startswith("sandbox")
    assert response.content == PICTURE


@pytest.mark.parametrize(
    "content", [b"<svg onload='alert(1)'/>", b"<html>", PICTURE[:16] + b"\xff" * 30]
)
def test_nothing_else_is_shown_as_a_picture(read, run, content):
    add(run, "x", content, name="x.png", kind="image/png")

    read("/picture", status=404, path="x")


def test_a_gallery_shows_pictures_alone(read, run):
    add(run, "samples/one", PICTURE, name="one.png", kind="image/png")
    add(run, "samples/evil", b"<svg/>", name="evil.svg", kind="image/svg+xml")
    add(run, "model/best", b"weights")

    page = text(read(view="gallery"))

    assert page.count("<img") == 1
    assert "samples/one" in page


def test_a_figure_is_answered_as_what_may_be_drawn(read, run):
    content = {"data": [{"type": "bar", "y": [1]}], "layout": {}, "config": {"x": 1}}
    add(run, "x", json.dumps(content).encode(), name="x.plotly.json")

    answer = read("/figure", path="x").json()

    assert set(answer["figure"]) == {"data", "layout"}


def test_a_figure_is_saved_as_a_page_of_its_own(read, run):
    content = {"data": [{"type": "bar", "y": [1]}], "layout": {}}
    add(run, "x/cur<ves", json.dumps(content).encode(), name="x.plotly.json")
    add(run, "y", b"{}", name="y.plotly.json")

    answer = read("/html", path="x/cur<ves")

    assert answer["Content-Disposition"] == 'attachment; filename="cur<ves.html"'
    assert "sandbox;" in answer["Content-Security-Policy"]
    assert "<title>x/cur&lt;ves</title>" in answer.content.decode()
    read("/html", status=400, path="y")


def test_the_attributes_name_files(read, run, client_of, member):
    add(run, "model/best", b"weights", name="best.pt")

    page = client_of(member).get(f"/runs/{run.id}/attributes").content.decode()

    assert "best.pt, 7 B" in page
    assert "?path=model/best" in page or "?path=model%2Fbest" in page


def test_what_belongs_to_others_does_not_exist(client_of, stranger, run):
    add(run, "x", PICTURE)
    client = client_of(stranger)

    for what in (
        "",
        "/preview?path=x",
        "/picture?path=x",
        "/figure?path=x",
        "/html?path=x",
    ):
        assert client.get(f"/runs/{run.id}/files{what}").status_code == 404


def test_a_path_that_is_none_is_not_found(read):
    for path in ("nothing", "\0", ""):
        read("/preview", status=404, path=path)


def test_a_digest_that_is_none_is_not_found(read, run):
    add(run, "x", PICTURE)

    read("/picture", path="x", digest="")
    read("/picture", status=404, path="x", digest="0" * 64)
    read("/picture", status=404, path="x", digest="a\0b")


def image_value(content):
    digest = hashlib.sha256(content).digest()
    return digest + struct.pack("<Q", len(content)) + b"image/png"


def test_pictures_of_a_series_are_kept_and_shown_step_by_step(read, run):
    contents = [to_png(bytes([n]), width=1, height=1, channels=1) for n in (1, 2)]
    values = [image_value(content) for content in contents]
    write(run, [records_message("samples", values, kind="image")])
    for content in contents:
        deliver(run, content)

    page = text(read(path="samples"))

    assert 'data-behaviour="image-steps"' in page
    assert all(hashlib.sha256(content).hexdigest() in page for content in contents)
    assert [row.name for row in every_file(run)] == ["samples-0.png", "samples-1.png"]
    assert text(read(view="gallery")).count("<img") == 2


@pytest.mark.parametrize("value", [b"", b"x" * 40, b"x" * 40 + b"text/html"])
def test_a_record_that_names_no_picture_is_refused(run, value):
    process = Process(run.project, run.name)
    process.open()

    receipt = process.send([records_message("samples", [value], kind="image")])

    assert [refusal.code for refusal in receipt.refused] == ["invalid_message"]
    assert not [*every_file(run)]

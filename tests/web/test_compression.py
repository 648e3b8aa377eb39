"""Compression of answers where it saves bytes, without changing them."""

from __future__ import annotations

import gzip
from http import HTTPStatus

import pytest
import zstandard
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from tests.builders import make_project, make_run
from web.compression import MIN_BYTES, Compression, accepted_encoding

TEXT = b"one and the same, " * 200


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "gzip"),
        ("GZIP;q=0.5", "gzip"),
        ("zstd;q=0, gzip", "gzip"),
        ("zstd; q=0.0", ""),
        ("gzip;q=nothing", ""),
        ("br", ""),
        ("identity", ""),
        ("", ""),
        (";;,=,", ""),
    ],
)
def test_what_is_accepted_decides(accepted, encoding):
    assert accepted_encoding(accepted) == encoding


def answered(response, accepted="zstd"):
    request = HttpRequest()
    request.META["HTTP_ACCEPT_ENCODING"] = accepted
    return Compression(lambda _: response)(request)


def test_text_is_compressed_and_its_tag_is_weak():
    made = HttpResponse(TEXT, headers={"ETag": '"a"', "Content-Length": len(TEXT)})

    answer = answered(made)

    assert zstandard.decompress(answer.content) == TEXT
    assert answer["Content-Encoding"] == "zstd"
    assert int(answer["Content-Length"]) == len(answer.content) < len(TEXT) / 10
    assert answer["ETag"] == 'W/"a"'
    assert answer["Vary"] == "Accept-Encoding"


def test_whoever_takes_nothing_gets_what_was_made_and_caches_know():
    answer = answered(HttpResponse(TEXT, headers={"ETag": '"a"'}), "identity")

    assert answer.content == TEXT
    assert "Content-Encoding" not in answer
    assert (answer["ETag"], answer["Vary"]) == ('"a"', "Accept-Encoding")


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(HttpResponse(b"a" * (MIN_BYTES - 1)), id="small"),
        pytest.param(HttpResponse(TEXT, content_type="image/png"), id="no text"),
        pytest.param(
            HttpResponse(TEXT, headers={"Content-Encoding": "br"}), id="compressed"
        ),
        pytest.param(HttpResponse(status=HTTPStatus.NOT_MODIFIED), id="not modified"),
    ],
)
def test_what_would_save_nothing_stays_as_it_is(made):
    before = made.content, dict(made.items())

    answer = answered(made)

    assert (answer.content, dict(answer.items())) == before


def test_what_is_streamed_goes_as_it_is_made():
    answer = answered(StreamingHttpResponse([TEXT, TEXT]))

    assert list(answer.streaming_content) == [TEXT, TEXT]


@pytest.mark.django_db
def test_pages_and_rows_are_compressed_and_known_again(member, client_of):
    project = make_project(member)
    for number in range(20):
        make_run(project, f"run-{number}")
    address = f"/w/{project.workspace.slug}/{project.slug}/"
    browser = client_of(member)

    page = browser.get(address, headers={"Accept-Encoding": "gzip"})
    rows = browser.get(f"{address}runs.json", headers={"Accept-Encoding": "zstd"})
    again = browser.get(
        f"{address}runs.json",
        headers={"Accept-Encoding": "zstd", "If-None-Match": rows["ETag"]},
    )

    assert gzip.decompress(page.content).startswith(b"<!doctype html>")
    assert "Cookie" in page["Vary"]
    assert b"run-19" in zstandard.decompress(rows.content)
    assert rows["ETag"].startswith("W/")
    assert again.status_code == HTTPStatus.NOT_MODIFIED

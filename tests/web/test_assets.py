"""Responses for scripts and styles."""

from __future__ import annotations

import gzip

import brotli
import pytest
from django.templatetags.static import static
from django.test import Client

from web.assets import pack_ahead, version

pytestmark = pytest.mark.django_db

SCRIPT = "/static/web/js/main.js"


def body_of(client, path, accepted):
    response = client.get(path, headers={"accept-encoding": accepted})
    assert response.status_code == 200
    # Read to its end, it closes itself.
    content = b"".join(response)
    return response.get("Content-Encoding", ""), content


@pytest.fixture
def client(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    return Client()


@pytest.mark.parametrize(
    ("accepted", "encoding", "unpack"),
    [("br", "br", brotli.decompress), ("gzip", "gzip", gzip.decompress)],
)
@pytest.mark.parametrize(
    "path", [SCRIPT, "/static/web/css/base.css", "/static/web/icons.svg"]
)
def test_texts_are_sent_compressed(client, path, accepted, encoding, unpack):
    _, plain = body_of(client, path, "identity")
    said, packed = body_of(client, path, accepted)

    assert said == encoding
    assert unpack(packed) == plain
    assert len(packed) < len(plain) / 1.5


def test_they_are_compressed_once_for_each_content(client, tmp_path):
    body_of(client, SCRIPT, "br")
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "assets").iterdir()}

    body_of(Client(), SCRIPT, "br")

    assert made == {
        path: path.stat().st_mtime_ns for path in (tmp_path / "assets").iterdir()
    }
    assert all(path.suffix in (".br", ".gz") for path in made)


def test_a_server_packs_what_pages_name_before_anybody_asks(client, tmp_path):
    pack_ahead()
    made = set((tmp_path / "assets").iterdir())

    for path in ("web/js/main.js", "web/css/all.css", "django_htmx/htmx-4.min.js"):
        assert body_of(client, f"/static/{path}", "br")[0] == "br"

    assert made == set((tmp_path / "assets").iterdir())


def test_what_is_packed_already_is_left(client):
    encoding, _ = body_of(
        client, "/static/web/fonts/inter-latin-wght-normal.woff2", "br"
    )

    assert encoding == ""


def test_a_browser_that_has_it_gets_nothing_again(client):
    first = client.get(SCRIPT)
    assert b"".join(first)

    again = client.get(SCRIPT, headers={"if-modified-since": first["Last-Modified"]})

    assert again.status_code == 304


def test_addresses_with_the_version_are_kept_for_good(client):
    address = static("web/js/main.js")
    response = client.get(address)

    assert address == f"/static/{version()}/web/js/main.js"
    assert "immutable" in response["Cache-Control"]
    assert b"".join(response) == b"".join(client.get(SCRIPT))


@pytest.mark.parametrize("named", ["/0123456789ab", ""])
def test_other_versions_get_what_is_there_now_and_ask_again_soon(client, named):
    response = client.get(f"/static{named}/web/js/main.js")

    assert response.status_code == 200
    assert "immutable" not in response["Cache-Control"]


def test_no_version_makes_up_files(client):
    for path in ("web/nothing.js", "../manage.py", f"{version()}/web/js/main.js"):
        response = client.get(f"/static/{version()}/{path}")

        assert response.status_code == 404
        assert "immutable" not in response.get("Cache-Control", "")

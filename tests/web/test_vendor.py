"""Third-party files equal their published release and load nothing remote."""

import gzip
import hashlib
import re
from pathlib import Path

import brotli
import pytest

import web

WEB = Path(web.__file__).parent
VENDOR = WEB / "static" / "vendor"
ROWS = re.findall(
    r"^\| (\S+) \| .+ \| (\S+) \| .+ \| ([0-9a-f]{64}) \|$",
    (VENDOR / "VERSIONS.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
OURS = sorted(
    path
    for path in WEB.rglob("*")
    if path.suffix in {".js", ".css", ".html"} and VENDOR not in path.parents
)
# Attributes, imports and CSS url() that make a browser fetch.
REMOTE_LOAD = re.compile(
    r"""(?:src|href|action|import|from|fetch\(|url\()\s*[=(]?\s*["']?(?:https?:)?//""",
    re.IGNORECASE,
)


def test_every_file_is_listed():
    files = {path.name for path in VENDOR.iterdir()} - {"VERSIONS.md"}
    listed = {name for name, _, _ in ROWS}

    assert files == listed | {
        f"{name}{ending}"
        for name in listed
        if name.endswith(".js")
        for ending in (".br", ".gz")
    }


@pytest.mark.parametrize(("name", "version", "digest"), ROWS)
def test_a_file_has_the_checksum_it_was_released_with(name, version, digest):
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest
    assert version


@pytest.mark.parametrize(
    ("ending", "decompress"), [(".br", brotli.decompress), (".gz", gzip.decompress)]
)
def test_a_compressed_twin_holds_the_same_bytes(ending, decompress):
    twins = list(VENDOR.glob(f"*{ending}"))

    assert twins
    for twin in twins:
        original = twin.with_name(twin.name.removesuffix(ending))
        assert decompress(twin.read_bytes()) == original.read_bytes()


@pytest.mark.django_db
@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_browsers_are_sent_the_compressed_twin(client, encoding):
    response = client.get(
        "/static/vendor/plotly-cartesian-4.1.1.min.js",
        headers={"accept-encoding": encoding},
    )

    assert response.status_code == 200
    assert response.headers["Content-Encoding"] == encoding
    response.close()


def test_pages_that_begin_with_charts_name_the_plotly_that_charts_load():
    loaded = (WEB / "static/web/js/charts/plotly.js").read_text(encoding="utf-8")
    first = WEB / "templates/components/first_figures.html"
    named = first.read_text(encoding="utf-8")
    [file] = re.findall(r"vendor/(plotly-[\w.-]+)\"", loaded)

    assert f"{{% static 'vendor/{file}' %}}" in named


def test_no_page_loads_from_a_foreign_host():
    assert OURS
    remote = [path for path in OURS if REMOTE_LOAD.search(path.read_text("utf-8"))]

    assert remote == []

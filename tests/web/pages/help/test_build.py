"""docs/ becomes a site that needs no other host and no inline script or style."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from web.pages.help import build
from web.pages.help.build import (
    DOCS,
    ROOT,
    with_links,
    with_shadow_sheet,
    without_inline,
)

NAVIGATION = re.findall(r": ([\w/-]+\.md)$", (DOCS / build.CONFIG).read_text(), re.M)
# Found on the page that lists them.
LISTED = ("decisions", "diagnoses")
FOREIGN = re.compile(r'(?:src|action)="(?:https?:)?//|<link [^>]*href="(?:https?:)?//')


def test_the_navigation_names_every_page():
    pages = {
        str(page.relative_to(DOCS))
        for page in DOCS.rglob("*.md")
        if page.parent.name not in LISTED or page.name == "index.md"
    }

    assert set(NAVIGATION) == pages | {*build.ROOT_PAGES.values()}
    assert len(NAVIGATION) == len(set(NAVIGATION))


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("charts.md#read", "charts.md#read"),
        ("../../ARCHITECTURE.md", "../architecture.md"),
        ("../../deploy/Caddyfile", "../files/deploy/Caddyfile"),
        ("https://example.org/a.md", "https://example.org/a.md"),
        ("#read", "#read"),
        ("nothing.md", "nothing.md"),
    ],
)
def test_links_lead_to_copies(tmp_path, link, expected):
    copy = tmp_path / "how-to/page.md"

    text = with_links(f"[a]({link})", copy, DOCS / "how-to/charts.md", tmp_path)

    assert text == f"[a]({expected})"
    if "deploy" in expected:
        copied = (tmp_path / "files/deploy/Caddyfile").read_bytes()
        assert copied == (ROOT / "deploy/Caddyfile").read_bytes()


def test_links_of_root_pages_lead_to_copies(tmp_path):
    copy = tmp_path / "contributing.md"

    text = with_links("[a](docs/glossary.md)", copy, ROOT / "CONTRIBUTING.md", tmp_path)

    assert text == "[a](glossary.md)"


def test_inline_scripts_become_files(tmp_path):
    html = without_inline("<script>go()</script>", tmp_path / "page", tmp_path)

    (script,) = tmp_path.glob("*.js")
    assert script.read_text() == "go()"
    assert html == f'<script src="../{script.name}"></script>'


def test_scripts_with_data_stay(tmp_path):
    data = '<script id="__config" type="application/json">{}</script>'

    assert without_inline(data, tmp_path, tmp_path) == data


def test_alignment_becomes_a_class(tmp_path):
    html = without_inline('<td style="text-align: right;">1</td>', tmp_path, tmp_path)

    assert html == '<td class="align-right">1</td>'


@pytest.mark.parametrize(
    "html", ["<style>a{}</style>", '<p style="color: red">a</p>', "<a\nstyle='x'>"]
)
def test_other_inline_styles_are_an_error(tmp_path, html):
    with pytest.raises(ValueError, match="inline style"):
        without_inline(html, tmp_path, tmp_path)


def test_the_search_has_its_style_as_an_object():
    script = 'let o=n.attachShadow({});o.appendChild(C("style",{},Tc.toString()));try{}'

    changed = with_shadow_sheet(script)

    assert "style" not in changed.replace("adoptedStyleSheets", "")
    assert "o.adoptedStyleSheets[0].replaceSync(Tc.toString());try{}" in changed


def test_another_bundle_is_an_error():
    with pytest.raises(ValueError, match="0 style elements"):
        with_shadow_sheet("let o=1")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("zensical") is None, reason="zensical is not installed")
def test_the_site_is_built_and_needs_no_other_host(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "SITE", tmp_path / "help")

    assert build.main() == 0

    pages = {page: page.read_text() for page in tmp_path.rglob("*.html")}
    assert len(pages) >= len(NAVIGATION)
    assert not [page for page, html in pages.items() if FOREIGN.search(html)]
    sdk = (tmp_path / "help/sdk/index.html").read_text()
    assert "seamark.Run.log" in sdk

"""Style sheets that browsers get as one."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from web.styles import FOLDER, JOINED

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    return Client()


@pytest.mark.parametrize("name", JOINED)
def test_a_joined_sheet_holds_all_its_parts_in_order(client, name):
    response = client.get(f"/static/{FOLDER}/{name}")

    assert response["Content-Type"].startswith("text/css")
    sent = b"".join(response).decode()
    at = 0
    for sheet in JOINED[name]:
        path = Path(finders.find(f"{FOLDER}/{sheet}"))
        at = sent.index(path.read_text(encoding="utf-8"), at)


@pytest.mark.parametrize("name", JOINED)
def test_what_a_joined_sheet_names_is_where_it_says(client, name):
    sent = b"".join(client.get(f"/static/{FOLDER}/{name}")).decode()

    for address in re.findall(r'url\("([^"#]+)"\)', sent):
        assert finders.find(posixpath.normpath(posixpath.join(FOLDER, address)))
    assert "@import" not in sent


def test_pages_of_a_run_limit_the_size_of_pictures(client):
    sent = b"".join(client.get(f"/static/{FOLDER}/all-of-run.css")).decode()

    assert re.search(r"\.gallery__card > img \{[^}]*height: 170px", sent)


def test_no_other_sheet_is_made_up(client):
    assert finders.find(f"{FOLDER}/none.css") is None
    assert finders.find("all.css") is None
    assert client.get(f"/static/{FOLDER}/none.css").status_code == 404


def test_a_page_asks_for_it_alone(client):
    page = client.get("/sign-in").content.decode()

    sheets = re.findall(r'rel="stylesheet" href="[^"]+/css/([^"]+)"', page)
    assert sheets == ["all.css", "components/print.css"]


def test_pages_have_two_widths():
    """Content does not jump when a user goes from one page to the next."""
    folder = Path(finders.find(FOLDER))
    templates = folder.parents[2] / "templates"
    sheets = "\n".join(path.read_text() for path in folder.rglob("*.css"))
    pages = "\n".join(path.read_text() for path in templates.rglob("*.html"))
    names = set(" ".join(re.findall(r'class="(page [\w -]*)', pages)).split())

    widths = {
        width
        for name in {"page", *names}
        for width in re.findall(
            rf"^  \.{name} {{[^}}]*max-width: ([^;}} ]+)", sheets, re.M
        )
    }
    assert widths == {"1680px", "760px", "none"}


def test_spacing_uses_the_token_of_its_value():
    folder = Path("web/static/web/css")
    sheet = (folder / "tokens.css").read_text(encoding="utf-8")
    spaces = re.findall(r"--space-\w+: (\d+px)", sheet)
    radii = re.findall(r"--radius[\w-]*: (\d+px)", sheet)
    found = []
    for path in sorted(folder.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        for name, value in re.findall(
            r"(?<![\w-])((?:margin|padding)[\w-]*|(?:row-|column-)?gap|border-radius)"
            r"\s*:\s*([^;{}]+)",
            text,
        ):
            raw = re.findall(r"(?<![\w.-])\d+px", value)
            known = radii if name == "border-radius" else spaces
            found += [f"{path.name} {name}: {value}" for each in raw if each in known]

    assert spaces
    assert found == []

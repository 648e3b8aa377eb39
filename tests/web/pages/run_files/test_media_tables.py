"""Tables of a run's media: sorting, filtering, paging, images, CSV."""

from __future__ import annotations

import json
import re

import pytest

from tests.builders import make_project, make_run
from tests.tracker.api.v1.test_files import add
from tests.web.pages.run_files.test_media import HOSTILE, digest, write_media
from web.pages.run_files.tables import MAX_ROWS, page_of, read_table

pytestmark = [pytest.mark.django_db, pytest.mark.database]

KIND = "application/vnd.seamark.table+json"
IMAGE = "data:image/png;base64,iVBORw0KGgo="


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
        response = client.get(f"/runs/{run.id}/media/table{what}", query)
        assert response.status_code == status
        return response

    return read


def table(columns, rows, **more):
    return json.dumps({"columns": columns, "rows": rows, **more}).encode()


def store(run, *args, **more):
    content = table(*args, **more)
    add(run, "x", content, name="x.table.json", kind=KIND)


def texts(content, column=0, **options):
    return [row[column].text for row in page_of(read_table(content), **options).rows]


def cells(response):
    return re.findall(r"<td[^>]*>(.*?)</td>", response.content.decode())


MIXED = table(["a"], [["b"], [10], [None], [9.5], ["NaN"], ["a"], [True]])


def test_numbers_come_before_texts_and_missing_values_last():
    ascending = ["9.5", "10", "a", "b", "NaN", "true", ""]

    assert texts(MIXED, sort=0) == ascending
    assert texts(MIXED, sort=0, is_descending=True) == [
        *("10", "9.5", "true", "NaN", "b", "a", "")
    ]
    assert texts(MIXED, sort=7) == texts(MIXED)


def test_the_filter_finds_text_in_any_column():
    content = table(["a", "b"], [["Cat", 1], ["dog", 2], ["bird", "CAT"]])

    assert texts(content, text="cat") == ["Cat", "bird"]


def test_pages_have_25_rows():
    content = read_table(table(["a"], [[row] for row in range(60)]))

    last = page_of(content, page=99)

    assert (last.first, last.last, last.count, last.pages) == (51, 60, 60, 3)
    assert len(page_of(content).rows) == 25


INVALID = {
    "nothing": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "no rows": b'{"columns": []}',
    "rows of numbers": b'{"columns": ["a"], "rows": [1]}',
    "columns of a number": b'{"columns": 1, "rows": []}',
    "deep": b'{"columns": ' + b"[" * 100_000,
    "a huge integer": b'{"columns": ["a"], "rows": [[' + b"1" * 10_000 + b"]]}",
}


@pytest.mark.parametrize("content", INVALID.values(), ids=INVALID)
def test_other_contents_are_no_tables(content):
    assert read_table(content) is None


def test_rows_are_as_long_as_the_columns():
    found = read_table(table(["a", "b"], [[1], [1, 2, 3]]))

    assert [[cell.text for cell in row] for row in found.rows] == [
        ["1", ""],
        ["1", "2"],
    ]


def test_a_page_shows_rows_as_text_and_images(read, run):
    store(run, ["label", "image"], [[HOSTILE, {"image": IMAGE}]])

    page = read(path="x")

    assert cells(page)[0] == "&lt;img src=x onerror=alert(1)&gt;&quot;&#x27;&amp;"
    assert f'src="{IMAGE.replace("+", "&#x2B;")}"' in cells(page)[1]


@pytest.mark.parametrize(
    "image",
    ["javascript:alert(1)", "data:text/html;base64,AAAA", "https://a.example/x"],
)
def test_other_addresses_are_no_images(read, run, image):
    store(run, ["image"], [[{"image": image}]])

    assert "<img" not in cells(read(path="x"))[0]


def test_the_page_sorts_filters_and_names_the_number_of_rows(read, run):
    store(run, ["id"], [[row] for row in range(30)], count=MAX_ROWS * 3)

    page = read(path="x", text="2", sort="0", order="descending").content.decode()

    assert re.findall(r'<td class="mono">(\d+)<', page)[:3] == ["29", "28", "27"]
    assert "12 of 30 rows; 30,000 in the original table" in page
    assert 'aria-sort="descending"' in page


def test_a_series_has_a_table_for_each_step(read, run, client_of, member):
    contents = [table(["a"], [["first"]]), table(["a"], [["second"]])]
    write_media(run, "s", contents, steps=[0, 1], kind="file", media_type=KIND)

    panel = client_of(member).get(f"/runs/{run.id}/media/panel?path=s&step=0")

    assert f"digest={digest(contents[0])}" in panel.content.decode()
    assert "first" in cells(read(path="s", digest=digest(contents[0])))


def test_the_csv_has_all_rows_in_full_precision(read, run):
    rows = [[1 / 3, "=1+1"], ["NaN", {"image": IMAGE}]]
    store(run, ["value", "text"], rows)

    lines = b"".join(read(".csv", path="x")).decode().splitlines()

    assert lines[0] == "value,text"
    assert lines[1] == "0.3333333333333333,'=1+1"
    assert lines[2].endswith(",(image)")


def test_a_file_that_is_no_table_is_not_found(read, run):
    add(run, "y", b"text", name="y.txt", kind="text/plain")

    read(path="y", status=404)
    read(".csv", path="y", status=404)
    read(path="absent", status=404)

"""A run's attributes as a tree."""

import csv
import io
import re
from html import unescape

import pytest

from tests.builders import make_project, make_run, write_series, write_values
from tests.web.sample_run import settle
from web.pages.run_files import attribute_tree
from web.pages.run_files import attributes as run_attributes
from web.pages.run_files.attribute_tree import OPEN_AT_MOST

MANY = OPEN_AT_MOST + 1


@pytest.fixture
def run(member):
    run = make_run(make_project(member), state="finished")
    write_values(
        run,
        {
            "params/model/depth": 18,
            "params/seed": 7,
            "note": "A Try",
            **{f"layers/{number:02}/width": number for number in range(MANY)},
        },
    )
    write_series(run, "train/loss", [3.0, 1.0, 2.0])
    settle(run)
    return run


@pytest.fixture
def attributes(client_of, member, run):
    client = client_of(member)

    def read(query="", **headers):
        response = client.get(f"/runs/{run.id}/attributes{query}", headers=headers)
        assert response.status_code == 200
        return response.content.decode()

    return read


def shown_names(text):
    return re.findall(r'<th scope="row"><a [^>]*><span class="mono wrap">(.*?)</', text)


@pytest.mark.django_db
class TestTree:
    def test_shows_the_first_level_and_what_is_small(self, attributes):
        text = attributes()

        assert "params/</span>" in text
        assert shown_names(text) == ["depth", "seed", "loss", "note"]
        assert "A Try" in text

    def test_a_large_branch_is_fetched_when_it_opens(self, attributes):
        assert "width" not in shown_names(attributes())
        text = attributes("?prefix=layers/", **{"HX-Request": "true"})

        assert "00/</span>" in text
        assert "width" in shown_names(text)
        assert "<html" not in text

    def test_a_page_asks_for_nothing_that_it_could_have_held(self, attributes):
        text = attributes()

        main = text[text.index('<main id="main"') :]
        assert main.count("hx-get") == len(["the search", "layers/", "Share"])
        assert 'hx-trigger="load' not in main

    def test_a_series_shows_its_summary(self, attributes):
        text = attributes("?prefix=train/")

        assert "3 points" in text
        assert "last 2" in text
        assert "(1 to 3)" in text

    def test_a_search_finds_whole_paths_and_texts(self, attributes):
        assert "params/model/depth" in attributes("?search=DEPTH")
        assert ">note<" in attributes("?search=a+try")
        assert "No matching attributes" in attributes("?search=%00")

    def test_a_search_in_a_branch_stays_there(self, attributes):
        text = attributes("?search=d&prefix=params/")

        assert shown_names(text) == ["params/model/depth", "params/seed"]

    @pytest.mark.parametrize("prefix", ["%00", "a%00b"])
    def test_a_prefix_that_no_database_can_hold_is_ignored(self, attributes, prefix):
        assert "params/</span>" in attributes(f"?prefix={prefix}")

    def test_a_branch_alone_says_where_it_is(self, attributes, run):
        text = attributes("?prefix=params/model/")

        trail = text.partition("tree__trail")[2].partition("</nav>")[0]
        assert re.findall(r'href="(.*?)"', trail) == [
            f"/runs/{run.id}/attributes",
            f"/runs/{run.id}/attributes?prefix=params%2F",
            f"/runs/{run.id}/attributes?prefix=params%2Fmodel%2F",
        ]
        assert shown_names(text) == ["depth"]
        assert "tree__trail" not in attributes()

    @pytest.mark.parametrize(
        "query", ["?prefix=layers/00/", "?search=width", "?prefix="]
    )
    def test_links_lead_through_more_than_a_page_can_hold(
        self, attributes, run, monkeypatch, query
    ):
        write_values(run, {f"layers/00/{name}": 1 for name in "abc"})
        whole = shown_names(attributes(query))
        # The real limit would need hundreds of attributes.
        monkeypatch.setattr(attribute_tree, "MAX_SHOWN", 2)
        shown = []
        while query:
            text = attributes(query)
            shown += shown_names(text)
            link = re.search(r'<a class="tree__more" href="[^"]*(\?[^"]*)" hx', text)
            query = unescape(link[1]) if link else ""

        # With so little space, none of several small branches is open.
        assert shown == [name for name in whole if name in shown]
        assert shown[-1] == whole[-1]


def test_a_run_without_attributes_says_how_to_log_one(client_of, member):
    run = make_run(make_project(member, "bare"))

    text = client_of(member).get(f"/runs/{run.id}/attributes").content.decode()

    assert "No attributes yet" in text
    assert "batch_size" in text


@pytest.mark.django_db
class TestOne:
    def test_one_attribute_has_an_address_of_its_own(self, attributes):
        text = attributes("?path=params/model/depth")

        assert shown_names(text) == ["params/model/depth"]
        assert "?prefix=params%2Fmodel%2F" in text
        assert "?path=params%2Fmodel%2Fdepth" in attributes("?prefix=params/model/")

    @pytest.mark.parametrize("path", ["no/such", "note/", "a%00b", "/"])
    def test_one_that_is_not_there_is_said_to_be_missing(self, attributes, path):
        assert "Attribute not found" in attributes(f"?path={path}")

    def test_values_are_copied_with_all_of_their_digits(self, attributes, run):
        write_values(run, {"third": 1 / 3, "long": "x" * 5_000})

        text = attributes()

        assert f'data-copy-text="{1 / 3}"' in text
        assert f'data-copy-text="{"x" * 5_000}"' not in text


@pytest.mark.django_db
class TestTable:
    @pytest.fixture
    def table(self, client_of, member, run):
        def read(query=""):
            address = f"/runs/{run.id}/attributes.csv{query}"
            response = client_of(member).get(address)
            assert response.headers["Content-Type"].startswith("text/csv")
            text = response.getvalue().decode()
            return list(csv.DictReader(io.StringIO(text, newline="")))

        return read

    def test_every_attribute_is_a_row(self, table):
        rows = {row["path"]: row for row in table()}

        assert rows["note"]["value"] == "A Try"
        assert (rows["train/loss"]["count"], rows["train/loss"]["maximum"]) == (
            "3",
            "3.0",
        )
        assert len(rows) == MANY + 4

    def test_a_namespace_alone_can_be_had(self, table):
        assert [row["path"] for row in table("?prefix=params/")] == [
            "params/model/depth",
            "params/seed",
        ]

    def test_no_text_is_a_formula(self, table, run):
        write_values(run, {"=note": "=HYPERLINK()"})

        rows = {row["path"]: row["value"] for row in table()}

        assert rows["'=note"] == "'=HYPERLINK()"

    def test_very_many_are_read_part_by_part(self, table, monkeypatch):
        monkeypatch.setattr(run_attributes, "AT_ONCE", 2)

        paths = [row["path"] for row in table()]

        assert paths == sorted(paths)
        assert len(paths) == MANY + 4

    def test_a_stranger_gets_nothing(self, client_of, stranger, run):
        address = f"/runs/{run.id}/attributes.csv"

        assert client_of(stranger).get(address).status_code == 404


@pytest.mark.django_db
def test_a_series_that_several_ranks_write_says_so(attributes, run):
    assert "in parallel" not in attributes()
    for rank in (0, 1):
        write_series(run, "shared/loss", [1.0, 2.0], rank=rank)
    settle(run)

    assert "logged by ranks 0 and 1 in parallel" in attributes("?prefix=shared/")
    assert "Logged by" in attributes("?path=shared/loss")

"""A run's attributes as a tree."""

import pytest

from tests.builders import make_project, make_run, write_series, write_values
from tests.web.sample_run import settle
from web.views import run_attributes


@pytest.fixture
def run(member):
    run = make_run(make_project(member))
    write_values(run, {"params/model/depth": 18, "params/seed": 7, "note": "A Try"})
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


@pytest.mark.django_db
@pytest.mark.database
class TestTree:
    def test_shows_the_first_level_only(self, attributes):
        text = attributes()

        assert "params/</span>" in text
        assert "A Try" in text
        assert "seed" not in text

    def test_a_branch_is_fetched_when_it_opens(self, attributes):
        text = attributes("?prefix=params/", **{"HX-Request": "true"})

        assert "model/</span>" in text
        assert ">seed<" in text
        assert "depth" not in text
        assert "<html" not in text

    def test_a_series_shows_its_summary(self, attributes):
        text = attributes("?prefix=train/")

        assert "3 points" in text
        assert "last 2" in text
        assert "(1 to 3)" in text

    def test_a_search_finds_whole_paths_and_texts(self, attributes):
        assert "params/model/depth" in attributes("?search=DEPTH")
        assert ">note<" in attributes("?search=a+try")
        assert "No attribute matches" in attributes("?search=%00")

    def test_a_prefix_that_no_database_can_hold_is_ignored(self, attributes):
        assert "params/</span>" in attributes("?prefix=%00")

    def test_never_shows_more_than_a_page_can_hold(self, attributes, monkeypatch):
        # The real limit would need hundreds of attributes.
        monkeypatch.setattr(run_attributes, "MOST_SHOWN", 1)

        assert "more: search for part of a path" in attributes("?search=params")
